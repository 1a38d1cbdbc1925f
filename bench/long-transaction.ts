import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { freePort, startBerth } from '../test/support/berth-process.ts'
import { percentile, poster, printLines } from './harness.ts'
import { withDatabases, withFolder } from './server.ts'

/**
 * Submit → RUNNING, as the database dates it, while a transaction is held open, as a backup does; beside it the same
 * load on another database of the same PostgreSQL without such a transaction. Dead rows cannot be removed in the first
 * and can in the second. Goal: p50 in the last sixth ≤ 2 × that beside it. Seconds and jobs per second are arguments:
 * `node bench/long-transaction.ts 600 50`.
 */
const seconds = Number(process.argv[2] ?? 600)
const perSecond = Number(process.argv[3] ?? 50)
const parts = 6
const clients = 16

const config = `
pools:
  - name: sim
    executor: simulated
    nodes: [${Array.from({ length: 8 }, (_, n) => `{ name: n${n}, cpu: 1000, memoryGib: 1000 }`).join(', ')}]
queues: [{ name: default, pool: sim }]`

const submission = JSON.stringify({
  query: `mutation { submitJob(input: { spec: { command: ["true"], resources: { cpu: 0.1, memoryBytes: 1 },
    environment: [{ name: "SIM_RUN_SECONDS", value: "1" }] } }) { __typename ... on Problem { code message } } }`,
})

interface Contestant {
  name: string
  databaseUrl: string
  url: string
}

/** Submits at a constant rate, however slow the answers are. */
async function load({ url }: Contestant, endMs: number): Promise<void> {
  const { send, close } = poster(url, clients)
  const open = new Set<Promise<unknown>>()
  const beganMs = performance.now()
  for (let n = 0; performance.now() < endMs; n++) {
    const sent = send(submission).finally(() => open.delete(sent))
    open.add(sent)
    await setTimeout(Math.max(0, beganMs + ((n + 1) * 1_000) / perSecond - performance.now()))
  }
  await Promise.all(open)
  close()
}

async function asked<Row extends pg.QueryResultRow>(databaseUrl: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

/** p50 and p90 of each part of the time. */
async function latencies({ databaseUrl }: Contestant): Promise<{ p50: number; p90: number }[]> {
  const rows = await asked<{ part: number; ms: number }>(
    databaseUrl,
    `SELECT width_bucket(extract(epoch FROM j.created_at), f.first, f.last, ${parts}) AS part,
       extract(epoch FROM r.started_at - j.created_at)::float8 * 1000 AS ms
     FROM job j JOIN run r ON r.job_id = j.id CROSS JOIN (
       SELECT extract(epoch FROM min(created_at)) AS first, extract(epoch FROM max(created_at)) + 0.001 AS last FROM job) f
     WHERE r.started_at IS NOT NULL`,
  )
  const byPart = Map.groupBy(rows, ({ part }) => part)
  return [...byPart.keys()]
    .sort((a, b) => a - b)
    .map((part) => byPart.get(part)?.map(({ ms }) => ms) ?? [])
    .map((values) => ({ p50: percentile(values, 0.5), p90: percentile(values, 0.9) }))
}

/** Tables with the most dead rows. */
async function dead({ databaseUrl }: Contestant): Promise<string[][]> {
  const rows = await asked<{ table: string; dead: string; updates: string; hot: string; pages: string }>(
    databaseUrl,
    `SELECT relname AS table, n_dead_tup AS dead, n_tup_upd AS updates, n_tup_hot_upd AS hot, pg_relation_size(relid) / 8192 AS pages
     FROM pg_stat_user_tables ORDER BY n_dead_tup DESC LIMIT 8`,
  )
  return rows.map(({ table, ...counts }) => [table, ...Object.values(counts).map(String)])
}

async function measure(held: Contestant, free: Contestant): Promise<void> {
  const holder = new pg.Client({ connectionString: held.databaseUrl })
  await holder.connect()
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM job')
  const endMs = performance.now() + seconds * 1_000
  await Promise.all([load(held, endMs), load(free, endMs)])
  const counts = [await dead(held), await dead(free)]
  await holder.query('COMMIT')
  await holder.end()
  const [slow, quick] = [await latencies(held), await latencies(free)]
  printLines(`submit → RUNNING, ${perSecond} jobs/s for ${seconds} s in ${parts} parts`, [
    ['part', 'held p50', 'p90', 'free p50', 'p90', 'ratio of p50'],
    ...slow.map(({ p50, p90 }, part) => {
      const beside = quick[part] ?? { p50: Number.NaN, p90: Number.NaN }
      const figures = [p50, p90, beside.p50, beside.p90].map((ms) => `${ms.toFixed(1)} ms`)
      return [String(part + 1), ...figures, `${(p50 / beside.p50).toFixed(2)} ×`]
    }),
  ])
  for (const [index, lines] of counts.entries())
    printLines(index === 0 ? 'held' : 'free', [['table', 'dead', 'updates', 'hot', 'pages'], ...lines])
}

await withDatabases(['held', 'free'], (databases) =>
  withFolder(async (dataDir) => {
    const contestants: Contestant[] = []
    const servers: Awaited<ReturnType<typeof startBerth>>[] = []
    try {
      for (const [name, databaseUrl] of databases) {
        const server = await withConfig(join(dataDir, name), databaseUrl)
        servers.push(server)
        contestants.push({ name, databaseUrl, url: server.url })
      }
      const [held, free] = contestants
      if (held && free) await measure(held, free)
    } finally {
      for (const server of servers) await server.end()
    }
  }),
)

async function withConfig(dataDir: string, databaseUrl: string) {
  await mkdir(dataDir)
  const file = join(dataDir, 'berth.yaml')
  await writeFile(file, config)
  return startBerth({ dataDir, port: await freePort(), env: { DATABASE_URL: databaseUrl, BERTH_CONFIG: file } })
}
