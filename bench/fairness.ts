import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import pg from 'pg'
import { percentile, poster, printLines } from './harness.ts'
import { openLongQueue } from './long-queue.ts'
import { withDatabases, withServer } from './server.ts'

/**
 * One user sends expensive requests, 40 at a time, over 95,000 jobs (or as many as the first argument says); another
 * user reads a job and a page of jobs, one after the other. For each kind of request: how long the other user waits.
 */
const jobs = Number(process.argv[2] ?? 95_000)
const only = process.argv[3]
const inFlight = 40
const attackMs = 15_000
const secret = 'the-secret-of-the-bench'

const jobsSql = `
INSERT INTO job (id, lane_id, sequence, account, user_id, state, created_at, finished_at, log_closed, name, labels, project,
  base_priority, spec, pool, queue, executor, cpu_millis, memory_bytes, gpu)
SELECT 'job_00' || lpad(n::text, 24, '0'), j.lane_id, -n, j.account, $2, 'SUCCEEDED',
  berth_now() - interval '1 day' - n * interval '10 seconds', berth_now() - interval '1 day', true, 'train-' || n % 1000, '{}',
  'p', n % 4 * 10, j.spec, j.pool, j.queue, j.executor, j.cpu_millis, j.memory_bytes, j.gpu
FROM generate_series(1, $1::int) n, (SELECT * FROM job LIMIT 1) j`

const viewsSql = `
INSERT INTO saved_view (id, owner_id, scope, name, page, search, pinned)
SELECT 'view_00' || lpad(n::text, 24, '0'), $1, 'USER', 'view ' || n, '/jobs', repeat('x', 2000), false
FROM generate_series(1, 500) n`

async function fill(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('SET session_replication_role = replica')
  await client.query(jobsSql, [jobs, 'user_bench0'])
  await client.query(viewsSql, ['user_bench0'])
  await client.query('VACUUM ANALYZE')
  await client.end()
}

let serial = 0
const glob = () => `*no${serial++}*`
const aliases = (field: (i: number) => string) => Array.from({ length: 20 }, (_, i) => `a${i}: ${field(i)}`).join(' ')
const jobsOf = (filter: string, wanted: string) =>
  `jobs(first: 1, filter: { name: "${filter}" }, orderBy: { field: PRIORITY, direction: DESC }) { ${wanted} }`
const spec = 'spec: { command: ["true"] }'

const rootFields = [
  'savedViews { id name search }',
  'jobByNativeId(executor: LOCAL, nativeId: "1") { id }',
  'pool { workload { byUser { count } byState { count } } }',
  'viewer { quotas { limit used } workload { pendingCount } }',
]
let logJobId = ''

