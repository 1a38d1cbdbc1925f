import { execFileSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { transition } from '../src/domain/jobs/transition.ts'
import type { Store } from '../src/scheduler/plan/leader-store.ts'
import { planPass } from '../src/scheduler/plan/plan.ts'
import { createWorld, type World } from '../src/scheduler/plan/world.ts'
import { Planner, startsPerCommit } from '../src/scheduler/planner.ts'
import { commitDecisions } from '../src/scheduler/stored/committing.ts'
import { createStoredPool } from '../src/scheduler/stored-pool.ts'
import { percentile, printLines } from './harness.ts'
import { type LongQueue, openLongQueue } from './long-queue.ts'
import { withDatabases } from './server.ts'

/**
 * A leader over PostgreSQL, with 10,000 and with 1,000,000 jobs in 6,000 lanes of as many accounts, 1,000 nodes of 8 GPUs:
 *
 * - taking over: from nothing to the first start committed (goal: < 10 s at 1,000,000);
 * - committed starts per second, all in all, beside the same statements without a planner (the ceiling);
 * - from the commit of an end to the commit of the next start, when the pool is full (goal: p99 < 250 ms; as good as
 *   with 10,000);
 * - memory of this process, which is the leader alone (goal: < 512 MiB once it has taken over).
 *
 * The database is durable, and in the same machine. Each length has a process of its own, because its memory is measured:
 * `npm run bench -- starts`, or `npm run bench -- starts 10000` for one length.
 */
const jobs = Number(process.argv[2])
const lanes = 6_000
const nodes = 1_000
const batches = 40
const ends = 1_000
const warmUp = 50

async function measure(queue: LongQueue): Promise<void> {
  const { takenOver, read, memory, rate } = await takeOver(queue)
  const latencies = await gaps(queue)
  const [half, most] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]
  const load = loadavg()
    .map((one) => one.toFixed(1))
    .join(' ')
  printLines(`${jobs} queued; load ${load}`, [
    ['what', 'figure', 'goal'],
    ['taking over, to the first start committed', seconds(takenOver), '< 10 s'],
    ['  of which reading', seconds(read), ''],
    ['  memory then', mebibytes(memory), '< 512 MiB'],
    ['starts committed, of 50 each', `${Math.round(rate.all)}/s`, ''],
    ['  the same statements alone', `${Math.round(rate.bare)}/s`, ''],
    ['an end to the next start, both committed, p50', `${half.toFixed(1)} ms`, '< 50 ms'],
    ['  p99', `${most.toFixed(1)} ms`, '< 250 ms'],
    ['memory in the end', mebibytes(process.memoryUsage().rss), ''],
  ])
}

/** Keeps no reference to the world, because a leader has only one. */
async function takeOver(queue: LongQueue) {
  const began = performance.now()
  const store = createStoredPool(queue.domain, queue.leader)
  const world = createWorld(await store.load())
  const read = performance.now() - began
  await start(store, world, 1)
  const takenOver = performance.now() - began
  const memory = process.memoryUsage().rss
  return { takenOver, read, memory, rate: await rates(queue, world, store) }
}

const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`
const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`

async function start(store: Store, world: World, startsMax: number): Promise<number> {
  world.hear(await store.changes(world.state.lanes))
  const decisions = planPass(world, { startsMax })
  const committed = await store.commit(decisions, world.state.settings.revision)
  if (committed.kind !== 'committed') throw new Error(committed.kind)
  if (decisions.needs.length > 0) world.refill(await store.first(decisions.needs))
  return decisions.starts.length
}

/**
 * Rounds alternate, so that a noisy neighbour affects both: one commits prepared decisions, the other plans and
 * commits.
 */
async function rates(
  { domain, leader }: LongQueue,
  world: World,
  store: Store,
): Promise<{ bare: number; all: number }> {
  const spent = { bare: 0, all: 0 }
  const started = { bare: 0, all: 0 }
  for (let i = 0; i < batches; i++) {
    world.hear(await store.changes(world.state.lanes))
    const decisions = planPass(world, { startsMax: startsPerCommit })
    if (decisions.needs.length > 0) world.refill(await store.first(decisions.needs))
    let at = performance.now()
    await commitDecisions(domain, leader, { decisions, revision: world.state.settings.revision })
    spent.bare += performance.now() - at
    started.bare += decisions.starts.length
    world.hear(await store.changes(world.state.lanes))
    at = performance.now()
    started.all += await start(store, world, startsPerCommit)
    spent.all += performance.now() - at
  }
  const rate = (kind: 'bare' | 'all') => (started[kind] / spent[kind]) * 1_000
  return { bare: rate('bare'), all: rate('all') }
}

/** Fills the pool, then ends one run after the other. */
async function gaps({ domain, leader }: LongQueue): Promise<number[]> {
  const planner = new Planner(createStoredPool(domain, leader), { log: domain.log, pool: leader.pool })
  for (let isDone = false; !isDone; ) ({ isDone } = await planner.pass(100))
  await planner.publish()
  const { sql } = domain.db
  const running = await sql.query<{ jobId: string }>(
    `SELECT job_id AS "jobId" FROM run WHERE state = 'STARTING' ORDER BY scheduled_at LIMIT $1`,
    [ends + warmUp],
  )
  const latencies: number[] = []
  for (const { jobId } of running) {
    await transition(sql, [{ jobId, run: 1, from: 'STARTING', to: 'RUNNING', reason: null }], domain.time.nowMs())
    await transition(sql, [{ jobId, run: 1, from: 'RUNNING', to: 'SUCCEEDED', reason: null }], domain.time.nowMs())
    const at = performance.now()
    const { started } = await planner.pass(1)
    latencies.push(performance.now() - at)
    if (started > 1) throw new Error(`${started} starts for one end`)
  }
  return latencies.slice(warmUp)
}

if (process.argv.length < 3)
  for (const length of ['10000', '1000000'])
    execFileSync(process.execPath, [import.meta.filename, length], { stdio: 'inherit' })
else
  await withDatabases(['bench'], async (urls) => {
    await using queue = await openLongQueue(urls.get('bench') ?? '', { jobs: jobs + 10_000, lanes, nodes })
    await measure(queue)
  })
