import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import pg from 'pg'
import { percentile, poster, printLines } from './harness.ts'
import { childrenMs, familyMs, parentOf, processorMs, residentBytes } from './process-usage.ts'
import { withDatabases, withServer } from './server.ts'

/**
 * `/bin/true` jobs per second through the whole path (submitJobs → SUCCEEDED in the database) on the executor local,
 * beside fork + exec of the same from Node at the same concurrency; the rounds alternate. With it: the processor time of
 * a job in the server, in PostgreSQL, and in the processes of its run (the shim and what it starts), its transactions,
 * and the memory of the server with 1,000 running simulated and 100 running local jobs. Goal: ≥ 0.35 ×.
 * `--quick`: fewer jobs and rounds.
 */
const isQuick = process.argv.includes('--quick')
const concurrency = 16
const jobsPerRound = isQuick ? 200 : 600
const spawnsPerRound = isQuick ? 500 : 1_500
const rounds = isQuick ? 2 : 5
const running = { sim: 1_000, local: 100 }
const lookMs = 50
const patienceMs = 120_000

const config = `pools:
  - name: local
    executors: [local]
    nodes: [{ name: n1, cpu: ${concurrency}, memoryGib: 64 }]
  - name: wide
    executors: [local]
    nodes: [{ name: n2, cpu: 1000, memoryGib: 640 }]
  - name: sim
    executors: [simulated]
    nodes: [{ name: n3, cpu: 1000, memoryGib: 4000 }]
queues:
  - { name: local, pool: local }
  - { name: wide, pool: wide }
  - { name: sim, pool: sim }
`

const submission = `mutation ($inputs: [SubmitJobInput!]!) {
  submitJobs(inputs: $inputs) { results { ... on SubmitJobSuccess { job { id } } ... on Problem { code message } } }
}`

interface Bench {
  submit(count: number, spec: object): Promise<void>
  count(state: 'SUCCEEDED' | 'RUNNING'): Promise<number>
  /** Transactions of the database so far. */
  transactions(): Promise<number>
  serverPid: number
  postmasterPid: number
}

interface Round {
  perSecond: number
  serverMs: number
  spawnerMs: number
  postgresMs: number
  runMs: number
  transactions: number
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  for (const began = performance.now(); !(await isTrue()); ) {
    if (performance.now() - began > patienceMs) throw new Error(`Not within ${patienceMs / 1_000} s: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
}

async function jobs(bench: Bench, amount: number): Promise<Round> {
  const { serverPid, postmasterPid } = bench
  const before = await used(bench)
  const goal = (await bench.count('SUCCEEDED')) + amount
  const began = performance.now()
  await bench.submit(amount, { command: ['/bin/true'] })
  await until('all succeeded', async () => (await bench.count('SUCCEEDED')) >= goal)
  const tookMs = performance.now() - began
  const after = await used({ ...bench, serverPid, postmasterPid })
  const each = (what: keyof typeof before) => (after[what] - before[what]) / amount
  return {
    perSecond: (amount * 1_000) / tookMs,
    serverMs: each('serverMs'),
    spawnerMs: each('spawnerMs'),
    postgresMs: each('postgresMs'),
    runMs: each('runMs'),
    transactions: each('transactions'),
  }
}

async function used({ serverPid, postmasterPid, transactions }: Bench) {
  const server = processorMs(serverPid)
  const spawners = childrenMs(serverPid)
  return {
    serverMs: server.own,
    spawnerMs: spawners.own,
    runMs: server.waited + spawners.waited,
    postgresMs: familyMs(postmasterPid),
    transactions: await transactions(),
  }
}

/** Spawns per second, `concurrency` at a time. */
async function spawns(amount: number): Promise<number> {
  let left = amount
  const began = performance.now()
  const worker = async () => {
    while (left-- > 0) await once(spawn('/bin/true', { stdio: 'ignore' }), 'exit')
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return (amount * 1_000) / (performance.now() - began)
}

async function compare(bench: Bench): Promise<void> {
  const bare: number[] = []
  const own: Round[] = []
  for (let i = 0; i <= rounds; i++) {
    const [rate, round] = [await spawns(spawnsPerRound), await jobs(bench, jobsPerRound)]
    if (i === 0) continue
    bare.push(rate)
    own.push(round)
  }
  const middle = (of: (round: Round) => number) => percentile(own.map(of), 0.5)
  const [rate, bareRate] = [middle(({ perSecond }) => perSecond), percentile(bare, 0.5)]
  const load = loadavg().map((one) => one.toFixed(1))
  printLines(`/bin/true, ${concurrency} at a time; load ${load.join(' ')}`, [
    ['', 'rate', 'ratio'],
    ['fork + exec from Node', `${Math.round(bareRate)}/s`, '1.00 ×'],
    ['submitJobs → SUCCEEDED', `${Math.round(rate)}/s`, `${(rate / bareRate).toFixed(3)} ×`],
  ])
  const ms = (value: number) => `${value.toFixed(2)} ms`
  printLines('processor time and transactions of a job', [
    ['server', ms(middle(({ serverMs }) => serverMs))],
    ['its spawner', ms(middle(({ spawnerMs }) => spawnerMs))],
    ['PostgreSQL', ms(middle(({ postgresMs }) => postgresMs))],
    ['processes of the run', ms(middle(({ runMs }) => runMs))],
    ['transactions', middle(({ transactions }) => transactions).toFixed(2)],
  ])
}

async function memory(bench: Bench): Promise<void> {
  const idle = residentBytes(bench.serverPid)
  const environment = [{ name: 'SIM_RUN_SECONDS', value: '86400' }]
  await bench.submit(running.sim, { queue: 'sim', command: ['x'], environment })
  await bench.submit(running.local, { queue: 'wide', command: ['/bin/sleep', '60'] })
  await until('all run', async () => (await bench.count('RUNNING')) >= running.sim + running.local)
  const busy = residentBytes(bench.serverPid)
  const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`
  printLines('memory of the server (RSS)', [
    ['after the rounds', mebibytes(idle)],
    [`with ${running.sim} running simulated and ${running.local} running local jobs`, mebibytes(busy)],
  ])
}

async function openBench(url: string, client: pg.Client, serverPid: number) {
  const post = poster(url, 4)
  const one = async (text: string, values: unknown[] = []) => Number((await client.query(text, values)).rows[0]?.n)
  const submit = async (count: number, spec: object) => {
    const inputs = Array.from({ length: count }, () => ({ spec }))
    await post.send(JSON.stringify({ query: submission, variables: { inputs } }))
  }
  const bench: Bench = {
    submit,
    count: (state) => one('SELECT count(*) AS n FROM job WHERE state = $1::text::job_state', [state]),
    transactions: () => one('SELECT xact_commit AS n FROM pg_stat_database WHERE datname = current_database()'),
    serverPid,
    postmasterPid: parentOf(await one('SELECT pg_backend_pid() AS n')),
  }
  return { bench, close: post.close }
}

await withDatabases(['berth_bench'], async (databases) => {
  const database = databases.get('berth_bench') ?? ''
  const client = new pg.Client({ connectionString: database })
  const measure = async (url: string, serverPid: number) => {
    await client.connect()
    const { bench, close } = await openBench(url, client, serverPid)
    try {
      await compare(bench)
      await memory(bench)
    } finally {
      close()
      await client.end()
    }
  }
  await withServer(measure, { DATABASE_URL: database }, config)
})