const attacks: Readonly<Record<string, () => { query: string; variables?: object }>> = {
  nothing: () => ({ query: '{ __typename }' }),
  glob: () => ({ query: `{ ${jobsOf(glob(), 'nodes { id }')} }` }),
  '20 counts': () => ({ query: `{ ${aliases(() => jobsOf(glob(), 'totalCount'))} }` }),
  '3 counts': () => ({ query: `{ a: ${jobsOf(glob(), 'totalCount')} b: ${jobsOf(glob(), 'totalCount')} }` }),
  selfCheck: () => ({ query: '{ selfCheck { ok } }' }),
  '20 previews': () => ({
    query: `{ ${aliases(() => `previewJob(input: { submit: { ${spec} } }) { __typename }`)} }`,
  }),
  'root fields': () => ({ query: `{ ${aliases((i) => rootFields[i % rootFields.length] ?? '')} }` }),
  'log search': () => ({
    query: `query ($id: ID!) { job(id: $id) { logSearch(query: "(a.{80}|b.{80})c", regex: true) { isComplete } } }`,
    variables: { id: logJobId },
  }),
  'large specs': () => ({
    query: 'query ($submit: SubmitJobInput!) { previewJob(input: { submit: $submit }) { __typename } }',
    variables: { submit: { spec: { command: ['echo', 'x'.repeat(3_800_000)] } } },
  }),
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

async function tokenOf(url: string, userId: string): Promise<string> {
  const admin = poster(url, 1, bearer(secret))
  const query = `mutation { createToken(input: { name: "bench", userId: "${userId}" }) { ... on CreateTokenSuccess { secret } } }`
  const made = JSON.parse(await admin.send(JSON.stringify({ query })))
  admin.close()
  return made.data.createToken.secret
}

/** A job of 40 kB of the letters a and b, as one line. */
async function runLogJob(url: string, token: string): Promise<string> {
  const user = poster(url, 1, bearer(token))
  const ask = async (query: string) => JSON.parse(await user.send(JSON.stringify({ query }))).data
  const command = JSON.stringify(['sh', '-c', 'tr -dc ab < /dev/urandom | head -c 40000'])
  const submit = `mutation { submitJob(input: { spec: { queue: "here", command: ${command} } }) { ... on SubmitJobSuccess { job { id } } } }`
  const { id } = (await ask(submit)).submitJob.job
  while ((await ask(`{ job(id: "${id}") { state } }`)).job.state !== 'SUCCEEDED')
    await new Promise((resolve) => setTimeout(resolve, 200))
  user.close()
  return id
}

async function measure(url: string): Promise<void> {
  const tokens = { attacker: await tokenOf(url, 'user_bench0'), other: await tokenOf(url, 'user_bench1') }
  logJobId = await runLogJob(url, tokens.attacker)
  const lines = [['', 'requests', 'answered', 'refused', 'other: n', 'failed', 'p50', 'p99', 'max']]
  for (const [name, attack] of Object.entries(attacks)) if (!only || only === name) lines.push(await run(name, attack))
  printLines(`the other user, while one user has ${inFlight} requests in flight`, lines)

  async function run(name: string, attack: () => object): Promise<string[]> {
    const from = poster(url, inFlight, bearer(name === 'selfCheck' ? secret : tokens.attacker))
    const began = performance.now()
    const isOver = () => performance.now() - began > attackMs
    const done = { answered: 0, refused: new Map<string, number>() }
    const send = async () => {
      while (!isOver())
        try {
          await from.send(JSON.stringify(attack()))
          done.answered++
        } catch (error) {
          const code =
            /"code":"(\w+)"/.exec(String(error))?.[1] ??
            /"__typename":"(\w+)"/.exec(String(error))?.[1] ??
            String(error)
          done.refused.set(code, (done.refused.get(code) ?? 0) + 1)
        }
    }
    const attacking = Array.from({ length: inFlight }, send)
    const watching = new Worker(new URL(import.meta.url), {
      workerData: { url, token: tokens.other, watchMs: attackMs },
    })
    const [{ took, failed }] = (await once(watching, 'message')) as [Watched]
    from.close()
    await Promise.all(attacking)
    const refused = [...done.refused].map(([code, count]) => `${count} ${code}`).join(', ')
    const numbers = [0.5, 0.99, 1].map((p) => `${Math.round(percentile(took, p))} ms`)
    return [name, String(done.answered), refused.slice(0, 60), String(took.length), String(failed), ...numbers]
  }
}

interface Watched {
  took: number[]
  failed: number
}

/** The other user, in a thread of its own. */
async function watch({ url, token, watchMs }: { url: string; token: string; watchMs: number }): Promise<Watched> {
  const { send, close } = poster(url, 1, bearer(token))
  const body = JSON.stringify({ query: '{ jobs(first: 1) { nodes { id state } } viewer { user { name } } }' })
  const watched: Watched = { took: [], failed: 0 }
  const began = performance.now()
  while (performance.now() - began < watchMs) {
    const sent = performance.now()
    await send(body).catch(() => watched.failed++)
    watched.took.push(performance.now() - sent)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  close()
  return watched
}

const config = `
pools:
  - { name: sim, executors: [simulated], nodes: [{ name: n0, cpu: 64, memoryGib: 1024 }] }
  - { name: here, executors: [local], jobsAsRoot: true }
queues: [{ name: default, pool: sim }, { name: here, pool: here }]
`

if (!isMainThread) parentPort?.postMessage(await watch(workerData))
else
  await withDatabases(['bench'], async (urls) => {
    const url = urls.get('bench') ?? ''
    await (await openLongQueue(url, { jobs: 100, lanes: 10, nodes: 1, people: 10 }))[Symbol.asyncDispose]()
    await fill(url)
    await withServer(measure, { DATABASE_URL: url, BERTH_BOOTSTRAP_TOKEN: secret }, config)
  })
