import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { createAppender, openLog, sealLog } from '../src/logs/append.ts'
import { openDb } from '../src/platform/db.ts'
import { createLog } from '../src/platform/log.ts'
import { addFinalJobs } from './final-jobs.ts'
import { percentile, poster } from './harness.ts'
import { familyMs, processorMs, readParentPid } from './process-usage.ts'
import { withDatabases, withServer } from './server.ts'

/**
 * The price of a document beside the processor time that it takes of the server and PostgreSQL, for pages of all kinds:
 * 400 jobs that ran, 300 that run or wait, and as many final ones as the first argument says. A request that does nothing
 * is added to every price. Goal: a factor of two around the measured time.
 */
const jobs = Number(process.argv[2] ?? 200_000)
const warmUp = 3
/** The kernel counts in steps of 10 ms, so a document is requested until this much time is used. */
const measuredMs = 600
const requestsMax = 200
const secret = 'the-secret-of-the-bench'
const ran = 400
/** Number of users, quotas, approval requests and artifacts: a page of each. */
const entries = 100
const waiting = 300
const factorMax = 2

const row = 'id name state stateReason createdAt startedAt finishedAt priority version'
const job = '$id'
const page = 'pageInfo { endCursor hasNextPage }'

/** `$id` is a job that has run, `$log` a job with output, `$user` the caller, `$from` the beginning of yesterday. */
const shapes: Readonly<Record<string, string>> = {
  'jobs 20': `jobs { nodes { ${row} } ${page} }`,
  'jobs 100': `jobs(first: 100) { nodes { ${row} } ${page} }`,
  'jobs 100, ids': 'jobs(first: 100) { nodes { id } }',
  'jobs 100, edges': `jobs(first: 100) { edges { cursor node { ${row} } } ${page} }`,
  'jobs 100, user and team': `jobs(first: 100) { nodes { ${row} user { id name } team { id name } } }`,
  'jobs 100, pool and queue': `jobs(first: 100) { nodes { ${row} pool { id name policy } queue { id name } } }`,
  'jobs 100, labels': `jobs(first: 100) { nodes { ${row} labels { key value } resources { cpu gpu memoryBytes } } }`,
  'jobs 100, run': `jobs(first: 100) { nodes { ${row} currentRun { id number nodeNames gpuIds startedAt } } }`,
  'jobs 100, runs': `jobs(first: 100) { nodes { ${row} runs(first: 3) { nodes { id number state exitCode } } } }`,
  'jobs 100, events': 'jobs(first: 100) { nodes { id events(first: 5) { nodes { id seq type at to message } } } }',
  'jobs 100, placements':
    'jobs(first: 100) { nodes { id currentRun { id placements { cpu memoryBytes gpuIds node { name } } } } }',
  'jobs 50, dependencies': `jobs(first: 50) { nodes { ${row} dependencies { job { id } on } dependents { nodes { id } } } }`,
  'jobs 100, actions': `jobs(first: 100) { nodes { ${row} allowedActions } }`,
  'jobs 100, cost': `jobs(first: 100) { nodes { ${row} cost { amount currency } progress { fraction message at } } }`,
  'jobs 100, positions': 'jobs(first: 100, filter: { states: [QUEUED] }) { nodes { id position priority } }',
  'jobs 100, reasons':
    'jobs(first: 100, filter: { states: [QUEUED] }) { nodes { id scheduling { reasons { code message } jobsAhead } } }',
  'jobs 100, estimates':
    'jobs(first: 100, filter: { states: [QUEUED] }) { nodes { id scheduling { estimatedStart { p50 p90 earliest } } } }',
  'jobs 100, fits':
    'jobs(first: 100, filter: { states: [QUEUED] }) { nodes { id scheduling { fit { freeNow missing } } } }',
  'jobs 20, specs': 'jobs { nodes { id spec { command environment { name value } resources { cpu memoryBytes } } } }',
  'jobs, total': 'jobs(first: 1) { totalCount isTotalExact }',
  'jobs, text': 'jobs(first: 20, filter: { text: "nothing" }) { nodes { id } }',
  'jobs, end of a name': 'jobs(first: 20, filter: { name: "*-none" }) { nodes { id } }',
  'jobs of a user': `jobs(first: 100, filter: { users: ["$user"] }) { nodes { ${row} } }`,
  'jobs by state': `jobs(first: 100, filter: { stateCategories: [WAITING, ACTIVE] }) { nodes { ${row} } }`,
  'jobs by priority': `jobs(first: 100, orderBy: { field: PRIORITY, direction: DESC }) { nodes { id priority } }`,
  'counts by state': 'jobCounts(by: STATE) { rows { key count } isExact }',
  'counts by user': 'jobCounts(by: USER, first: 100) { rows { key count user { name } byState { state count } } }',
  'counts of a pool': 'jobCounts(by: STATE, filter: { pools: ["sim"] }) { rows { key count } }',
  'counts by text': 'jobCounts(by: STATE, filter: { text: "nothing" }) { rows { key count } }',
  'job, events': `job(id: "${job}") { events(first: 100) { nodes { id seq type at to message } } }`,
  'jobs 100, artifacts': 'jobs(first: 100) { nodes { id artifacts(first: 3) { nodes { id name sizeBytes } } } }',
  'job, row': `job(id: "${job}") { ${row} }`,
  'job, page': `job(id: "${job}") { ${row} user { id name } labels { key value } currentRun { id nodeNames logLines usage { cpuSeconds } } runs(first: 50) { nodes { id number state } } events(first: 100) { nodes { id seq type at } } }`,
  'job, spec': `job(id: "${job}") { spec { command resources { cpu } environment { name value } } }`,
  'job, log': `job(id: "$log") { logs { text cursor isFinal } }`,
  'job, log lines': `job(id: "$log") { logs { lines { number text stream at } cursor } }`,
  'job, search': `job(id: "$log") { logSearch(query: "x") { matches { line text } isComplete } }`,
  'job, artifacts': `job(id: "$log") { artifacts(first: 100) { nodes { id name mediaType sizeBytes } } }`,
  'job, samples': `job(id: "${job}") { currentRun { samples { at cpu memoryBytes } } }`,
  'nodes by id': `nodes(ids: ["${job}", "$user", "pool_sim"]) { id ... on Job { state createdAt } ... on User { name } }`,
  pools: 'pools { nodes { id name policy capacity { cpu gpu } used { cpu gpu } } }',
  'pools, workload':
    'pools { nodes { name workload { depth running blocked avgWaitSeconds byState { state count } } } }',
  'pools, limits': 'pools { nodes { name limits { maxConcurrent userMaxConcurrent scopes { maxJobs jobsInUse } } } }',
  'pools, holds': 'pools { nodes { name holds { id since nodes { name } job { id } } leader { epoch } } }',
  'pools, accounts': 'pools { nodes { name accounts { account share weight running queued } } }',
  'pool, nodes': 'pool { nodes(first: 100) { nodes { id name state capacity { cpu gpu } free { cpu gpu } } } }',
  'pool, GPUs': 'pool { nodes(first: 100) { nodes { name gpus { id index model allocated job { id name } } } } }',
  'pool, runs': 'pool { nodes(first: 100) { nodes { name runs(first: 20) { nodes { id job { id name } } } } } }',
  'pool, by user': 'pool { workload { byUser { user { name } count } } }',
  'pool, reasons': 'pool { workload { byReason { code count } } }',
  'pool, entries 20': 'pool { workload { entries { nodes { id name state position } } } }',
  'pool, entries 100':
    'pool { workload { entries(first: 100) { nodes { id name state position scheduling { reasons { code } } user { name } } } } }',
  'GPUs of all': 'system { gpus(first: 100) { nodes { id index model allocated node { name } } } gpuModels }',
  executors: 'system { executors { name available message pool { name } launchers specFields } }',
  conditions: 'system { conditions { name severity since } conditionsAt }',
  users: 'users(first: 100) { nodes { id name level disabled email version } }',
  'users, teams': 'users(first: 100) { nodes { id name teams { id name } permissions } }',
  audit: 'auditLog(first: 100) { nodes { id at operation actor { name } objectId detail } }',
  approvals: 'approvals(first: 100) { nodes { id status reason job { id name } requestedBy { name } } }',
  rules: 'approvalRules { nodes { id name priority condition { costAbove } } }',
  quotas: 'quotas(first: 100) { nodes { id type limit scope { kind name } } }',
  viewer: 'viewer { user { id name } permissions scopes expiresAt }',
  'viewer, workload': 'viewer { workload { pendingCount runningCount bestPosition } pendingDecisions quotas { used } }',
  'server and queues': 'serverInfo { release title maxQueryCost } submissionQueues { id name pool { name } }',
  'usage by user': 'usage(from: "$from", bucketSeconds: 3600, by: USER) { at key averageRunning gpuSeconds }',
  preview: 'previewJob(input: { submit: { spec: { command: ["true"] } } }) { ... on JobPreview { wouldBe nodeNames } }',
}

