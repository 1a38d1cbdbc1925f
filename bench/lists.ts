import { addFinalJobs } from './final-jobs.ts'
import { percentile, poster } from './harness.ts'
import { openLongQueue } from './long-queue.ts'
import { withDatabases, withServer } from './server.ts'

/**
 * Pages of `jobs` over HTTP at 510,000 jobs (or as many as the first argument says, and 10,000 that wait): every filter
 * in every order. Goal: p50 ≤ 20 ms for what has an index; what has none is marked, and docs/api.md says so.
 */
const jobs = Number(process.argv[2] ?? 500_000)
const waiting = 10_000
const asked = 20
const warmUp = 3
/** A list that takes longer is requested fewer times. */
const listMsMax = 4_000
const goalMs = 20
const secret = 'the-secret-of-the-bench'

const filters: Readonly<Record<string, string>> = {
  none: '',
  ACTIVE: 'stateCategories: [ACTIVE]',
  WAITING: 'stateCategories: [WAITING]',
  'ACTIVE and WAITING': 'stateCategories: [ACTIVE, WAITING]',
  FINAL: 'stateCategories: [FINAL]',
  'states: BLOCKED (none)': 'states: [BLOCKED]',
  'states: FAILED (1 of 13)': 'states: [FAILED]',
  'states: INTERRUPTED (1 of 1,000)': 'states: [INTERRUPTED]',
  'name: one': 'name: "train-17"',
  'name: none': 'name: "nothing"',
  'name: train-1*': 'name: "train-1*"',
  'name: *-17': 'name: "*-17"',
  'name: *none*': 'name: "*none*"',
  'label: 1 of 5,000': 'labels: [{ key: "exp", value: "e17" }]',
  'label: none': 'labels: [{ key: "nothing" }]',
  'label: half of all': 'labels: [{ key: "half" }]',
  'project: 1 of 201': 'projects: ["p17"]',
  'project: none': 'projects: ["nothing"]',
  'queue: 1 of 5,000': 'queues: ["rare"]',
  'queue: none': 'queues: ["nothing"]',
  'pool: none': 'pools: ["nothing"]',
  'executor: 1 of 5,000': 'executors: [SLURM]',
  'executor: none': 'executors: [LOCAL]',
  'queue and executor that never met': 'queues: ["night"], executors: [KUBERNETES]',
  'account: 1 of 101': 'accounts: ["account17"]',
  'text: a name': 'text: "TRAIN-17"',
  'text: none': 'text: "nothing"',
  'reason: EXIT_CODE (1 of 13)': 'stateReasons: [EXIT_CODE]',
  'reason: PREEMPTED (1 of 1,000)': 'stateReasons: [PREEMPTED]',
  'reason: none': 'stateReasons: [RESUME_FAILED]',
  'node: none': 'node: "nothing"',
  'started in the first week': 'startedBefore: "7"',
  'started in two days': 'startedAfter: "-3", startedBefore: "-1"',
  'user and FAILED': 'users: ["user_bench17"], states: [FAILED]',
  'user and WAITING': 'users: ["user_bench17"], stateCategories: [WAITING]',
  'pool and FAILED': 'pools: ["sim"], states: [FAILED]',
  'pool and WAITING': 'pools: ["sim"], stateCategories: [WAITING]',
  'label and FAILED': 'labels: [{ key: "exp", value: "e17" }], states: [FAILED]',
  'project, created in the first week': 'projects: ["p17"], createdBefore: "7"',
  'account: none': 'accounts: ["nothing"]',
  'account: none, FAILED': 'accounts: ["nothing"], states: [FAILED]',
  'team: none': 'teams: ["team_nothing"]',
  'user: one': 'users: ["user_bench0"]',
  'created in the last day': 'createdAfter: "-1"',
  'created in the first week': 'createdBefore: "7"',
  'finished in the first week': 'finishedBefore: "7"',
  'finished in two days': 'finishedAfter: "-3", finishedBefore: "-1"',
  'finished ever': 'finishedAfter: "0", finishedBefore: "1000"',
}

const orders = ['CREATED_AT', 'STARTED_AT', 'FINISHED_AT', 'PRIORITY'].flatMap((field) => [
  `${field} DESC`,
  `${field} ASC`,
])

const firstDayMs = Date.now() - (1 + (jobs * 10) / 86_400) * 86_400_000

/** Converts days to dates: counted from the first job or, if negative, back from now. */
const dated = (filter: string) =>
  filter.replace(/"(-?\d+)"/g, (_, days: string) => {
    const sinceMs = days.startsWith('-') ? Date.now() : firstDayMs
    return JSON.stringify(new Date(sinceMs + Number(days) * 86_400_000))
  })

async function measure(url: string): Promise<void> {
  const { send, close } = poster(url, 1, { authorization: `Bearer ${secret}` })
  process.stdout.write(`p50 of a page in ms; !: over ${goalMs} ms\n${row('', orders)}`)
  for (const [name, filter] of Object.entries(filters)) {
    const cells: string[] = []
    for (const order of orders) {
      const [field, direction] = order.split(' ')
      const args = `first: 20, filter: { ${dated(filter)} }, orderBy: { field: ${field}, direction: ${direction} }`
      const body = JSON.stringify({ query: `{ jobs(${args}) { nodes { id name state } pageInfo { endCursor } } }` })
      const p50 = percentile(await latencies(() => send(body)), 0.5)
      cells.push(`${p50.toFixed(1)}${p50 > goalMs ? ' !' : '  '}`)
    }
    process.stdout.write(row(name, cells))
  }
  close()
}

const row = (name: string, cells: readonly string[]) =>
  `${name.padEnd(34)}${cells.map((cell) => cell.padStart(17)).join('')}\n`

async function latencies(ask: () => Promise<unknown>): Promise<number[]> {
  const took: number[] = []
  const began = performance.now()
  while (took.length < warmUp + asked && performance.now() - began < listMsMax) {
    const sent = performance.now()
    // The server cancels a statement that takes too long; the time until then counts.
    await ask().catch((error: Error) => {
      if (!/UNAVAILABLE|QUERY_TIMEOUT/.test(error.message)) throw error
    })
    took.push(performance.now() - sent)
  }
  return took.length > warmUp ? took.slice(warmUp) : took
}

const config = `
pools: [{ name: sim, executors: [simulated], nodes: [{ name: n0, cpu: 64, memoryGib: 1024, gpus: [{ model: V100, memoryGib: 32, count: 8 }] }] }]
queues: [{ name: default, pool: sim }]
`

await withDatabases(['bench'], async (urls) => {
  const url = urls.get('bench') ?? ''
  await (await openLongQueue(url, { jobs: waiting, lanes: 100, nodes: 1, people: 100 }))[Symbol.asyncDispose]()
  await addFinalJobs(url, jobs)
  await withServer(measure, { DATABASE_URL: url, BERTH_BOOTSTRAP_TOKEN: secret }, config)
})
