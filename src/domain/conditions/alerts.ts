import { mkdirSync, writeFileSync } from 'node:fs'
import { stringify } from 'yaml'
import type { ConditionRule, ConditionSeverity } from './condition.ts'
import { conditionRules } from './conditions.ts'

/**
 * Writes the table of conditions as rules for Prometheus (ops/alerts.yaml) and as a guide (docs/alerts.md). As a
 * program it rewrites both: `npm run codegen`.
 */

const guidePath = 'docs/alerts.md'

const severities: readonly ConditionSeverity[] = ['PAGE', 'TICKET', 'INFO']

const sortedRules = (): [string, ConditionRule][] =>
  severities.flatMap((severity) => [...conditionRules].filter(([, rule]) => rule.severity === severity))

/** NO_LEADER → BerthNoLeader */
export const nameAlert = (condition: string): string =>
  `Berth${condition
    .toLowerCase()
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}`

/** `for` is 0: a condition begins only when its evidence has lasted long enough. */
const describeAlert = ([name, { severity, meaning, cause, remedy }]: [string, ConditionRule]) => ({
  alert: nameAlert(name),
  expr: `max without (instance) (berth_condition{condition="${name}"}) == 1`,
  labels: { severity: severity.toLowerCase() },
  annotations: {
    summary: meaning,
    description: `Cause: ${cause} What to do: ${remedy} "berth doctor" shows the evidence.`,
    runbook_url: `${guidePath}#${name.toLowerCase()}`,
  },
})

const missingAlert = {
  alert: 'BerthMetricsMissing',
  expr: 'absent(berth_condition)',
  for: '1m',
  labels: { severity: 'page' },
  annotations: {
    summary: 'Prometheus gets no conditions of Berth: its servers or their database may be down.',
    description:
      'Cause: no server runs, none reaches the database, or the scrape fails. What to do: run "berth doctor".',
    runbook_url: `${guidePath}#without-metrics`,
  },
}

const rulesPreface = `# Alerts for Prometheus, generated from the table of conditions: \`npm run codegen\`. Do not edit.
# A runbook_url is relative to the documentation of your version of Berth; to make it absolute:
#   sed 's|runbook_url: |&https://wiki.example.org/berth/|' alerts.yaml
`

export function formatAlertRules(): string {
  const rules = [...sortedRules().map(describeAlert), missingAlert]
  return rulesPreface + stringify({ groups: [{ name: 'berth', rules }] }, { lineWidth: 0 })
}

const guidePreface = `# Alerts

<!-- Generated from the table of conditions: \`npm run codegen\`. Do not edit. -->

All conditions that Berth finds itself, most urgent first. \`berth doctor\` shows those that hold, with their evidence, and
[Running a pool](operating.md#conditions) explains who evaluates them. A word in capitals in a command stands for a name.

* **PAGE**: users are affected now; wake a person.
* **TICKET**: a person should act within days.
* **INFO**: good to know.

With [ops/alerts.yaml](../ops/alerts.yaml) in \`rule_files\`, Prometheus alerts by the metric \`berth_condition{condition="…"}\`, which is 1 while a
condition holds.

`

const guideEnd = `## Without metrics

\`BerthMetricsMissing\`: Prometheus gets no \`berth_condition\`.

**Cause.** No server runs, none reaches the database, or the scrape fails.

**Do.** Run the doctor; without a server it says what is missing. Then look at the target in Prometheus.

\`\`\`sh
berth doctor
systemctl status berth
\`\`\`
`

export const formatAlertsGuide = (): string =>
  `${guidePreface}${sortedRules().map(describeCondition).join('\n')}\n${guideEnd}`

function describeCondition([name, rule]: [string, ConditionRule]): string {
  const { severity, meaning, cause, remedy, commands, forSeconds, everySeconds = 10 } = rule
  const lasts = forSeconds === 0 ? 'begins at the first evaluation with evidence' : `begins after ${forSeconds} s`
  return `## ${name}

${severity}, ${lasts}; evaluated every ${everySeconds} s; alert \`${nameAlert(name)}\`.

**Symptom.** ${meaning}

**Cause.** ${cause}

**Do.** ${remedy}

\`\`\`sh
${commands.join('\n')}
\`\`\`
`
}

if (import.meta.main) {
  const root = new URL('../../../', import.meta.url)
  mkdirSync(new URL('ops', root), { recursive: true })
  writeFileSync(new URL('ops/alerts.yaml', root), formatAlertRules())
  writeFileSync(new URL(guidePath, root), formatAlertsGuide())
}
