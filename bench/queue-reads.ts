import type { Domain } from '../src/domain/domain.ts'
import type { Policy } from '../src/domain/lanes.ts'
import { until } from '../test/support/until.ts'
import { percentile, poster, printLatencies } from './harness.ts'
import { openLongQueue } from './long-queue.ts'
import { withDatabases, withServer } from './server.ts'

/**
 * Reads of a long queue, as people and pages send them over HTTP, one after the other, at 10,000 and at 1,000,000
 * waiting jobs in 6,000 lanes of 100 people, half of the lanes in one account. The pool is full, and its leader is at
 * work. Goal: p99 < 100 ms for each at 1,000,000; docs/workload.md says what was seen.
 */
const lengths = [10_000, 1_000_000]
const policies: readonly Policy[] = ['FAIR_SHARE', 'PRIORITY']
const shape = { lanes: 6_000, nodes: 10, people: 100, greatLanes: 3_000 }
const asked = 150
const warmUp = 10
const settleMs = 60_000
const secret = 'the-secret-of-the-bench'

const questions: Readonly<Record<string, (jobId: string) => object>> = {
  'why a job waits': (id) => ({
    query: 'query ($id: ID!) { job(id: $id) { position scheduling { reasons { code message job { id } } } } }',
    variables: { id },
  }),
  'one’s own queue': () => ({
    query: '{ viewer { workload { pendingCount bestPosition } } }',
  }),
  'the numbers': () => ({ query: '{ pool { workload { depth running avgWaitSeconds byUser { count } } } }' }),
  'the first 20': () => ({ query: '{ pool { workload { depth entries(first: 20) { nodes { id state } } } } }' }),
  '20 with places': () => ({
    query: '{ pool { workload { entries(first: 20) { nodes { id position scheduling { reasons { code } } } } } } }',
  }),
}

/** A user who sees all jobs, and a user who sees only their own 10,000 jobs. */
interface People {
  admin: ReturnType<typeof poster>
  person: ReturnType<typeof poster>
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

async function people(url: string): Promise<People> {
  const admin = poster(url, 1, bearer(secret))
  const query = `mutation { createToken(input: { name: "bench", userId: "user_bench0" }) { ... on CreateTokenSuccess { secret } } }`
  const made = JSON.parse(await admin.send(JSON.stringify({ query })))
  return { admin, person: poster(url, 1, bearer(made.data.createToken.secret)) }
}

const nth = (n: number) => `job_bench${String(n).padStart(20, '0')}`

/** Finds a waiting job of `user_bench0` that is not the first in the queue. */
function jobOf(jobs: number): string {
  const block = Math.floor((Math.random() * 0.98 + 0.02) * (jobs / shape.people))
  return nth(Math.min(jobs - 1, block * shape.people + shape.people - 1))
}

async function measure(url: string, jobs: number): Promise<Record<string, number[]>> {
  const askers = await people(url)
  const series: Record<string, number[]> = {}
  for (const [who, { send, close }] of Object.entries(askers)) {
    for (const [what, question] of Object.entries(questions)) {
      const latencies: number[] = []
      for (let i = 0; i < asked; i++) {
        const body = JSON.stringify(question(jobOf(jobs)))
        const sent = performance.now()
        await send(body)
        latencies.push(performance.now() - sent)
      }
      series[`${what} (${who}; first ${latencies[0]?.toFixed(0)} ms)`] = latencies.slice(warmUp)
    }
    close()
  }
  return series
}

async function ask(domain: Domain, url: string, { policy, jobs }: { policy: Policy; jobs: number }): Promise<void> {
  const { sql } = domain.db
  const filled = async () => {
    const [row] = await sql.query<{ filled: boolean }>(
      `SELECT (SELECT count(*) FROM run WHERE state = 'RUNNING') >= 8 * $1::int AND EXISTS (SELECT FROM lane_view WHERE reason IS NOT NULL) AS filled`,
      [shape.nodes],
    )
    return row?.filled
  }
  await until(filled, { what: 'the pool is full', timeoutMs: settleMs })
  const series = await measure(url, jobs)
  printLatencies(`${policy}, ${jobs} waiting`, series)
  const worst = Object.entries(series).map(([name, each]) => ({ name, p99: percentile(each, 0.99) }))
  const slow = worst.filter(({ p99 }) => p99 >= 100).map(({ name }) => name)
  process.stdout.write(slow.length > 0 ? `  p99 over 100 ms: ${slow.join(', ')}\n` : '  every p99 under 100 ms\n')
}

const configOf = (policy: Policy) => `
pools:
  - name: sim
    policy: ${policy}
    executors: [simulated]
    nodes: [${Array.from({ length: shape.nodes }, (_, i) => `{ name: n${i}, cpu: 64, memoryGib: 1024, gpus: [{ model: V100, memoryGib: 32, count: 8 }] }`)}]
    limits: { maxConcurrent: null, userMaxConcurrent: null }
    scheduling: { nonPreemptableFraction: 1, rotationQuantumSeconds: null, starvationThresholdMinutes: 60 }
queues:
  - { name: default, pool: sim }
`

for (const jobs of lengths)
  await withDatabases(['bench'], async (urls) => {
    const databaseUrl = urls.get('bench') ?? ''
    await using queue = await openLongQueue(databaseUrl, { jobs, ...shape })
    const env = { DATABASE_URL: databaseUrl, BERTH_BOOTSTRAP_TOKEN: secret }
    for (const policy of policies)
      await withServer((url) => ask(queue.domain, url, { policy, jobs }), env, configOf(policy))
  })
