import { execFile, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { createProgram } from '../../src/cli/frame/program.ts'
import { formatAlertRules, formatAlertsGuide, nameAlert } from '../../src/domain/conditions/alerts.ts'
import { conditionRules } from '../../src/domain/conditions/conditions.ts'
import { makeDirectory } from '../support/directory.ts'
import { repository, root } from '../support/sources.ts'

const run = promisify(execFile)
const textOf = (path: string) => repository.find((file) => file.path === path)?.text
const rulesPath = join(root, 'ops/alerts.yaml')

test('the generated alert rules and the guide match the table of conditions', () => {
  expect(textOf('ops/alerts.yaml')).toBe(formatAlertRules())
  expect(textOf('docs/alerts.md')).toBe(formatAlertsGuide())
})

test('every condition has sentences and commands for the operator', () => {
  const rows = [...conditionRules]
  expect(rows.filter(([, { meaning }]) => !meaning.endsWith('.'))).toEqual([])
  expect(rows.filter(([, { cause }]) => !cause.endsWith('.'))).toEqual([])
  expect(rows.filter(([, { remedy }]) => !remedy.endsWith('.'))).toEqual([])
  expect(rows.filter(([, { commands }]) => commands.length === 0 || commands.length > 10)).toEqual([])
  expect(rows.filter(([, { sql, gauge, check }]) => !sql && !gauge && !check)).toEqual([])
})

test('the commands of berth in the table of conditions exist', () => {
  const program = createProgram({} as never, () => 'berth')
  const isKnown = (words: readonly string[]) => {
    let command = program
    for (const word of words) {
      if (word.startsWith('-')) return true
      if (/^[A-Z_]+$/.test(word)) continue
      const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
      if (!next) return command.registeredArguments.length > 0
      command = next
    }
    return true
  }
  const written = [...conditionRules.values()].flatMap(({ commands }) => commands)
  const own = written.filter((command) => command.startsWith('berth '))
  expect(own.length).toBeGreaterThan(10)
  expect(own.filter((command) => !isKnown(command.split(' ').slice(1)))).toEqual([])
})

const hasPromtool = spawnSync('promtool', ['--version']).status === 0
if (!hasPromtool) console.warn('SKIPPED: promtool is missing (apt-get install prometheus), so no rule was checked')

test.skipIf(!hasPromtool)('promtool accepts the alert rules', async () => {
  const { stdout } = await run('promtool', ['check', 'rules', rulesPath])
  expect(stdout).toContain(`SUCCESS: ${conditionRules.size + 1} rules found`)
})

test.skipIf(!hasPromtool)('each alert rule fires once for two servers, and only for its condition', async () => {
  const directory = makeDirectory()
  const names = [...conditionRules.keys()]
  const values = (held: string) =>
    names.flatMap((name) =>
      ['a:9090', 'b:9090'].map((instance) => ({
        series: `berth_condition{condition="${name}", instance="${instance}"}`,
        values: name === held ? '1+0x5' : '0+0x5',
      })),
    )
  const alerts = (held: string | null) =>
    [...names.map((name) => [name, nameAlert(name)] as const), [null, 'BerthMetricsMissing'] as const].map(
      ([name, alertname]) => ({ alertname, eval_time: '2m', exp_alerts: name === held ? [expected(name)] : [] }),
    )
  const tests = [
    ...names.map((held) => ({ interval: '1m', input_series: values(held), alert_rule_test: alerts(held) })),
    { interval: '1m', input_series: [], alert_rule_test: alerts(null) },
  ]
  const file = join(directory, 'tests.yaml')
  await writeFile(file, stringify({ rule_files: [rulesPath], evaluation_interval: '1m', tests }))
  await run('promtool', ['test', 'rules', file])
})

function expected(name: string | null) {
  const rules = formatAlertRules().split('- alert: ').slice(1)
  const rule =
    rules.find((text) => text.startsWith(`${name === null ? 'BerthMetricsMissing' : nameAlert(name)}\n`)) ?? ''
  const read = (key: string) => {
    const [, written = ''] = new RegExp(`^ +${key}: (.*)$`, 'm').exec(rule) ?? []
    return written.startsWith('"')
      ? (JSON.parse(written) as string)
      : written.replace(/^'|'$/g, '').replaceAll("''", "'")
  }
  return {
    exp_labels: { severity: read('severity'), ...(name !== null && { condition: name }) },
    exp_annotations: {
      summary: read('summary'),
      description: read('description'),
      runbook_url: read('runbook_url'),
    },
  }
}
