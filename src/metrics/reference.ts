import { writeFileSync } from 'node:fs'
import { describeMetrics } from '../platform/metrics.ts'
import '../graphql/transport/server.ts'
import '../platform/db.ts'
import '../platform/output.ts'
import './build-info.ts'
import './installation.ts'
import '../schedulers.ts'

/** Describes every metric in a Markdown document. As a program it writes docs/metrics.md: `npm run codegen`. */
export function formatMetricsReference(): string {
  const own = describeMetrics().filter(({ name }) => name.startsWith('berth_'))
  const installation = own.filter(({ name }) => gaugesOfInstallation.test(name))
  const rest = own.filter((metric) => !installation.includes(metric))
  const table = (metrics: typeof own) =>
    [
      '| metric | type | labels | |',
      '|---|---|---|---|',
      ...metrics.map(
        ({ name, type, labels, help }) =>
          `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
      ),
    ].join('\n')
  return `${preface}
## The installation

Every server shows the same numbers, which it reads from the database for a scrape, at most every 5 s. Take the maximum of several servers:
\`max by (pool, state) (berth_jobs)\`. Without the database these series are absent, and \`berth_database_up\` is 0.

${table(installation)}

## A server

Counters begin at 0 with each start of a server. Those with the label \`pool\` or \`executor\` count what its leader of a pool did: add up the servers,
\`sum by (pool) (rate(berth_job_wait_seconds_count[5m]))\`.

${table(rest)}

Beside them are the usual metrics of a Node.js process, \`process_*\` and \`nodejs_*\`: processor time, memory, open files, garbage collection and the
delay of the event loop.
`
}

const gaugesOfInstallation =
  /^berth_(database_up|jobs|waiting_jobs|oldest_wait|nodes|capacity|allocated|wanted|feed_lag|webhook_backlog|condition$)/

const preface = `# Metrics

\`/metrics\` has metrics for Prometheus, in its text format or as OpenMetrics. A scrape needs a token of any user, from loopback as well: behind a proxy
every caller comes from loopback. Without users, in single-user mode, the account of the server reads without a token.

\`\`\`sh
berth token create prometheus --scopes READ
\`\`\`

\`\`\`yaml
# prometheus.yml
scrape_configs:
  - job_name: berth
    authorization: { credentials_file: /etc/prometheus/berth-token }
    static_configs: [{ targets: ["berth.example.org:4000"] }]
rule_files: [/etc/prometheus/berth-alerts.yaml]   # ops/alerts.yaml of Berth
\`\`\`

A listener of its own serves \`/metrics\`, \`/healthz\` and \`/readyz\` and nothing else, without log-in. Let only your monitoring reach its address:

\`\`\`yaml
# berth.yaml
server:
  metrics: { host: 10.0.0.5, port: 9464 }
\`\`\`

Like the API, the listener refuses web pages of other origins. In single-user mode the listener also refuses a \`Host\` that is neither a loopback name nor one of
\`server.allowedHosts\`: name the address there by which your monitoring asks.

No label names a person, team, account, job, run or node, so the number of series does not grow with use: it depends on the pools, executors and
webhooks of your configuration. [Alerts](alerts.md) explains \`berth_condition\`; \`ops/grafana.json\` is a dashboard.
`

if (import.meta.main) writeFileSync('docs/metrics.md', formatMetricsReference())
