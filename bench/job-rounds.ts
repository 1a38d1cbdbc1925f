import pg from 'pg'
import { percentile, poster, printLines } from './harness.ts'
import { childrenMs, familyMs, processorMs, readParentPid } from './process-usage.ts'
import { withDatabases, withServer } from './server.ts'

/** Runs jobs on a server until they have succeeded, and measures the resources that this takes. */

export interface Bench {
  submit(count: number, spec: object): Promise<void>
  count(state: 'SUCCEEDED' | 'RUNNING'): Promise<number>
  /** Number of database transactions so far. */
  transactions(): Promise<number>
  serverPid: number
  postmasterPid: number
}

export interface Round {
  perSecond: number
  serverMs: number
  spawnerMs: number
  postgresMs: number
  runMs: number
  transactions: number
}

const submission = `mutation ($submissions: [SubmitJobInput!]!) {
  submitJobs(input: { submissions: $submissions }) {
    ... on SubmitJobsSuccess { results { ... on SubmitJobSuccess { job { id } } ... on Problem { code message } } }
  }
}`
const lookMs = 50
const patienceMs = 120_000

export async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  for (const began = performance.now(); !(await isTrue()); ) {
    if (performance.now() - began > patienceMs) throw new Error(`Not within ${patienceMs / 1_000} s: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
}

/** Submits the jobs together, and waits until all have succeeded. */
export async function jobs(bench: Bench, amount: number, spec: object): Promise<Round> {
  const before = await used(bench)
  const goal = (await bench.count('SUCCEEDED')) + amount
  const began = performance.now()
  await bench.submit(amount, spec)
  await until('all succeeded', async () => (await bench.count('SUCCEEDED')) >= goal)
  const tookMs = performance.now() - began
  const after = await used(bench)
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

/** Runs `amount` operations, a few at a time; returns the number per second. */
export async function paced(amount: number, atOnce: number, work: () => Promise<unknown>): Promise<number> {
  let left = amount
  const began = performance.now()
  const worker = async () => {
    while (left-- > 0) await work()
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return (amount * 1_000) / (performance.now() - began)
}

/** Alternates rounds of both; the first round of each only warms up. */
export async function alternate(
  rounds: number,
  bare: () => Promise<number>,
  own: () => Promise<Round>,
): Promise<{ bare: number; own: (of: (round: Round) => number) => number }> {
  const rates: number[] = []
  const measured: Round[] = []
  for (let i = 0; i <= rounds; i++) {
    const [rate, round] = [await bare(), await own()]
    if (i === 0) continue
    rates.push(rate)
    measured.push(round)
  }
  return { bare: percentile(rates, 0.5), own: (of) => percentile(measured.map(of), 0.5) }
}

/** `runs`: label of the line for the processes of runs. */
export function printUse(own: (of: (round: Round) => number) => number, runs: string): void {
  const ms = (value: number) => `${value.toFixed(2)} ms`
  printLines('processor time and transactions of a job', [
    ['server', ms(own(({ serverMs }) => serverMs))],
    ['its spawner', ms(own(({ spawnerMs }) => spawnerMs))],
    ['PostgreSQL', ms(own(({ postgresMs }) => postgresMs))],
    [runs, ms(own(({ runMs }) => runMs))],
    ['transactions', own(({ transactions }) => transactions).toFixed(2)],
  ])
}

/** Starts a server with this configuration over an empty database. */
export async function withBench(
  config: string | ((folder: string) => string),
  work: (bench: Bench) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  await withDatabases(['berth_bench'], async (databases) => {
    const database = databases.get('berth_bench') ?? ''
    const client = new pg.Client({ connectionString: database })
    const measure = async (url: string, serverPid: number) => {
      await client.connect()
      const { bench, close } = await openBench(url, client, serverPid)
      try {
        await work(bench)
      } finally {
        close()
        await client.end()
      }
    }
    await withServer(measure, { ...env, DATABASE_URL: database }, config)
  })
}

async function openBench(url: string, client: pg.Client, serverPid: number) {
  const post = poster(url, 4)
  const one = async (text: string, values: unknown[] = []) => Number((await client.query(text, values)).rows[0]?.n)
  const submit = async (count: number, spec: object) => {
    const submissions = Array.from({ length: count }, () => ({ spec }))
    await post.send(JSON.stringify({ query: submission, variables: { submissions } }))
  }
  const bench: Bench = {
    submit,
    count: (state) => one('SELECT count(*) AS n FROM job WHERE state = $1::text::job_state', [state]),
    transactions: () => one('SELECT xact_commit AS n FROM pg_stat_database WHERE datname = current_database()'),
    serverPid,
    postmasterPid: readParentPid(await one('SELECT pg_backend_pid() AS n')),
  }
  return { bench, close: post.close }
}
