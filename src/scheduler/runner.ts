import { type HoldingRun, readHoldingRuns, readRunsDue, readStartsDue } from '../domain/jobs/runs.ts'
import { Fenced } from '../domain/leadership.ts'
import { sampleSeconds } from '../domain/usage/run-samples.ts'
import type { Executor, Handle, Observation } from '../executors/executor.ts'
import { readNow } from '../platform/database-time.ts'
import { createLoop, type Loop } from '../platform/loop.ts'
import { createRareLook, type RareLook } from '../platform/rare-look.ts'
import type { Sql } from '../platform/tx.ts'
import { createLeftoverLoop } from './leftovers.ts'
import { createLostRunSearch } from './lost-run-search.ts'
import { createNodeWatch } from './node-liveness.ts'
import { Carrier, type Carrying } from './run-carrier.ts'
import { createRunSampler } from './run-sampler.ts'

/**
 * While this process leads the pool, the runner keeps a carrier for every run that holds resources. Wake-ups and
 * notifications of backends cause immediate checks; polls find the changes whose notification was lost.
 */

const pollMs = 1_000
const checkAllMsMax = 10_000
const inspectMs = 3_000
/**
 * Margin for the error of the estimated database time. If a run of this leader is wrongly taken as inherited, it is
 * started all the same.
 */
const estimateMs = 1_000

export class Runner {
  readonly #carrying: Carrying
  readonly #executors: ReadonlyMap<string, Executor>
  readonly #beganAtMs: number
  readonly #carriers = new Map<string, Carrier>()
  readonly #dropped = new AbortController()
  readonly #findLostRuns: () => Promise<void>
  readonly #checkNodes: () => Promise<void>
  readonly #due: Loop
  readonly #loops: readonly Loop[]
  readonly #checksOfAll: RareLook
  /** Runs that ended during a read of runs, whose result must not start them again. */
  readonly #endedMeanwhile = new Set<string>()
  #openReads = 0
  #readStartsMs: number
  #hasNewStarts = true
  #listening: readonly (() => void)[] = []

