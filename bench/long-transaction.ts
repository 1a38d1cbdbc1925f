import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { percentile, poster, printLines } from './harness.ts'
import { withDatabases, withServer } from './server.ts'

/**
 * npm run bench -- backup --seconds 600 --rate 50
 *
 * Submit → RUNNING, as the database dates it, while a transaction is held open, as a backup does; beside it the same
 * load on another PostgreSQL without such a transaction. Dead rows cannot be removed in the first and can in the
 * second. `--writes`: the transaction has also written, as one of a person at a prompt may. Exits with 1 when p50 in
 * the last sixth is more than twice that beside it.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    rate: { type: 'string', default: '50' },
    writes: { type: 'boolean', default: false },
  },
})
const seconds = Number(values.seconds)
const perSecond = Number(values.rate)
const ratioMax = 2
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
  databaseUrl: string
  url: string
}

/** Submits at a constant rate, whatever the response times are. */
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

interface Latency {
  p50: number
  p99: number
}

/** Reads the latencies, for equal parts of the measured time. */
async function latencies({ databaseUrl }: Contestant): Promise<Latency[]> {
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
    .map((values) => ({ p50: percentile(values, 0.5), p99: percentile(values, 0.99) }))
}

/** The tables with the most reads. The number of blocks read shows the cost of dead rows even on a busy machine. */
async function reads({ databaseUrl }: Contestant): Promise<string[][]> {
  const rows = await asked<{ table: string; blocks: string; dead: string; updates: string; hot: string }>(
    databaseUrl,
    `SELECT t.relname AS table, heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0) AS blocks,
       n_dead_tup AS dead, n_tup_upd AS updates, n_tup_hot_upd AS hot
     FROM pg_stat_user_tables t JOIN pg_statio_user_tables USING (relid) ORDER BY blocks DESC LIMIT 12`,
  )
  return rows.map((row) => Object.values(row).map(String))
}

async function measure(held: Contestant, free: Contestant): Promise<void> {
  const holder = new pg.Client({ connectionString: held.databaseUrl })
  await holder.connect()
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM job')
  if (values.writes) await holder.query('SELECT pg_current_xact_id()')
  const endMs = performance.now() + seconds * 1_000
  await Promise.all([load(held, endMs), load(free, endMs)])
  const counts = [await reads(held), await reads(free)]
  await holder.query('COMMIT')
  await holder.end()
  const [slow, quick] = [await latencies(held), await latencies(free)]
  const ratio = (part: number, of: keyof Latency) =>
    (slow[part]?.[of] ?? Number.NaN) / (quick[part]?.[of] ?? Number.NaN)
  printLines(`submit → RUNNING, ${perSecond} jobs/s for ${seconds} s in ${parts} parts`, [
    ['part', 'held p50', 'p99', 'free p50', 'p99', 'p50', 'p99'],
    ...slow.map(({ p50, p99 }, part) => {
      const figures = [p50, p99, quick[part]?.p50, quick[part]?.p99].map((ms) => `${ms?.toFixed(1)} ms`)
      return [String(part + 1), ...figures, `${ratio(part, 'p50').toFixed(2)} ×`, `${ratio(part, 'p99').toFixed(2)} ×`]
    }),
  ])
  if (!(ratio(parts - 1, 'p50') <= ratioMax)) process.exitCode = 1
  for (const [index, lines] of counts.entries())
    printLines(index === 0 ? 'held' : 'free', [['table', 'blocks read', 'dead', 'updates', 'hot'], ...lines])
}

/** Starts a server on a separate PostgreSQL. */
function withContestant(name: string, work: (contestant: Contestant) => Promise<void>): Promise<void> {
  return withDatabases([name], async (databases) => {
    const databaseUrl = databases.get(name) ?? ''
    await withServer((url) => work({ databaseUrl, url }), { DATABASE_URL: databaseUrl }, config)
  })
}

await withContestant('held', (held) => withContestant('free', (free) => measure(held, free)))