/** Documents whose price is an upper bound: memory, a scan without a match, a year of usage. */
const capped = new Set(['job, log', 'job, log lines', 'job, search', 'jobs, end of a name', 'usage by user'])

const config = `
pools: [{ name: sim, executors: [simulated], limits: { maxConcurrent: null, userMaxConcurrent: null }, nodes: [{ name: n0, cpu: 64, memoryGib: 1024, gpus: [{ model: V100, memoryGib: 32, count: 8 }] }] }]
queues: [{ name: default, pool: sim }]
`

type Ask = (query: string, variables?: object) => Promise<{ data: Record<string, never>; extensions: { cost: number } }>

const submission =
  'mutation ($input: SubmitJobsInput!) { submitJobs(input: $input) { ... on SubmitJobsSuccess { results { __typename } } } }'

async function addJobs(ask: Ask): Promise<{ id: string; user: string }> {
  const submit = async (count: number, seconds: number) => {
    const spec = {
      command: ['true'],
      environment: [{ name: 'SIM_RUN_SECONDS', value: String(seconds) }],
      labels: [{ key: 'a', value: 'b' }],
      maxRunTimeSeconds: 3_600,
    }
    await ask(submission, { input: { submissions: Array(count).fill({ spec }) } })
  }
  for (let left = ran; left > 0; left -= 100) await submit(100, 0.01)
  const ended = '{ jobs(first: 1, filter: { states: [SUCCEEDED] }) { totalCount nodes { id user { id } } } }'
  for (;;) {
    const { totalCount, nodes } = (await ask(ended)).data['jobs'] as unknown as Ended
    if (totalCount < ran) continue
    for (let left = waiting; left > 0; left -= 100) await submit(100, 3_000)
    return { id: nodes[0]?.id ?? '', user: nodes[0]?.user.id ?? '' }
  }
}

