import pg from 'pg'
import { percentile, poster } from './harness.ts'
import { openLongQueue } from './long-queue.ts'
import { withDatabases, withServer } from './server.ts'

/**
 * Pages of `jobs` over HTTP at 510,000 jobs (or as many as the first argument says, and 10,000 that wait): every order and
 * every filter, one page after the other, beside the plain list, newest first. Goal: p50 ≤ 20 ms for what has an index; what has
 * none is marked, and docs/api.md says so.
 */
const jobs = Number(process.argv[2] ?? 500_000)
const waiting = 10_000
const asked = 40
const warmUp = 5
const goalMs = 20
const secret = 'the-secret-of-the-bench'

const lists: Readonly<Record<string, string>> = {
  'newest first': '',
  'oldest first': 'orderBy: { field: CREATED_AT, direction: ASC }',
  'PRIORITY DESC': 'orderBy: { field: PRIORITY, direction: DESC }',
  'PRIORITY ASC': 'orderBy: { field: PRIORITY, direction: ASC }',
  'FINISHED_AT DESC': 'orderBy: { field: FINISHED_AT, direction: DESC }',
  'FINISHED_AT ASC': 'orderBy: { field: FINISHED_AT, direction: ASC }',
  'FINISHED_AT DESC, FINAL': 'filter: { stateCategories: [FINAL] }, orderBy: { field: FINISHED_AT, direction: DESC }',
  'finishedAfter and Before':
    'filter: { finishedAfter: "2026-01-01T00:00:00Z", finishedBefore: "2030-01-01T00:00:00Z" }',
  ACTIVE: 'filter: { stateCategories: [ACTIVE] }',
  WAITING: 'filter: { stateCategories: [WAITING] }',
  'ACTIVE and WAITING': 'filter: { stateCategories: [ACTIVE, WAITING] }',
  'states: BLOCKED (none)': 'filter: { states: [BLOCKED] }',
  'states: FAILED (1 of 12)': 'filter: { states: [FAILED] }',
  'states: INTERRUPTED (1 of 1,000)': 'filter: { states: [INTERRUPTED] }',
  'name: one': 'filter: { name: "train-17" }',
  'name: none': 'filter: { name: "nothing" }',
  'name: train-1*': 'filter: { name: "train-1*" }',
  'name: *-17': 'filter: { name: "*-17" }',
  'name: *none*': 'filter: { name: "*none*" }',
  'label: 1 of 5,000': 'filter: { labels: [{ key: "exp", value: "e17" }] }',
  'label: none': 'filter: { labels: [{ key: "nothing" }] }',
  'label: half of all': 'filter: { labels: [{ key: "half" }] }',
  'project: 1 of 200': 'filter: { project: "p17" }',
  'project: none': 'filter: { project: "nothing" }',
  'queue: none': 'filter: { queue: "nothing" }',
  'pool: none': 'filter: { pool: "nothing" }',
  'executor: none': 'filter: { executor: "slurm" }',
  'account: none': 'filter: { account: "nothing" }',
  'team: none': 'filter: { team: "team_nothing" }',
  'user: one': 'filter: { user: "user_bench0" }',
}

/** Copies of a waiting job that are over, with names, labels and projects. */
const finalJobsSql = `
INSERT INTO job (id, lane_id, sequence, account, user_id, state, created_at, finished_at, log_closed, name, labels, project,
  base_priority, priority_override, spec, pool, queue, executor, cpu_millis, memory_bytes, gpu)
SELECT 'job_final' || lpad(n::text, 20, '0'), j.lane_id, -n, j.account, 'user_bench' || n % 100,
  (CASE WHEN n % 1000 = 0 THEN 'INTERRUPTED' WHEN n % 12 = 0 THEN 'FAILED' ELSE 'SUCCEEDED' END)::job_state,
  berth_now() - interval '1 day' - (500000 - n) * interval '10 seconds', berth_now() - interval '1 day' - (500000 - n + n % 977) * interval '10 seconds',
  true, 'train-' || n % 1000, jsonb_build_object('exp', 'e' || n % 5000) || CASE WHEN n % 2 = 0 THEN '{"half": ""}' ELSE '{}' END::jsonb,
  'p' || n % 200, n % 4 * 10, CASE WHEN n % 5000 = 0 THEN 45 END, j.spec, j.pool, j.queue, j.executor, j.cpu_millis, j.memory_bytes, j.gpu
FROM generate_series(1, $1::int) n, (SELECT * FROM job LIMIT 1) j`

async function fill(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('SET session_replication_role = replica')
  await client.query(finalJobsSql, [jobs])
  await client.query('VACUUM ANALYZE')
  await client.end()
}

async function measure(url: string): Promise<void> {
  const { send, close } = poster(url, 1, { authorization: `Bearer ${secret}` })
  let plain = Number.NaN
  for (const [name, args] of Object.entries(lists)) {
    const page = args === '' ? '(first: 20)' : `(first: 20, ${args})`
    const body = JSON.stringify({ query: `{ jobs${page} { nodes { id name state } pageInfo { endCursor } } }` })
    const latencies: number[] = []
    for (let i = 0; i < asked; i++) {
      const sent = performance.now()
      await send(body)
      latencies.push(performance.now() - sent)
    }
    const [p50, p99] = [0.5, 0.99].map((fraction) => percentile(latencies.slice(warmUp), fraction)) as [number, number]
    if (args === '') plain = p50
    const mark = p50 > goalMs ? '  over the goal' : ''
    process.stdout.write(
      `${name.padEnd(34)} p50 ${p50.toFixed(1).padStart(7)} ms  p99 ${p99.toFixed(1).padStart(7)} ms  × ${(p50 / plain).toFixed(1)}${mark}\n`,
    )
  }
  close()
}

const config = `
pools: [{ name: sim, executors: [simulated], nodes: [{ name: n0, cpu: 64, memoryGib: 1024, gpus: [{ model: V100, memoryGib: 32, count: 8 }] }] }]
queues: [{ name: default, pool: sim }]
`

await withDatabases(['bench'], async (urls) => {
  const url = urls.get('bench') ?? ''
  await (await openLongQueue(url, { jobs: waiting, lanes: 100, nodes: 1, people: 100 }))[Symbol.asyncDispose]()
  await fill(url)
  await withServer(measure, { DATABASE_URL: url, BERTH_BOOTSTRAP_TOKEN: secret }, config)
})