  constructor(carrying: Carrying, executors: ReadonlyMap<string, Executor>) {
    const { domain, leader } = carrying
    const { clock, log, time } = domain
    this.#carrying = carrying
    this.#executors = executors
    this.#beganAtMs = time.nowMs()
    this.#readStartsMs = clock.monotonicMs()
    this.#findLostRuns = createLostRunSearch(carrying, executors)
    this.#checkNodes = createNodeWatch(carrying, executors)
    this.#checksOfAll = createRareLook({ clock, everyMs: pollMs, pauseMsMax: checkAllMsMax })
    const loop = (name: string, pollMs: number, runOnce: () => Promise<void>) =>
      createLoop({ name: `${name} ${leader.pool}`, pollMs, runOnce, clock, log })
    const listRuns = () => [...this.#carriers.values()].flatMap(({ sampled }) => sampled ?? [])
    this.#due = loop('runner', pollMs, () => this.#takeDueRuns())
    this.#loops = [
      this.#due,
      loop('inspection', inspectMs, () => this.#inspectAll()),
      createLeftoverLoop(carrying, executors),
      loop('samples', sampleSeconds * 1_000, createRunSampler(carrying, listRuns)),
    ]
  }

  start(): void {
    const { log, wakeups } = this.#carrying.domain
    this.#listening = [
      wakeups.on('start', () => {
        this.#hasNewStarts = true
        this.#due.wake()
      }),
      wakeups.on('run', () => {
        this.#checksOfAll.ask()
        this.#due.wake()
      }),
    ]
    for (const loop of this.#loops) loop.start()
    for (const executor of this.#executors.values())
      this.#watch(executor).catch((err: unknown) =>
        log.error({ err, executor: executor.name }, 'notifications of the backend ended; polling continues'),
      )
  }

  async stop(): Promise<void> {
    for (const unlisten of this.#listening) unlisten()
    this.#dropped.abort()
    await Promise.all(this.#loops.map((loop) => loop.stop()))
    await Promise.all([...this.#carriers.values()].map((carrier) => carrier.done))
  }

  /**
   * Finds runs to start, stop or preempt. Starts are frequent and are found by their commit time alone. Stops and
   * preemptions are read after a wake-up; this read also finds starts.
   */
  async #takeDueRuns(): Promise<void> {
    const { domain, leader } = this.#carrying
    const beganMs = domain.clock.monotonicMs()
    if (this.#hasNewStarts || !this.#checksOfAll.isDue()) {
      this.#hasNewStarts = false
      await this.#takeFrom(() => readStartsDue(domain.db.sql, leader, beganMs - this.#readStartsMs))
      this.#readStartsMs = beganMs
    }
    if (!this.#checksOfAll.isDue()) return
    await this.#takeFrom(() => this.#checksOfAll.run(() => readRunsDue(domain.db.sql, leader)))
    this.#readStartsMs = beganMs
  }

  async #takeFrom(read: () => Promise<readonly HoldingRun[]>): Promise<void> {
    this.#openReads += 1
    try {
      for (const run of await read()) this.#take(run)
    } finally {
      this.#openReads -= 1
      if (this.#openReads === 0) this.#endedMeanwhile.clear()
    }
  }

  #take(run: HoldingRun): void {
    const carrier = this.#carriers.get(run.runId)
    const executor = this.#executors.get(run.executor)
    if (carrier && run.state === 'CANCELLING') carrier.cancel()
    else if (carrier && run.leaves === 'ASKED') carrier.leave()
    else if (!carrier && executor && !this.#endedMeanwhile.has(run.runId)) this.#carry(run, executor)
  }

  #carry(run: HoldingRun, executor: Executor): void {
    const inherited = run.scheduledAt.getTime() < this.#beganAtMs + estimateMs
    const carrier = new Carrier(run, executor, { ...this.#carrying, signal: this.#dropped.signal, inherited })
    this.#carriers.set(run.runId, carrier)
    void carrier.done.then(() => {
      this.#carriers.delete(run.runId)
      if (this.#openReads > 0) this.#endedMeanwhile.add(run.runId)
    })
  }

  /** The first call takes over the runs of the previous leader, later calls those whose carrier failed. */
  async #inspectAll(): Promise<void> {
    const { domain, leader } = this.#carrying
    await this.#takeFrom(() => readHoldingRuns(domain.db.sql, leader))
    const started = [...this.#carriers.values()].filter((carrier) => carrier.handle !== null)
    for (const [executor, group] of Map.groupBy(started, (carrier) => carrier.executor))
      await inspect(domain.db.sql, executor, group).catch((err: unknown) => {
        if (err instanceof Fenced) throw err
        domain.log.error(
          { err, pool: leader.pool, executor: executor.name },
          'runs cannot be inspected; the next poll tries again',
        )
      })
    await this.#findLostRuns()
    await this.#checkNodes()
  }

  async #watch(executor: Executor): Promise<void> {
    const { db, log } = this.#carrying.domain
    for await (const handle of executor.watch?.(this.#dropped.signal) ?? []) {
      const carrier = [...this.#carriers.values()].find((candidate) => candidate.handle === handle)
      if (!carrier) continue
      await inspect(db.sql, executor, [carrier]).catch((err: unknown) =>
        log.debug({ err, executor: executor.name }, 'a run cannot be inspected; the next poll tries again'),
      )
    }
  }
}

async function inspect(sql: Sql, executor: Executor, carriers: readonly Carrier[]): Promise<void> {
  const handles = carriers.flatMap((carrier): Handle[] => (carrier.handle === null ? [] : [carrier.handle]))
  const observations: readonly Observation[] = await executor.inspect(handles)
  const isAnySilent = observations.some(({ state }) => state === 'unreachable')
  const atMs = isAnySilent ? (await readNow(sql)).getTime() : 0
  await Promise.all(
    carriers.map((carrier, index) => {
      const observation = observations[index]
      return observation && carrier.observed(observation, atMs)
    }),
  )
}