/**
 * Adds a page of users, quotas and approval requests, and a job with output and artifacts. Returns the id of the job.
 */
async function addEntries(ask: Ask, databaseUrl: string): Promise<string> {
  const create = (name: string, input: object) =>
    ask(
      `mutation ($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { __typename } }`,
      { input },
    )
  for (let n = 0; n < entries; n++) {
    await create('createUser', { name: `user${n}`, level: 'RESEARCHER' })
    await create('createQuota', {
      type: 'JOBS_PER_DAY',
      limit: 1_000,
      action: 'BLOCK',
      scope: { user: { name: `user${n}` } },
    })
  }
  await create('createApprovalRule', { name: 'ask', condition: { name: 'ask-*' } })
  await ask(submission, {
    input: { submissions: Array(entries).fill({ spec: { command: ['true'], name: 'ask-me' } }) },
  })
  const job = `mutation { submitJob(input: { spec: { command: ["true"], notBefore: "${new Date(Date.now() + 86_400_000).toISOString()}" } }) {
    ... on SubmitJobSuccess { job { id } } } }`
  const { submitJob } = (await ask(job)).data as unknown as { submitJob: { job: { id: string } } }
  await addOutput(databaseUrl, submitJob.job.id)
  return submitJob.job.id
}

/** Adds a page of output and a page of artifacts. */
async function addOutput(databaseUrl: string, jobId: string): Promise<void> {
  const address = { url: databaseUrl }
  const db = openDb({ address, connectionsMax: 1, log: createLog('error'), applicationName: 'bench' })
  const [run] = await db.sql.query<{ id: string }>('SELECT id FROM run WHERE job_id = $1', [jobId])
  const runId = run?.id ?? ''
  const append = createAppender(db.sql)
  const bytes = Buffer.from(`${'epoch 31/50 loss 0.4127 accuracy 0.9312 '.repeat(5)}\n`.repeat(1_000))
  for (let head = await openLog(db.sql, runId); head.end < 2 ** 20; )
    head = await append(head, { pieces: [{ stream: 'STDOUT', bytes }], position: null, bytesMax: 2 ** 40 })
  await sealLog(db.sql, [runId])
  await db.sql.query(
    `INSERT INTO artifact (id, job_id, seq, run_id, run, name, media_type, body, size_bytes, hash)
     SELECT 'artifact_' || n, $1, 1000 + n, $2, 1, 'result' || n, 'text/plain', repeat('x', 1000), 1000, int4send(n)
     FROM generate_series(1, $3::int) n`,
    [jobId, runId, entries],
  )
  await db.close()
}

interface Ended {
  totalCount: number
  nodes: { id: string; user: { id: string } }[]
}

interface Server {
  url: string
  pid: number
}

interface Measured {
  name: string
  cost: number
  ms: number
}

async function measure(server: Server, databaseUrl: string): Promise<void> {
  const { send, close } = poster(server.url, 1, { authorization: `Bearer ${secret}` })
  const ask: Ask = async (query, variables = {}) => JSON.parse(await send(JSON.stringify({ query, variables })))
  const known = await addJobs(ask)
  const logged = await addEntries(ask, databaseUrl)
  await addFinalJobs(databaseUrl, jobs)
  const from = new Date(Date.now() - 86_400_000).toISOString()
  // Runs the queries once, so that they are compiled.
  for (const shape of Object.values(shapes).slice(0, 20)) for (let n = 0; n < 20; n++) await ask(`{ ${shape} }`)
  const used = await createMeter(server.pid, databaseUrl)
  const idle = await used(() => setTimeout(5_000))
  const time = async (query: string) => {
    for (let n = 0; n < warmUp; n++) await ask(query)
    let requests = 0
    let cost = 0
    const { ms, elapsedMs } = await used(async (usedMs) => {
      while (requests < requestsMax && (requests % 5 !== 0 || usedMs() < measuredMs)) {
        cost = (await ask(query)).extensions.cost
        requests++
      }
    })
    return { cost, ms: (ms - (idle.ms / idle.elapsedMs) * elapsedMs) / requests }
  }
  const { ms: least } = await time('{ __typename }')
  const measured: Measured[] = []
  for (const [name, shape] of Object.entries(shapes)) {
    const query = `{ ${shape.replaceAll('$id', known.id).replaceAll('$log', logged).replaceAll('$user', known.user).replaceAll('$from', from)} }`
    measured.push({ name, ...(await time(query)) })
  }
  print(measured, least)
  close()
}

/** Measures the processor time of the server and PostgreSQL during `work`. */
async function createMeter(serverPid: number, databaseUrl: string) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  const postgresPid = readParentPid(rows[0].pid)
  await client.end()
  const readMs = () => processorMs(serverPid).own + familyMs(postgresPid)
  return async (work: (usedMs: () => number) => Promise<unknown>) => {
    const began = { ms: readMs(), at: performance.now() }
    await work(() => readMs() - began.ms)
    return { ms: readMs() - began.ms, elapsedMs: performance.now() - began.at }
  }
}

/** The unit is the median price of a millisecond beyond `least`, for documents that take at least twice as long. */
function print(measured: readonly Measured[], least: number): void {
  const long = measured.filter(({ ms }) => ms > 2 * least)
  const unit = percentile(
    long.map(({ cost, ms }) => (ms - least) / cost),
    0.5,
  )
  const isFar = ({ name, factor }: { name: string; factor: number }) =>
    factor < 1 / factorMax || (factor > factorMax && !capped.has(name))
  const rows = measured.map((each) => ({ ...each, factor: (least + each.cost * unit) / each.ms }))
  process.stdout.write(`a request takes ${least.toFixed(2)} ms, a unit ${(unit * 1_000).toFixed(1)} µs\n`)
  for (const each of rows.toSorted((a, b) => b.factor - a.factor)) {
    const { name, cost, ms, factor } = each
    process.stdout.write(
      `${name.padEnd(26)}${String(cost).padStart(8)}${ms.toFixed(2).padStart(10)} ms${factor.toFixed(2).padStart(9)}${isFar(each) ? ' !' : ''}\n`,
    )
  }
  process.stdout.write(`${rows.filter(isFar).length} of ${rows.length} beyond a factor of ${factorMax}\n`)
}

await withDatabases(['bench'], async (urls) => {
  const url = urls.get('bench') ?? ''
  await withServer(
    (serverUrl, pid) => measure({ url: serverUrl, pid }, url),
    { DATABASE_URL: url, BERTH_BOOTSTRAP_TOKEN: secret },
    config,
  )
})
