import { type HoldingRun, readHoldingRuns, readRunsDue, readStartsDue } from '../domain/jobs/runs.ts'
import { Fenced } from '../domain/leadership.ts'
import type { Executor, Handle, Observation } from '../executors/executor.ts'
import { readNow } from '../platform/database-time.ts'
import { createLoop } from '../platform/loop.ts'
import { createRareLook } from '../platform/rare-look.ts'
import type { Sql } from '../platform/tx.ts'
import { createLeftovers } from './leftovers.ts'
import { createSearch } from './lost-run-search.ts'
import { createNodeWatch } from './node-liveness.ts'
import { Carrier, type Carrying } from './run-carrier.ts'

/**
 * The runner of a pool: as long as this process leads the pool, every run that holds resources has a carrier here, and
 * no other code talks to the executors. It is woken when a run is due (a start was committed, a job was cancelled or has to leave)
 * and by what backends push; every few seconds it asks the backends about all runs at once, in case they said nothing.
 */

export interface Runner {
  start(): void
  stop(): Promise<void>
}

const pollMs = 1_000
const lookMsMax = 10_000
const inspectMs = 3_000
/** More than the error of the estimated time of the database. A run of this leader that counts as inherited is started as well. */
const estimateMs = 1_000

export function createRunner(carrying: Carrying, executors: ReadonlyMap<string, Executor>): Runner {
  const { domain, leader } = carrying
  const { clock, log, time } = domain
  const beganAtMs = time.nowMs()
  const carriers = new Map<string, Carrier>()
  const lookForLost = createSearch(carrying, executors)
  const watchNodes = createNodeWatch(carrying, executors)
  const dropped = new AbortController()
  const { signal } = dropped

  const isInherited = ({ scheduledAt }: HoldingRun) => scheduledAt.getTime() < beganAtMs + estimateMs

  function takeUp(runs: readonly HoldingRun[]) {
    for (const run of runs) {
      const known = carriers.get(run.runId)
      const executor = executors.get(run.executor)
      if (known && run.state === 'CANCELLING') known.cancel()
      else if (known && run.leaves === 'ASKED') known.leave()
      else if (!known && executor && !endedMeanwhile.has(run.runId)) {
        const carrier = new Carrier(run, executor, { ...carrying, signal, inherited: isInherited(run) })
        carriers.set(run.runId, carrier)
        void carrier.done.then(() => remove(run.runId))
      }
    }
  }

  /** What a look has read of a run that was carried to its end meanwhile is out of date: it would start the run again. */
  const endedMeanwhile = new Set<string>()
  let openLooks = 0

  function remove(runId: string) {
    carriers.delete(runId)
    if (openLooks > 0) endedMeanwhile.add(runId)
  }

  async function takeUpFrom(look: () => Promise<readonly HoldingRun[]>) {
    openLooks += 1
    try {
      takeUp(await look())
    } finally {
      openLooks -= 1
      if (openLooks === 0) endedMeanwhile.clear()
    }
  }

  const lookAtAll = createRareLook({ clock, everyMs: pollMs, pauseMsMax: lookMsMax })
  let lookedForStartsMs = clock.monotonicMs()
  let startsAreTold = true

  /**
   * Starts are frequent and found by their time; stops and departures are looked for when one was announced. The look at
   * all finds starts as well, so without news of one it is enough.
   */
  async function takeUpDue() {
    const beganMs = clock.monotonicMs()
    if (startsAreTold || !lookAtAll.isDue()) {
      startsAreTold = false
      await takeUpFrom(() => readStartsDue(domain.db.sql, leader, beganMs - lookedForStartsMs))
      lookedForStartsMs = beganMs
    }
    if (!lookAtAll.isDue()) return
    await takeUpFrom(() => lookAtAll.run(() => readRunsDue(domain.db.sql, leader)))
    lookedForStartsMs = beganMs
  }

  /** All runs that hold resources: at first those of an earlier leader, later any that was dropped. */
  async function inspectAll() {
    await takeUpFrom(() => readHoldingRuns(domain.db.sql, leader))
    const asked = [...carriers.values()].filter((carrier) => carrier.handle !== null)
    const groups = Map.groupBy(asked, (carrier) => carrier.executor)
    for (const [executor, group] of groups) await inspectOrRetry(executor, group)
    await lookForLost()
    await watchNodes()
  }

  /** An executor that is unavailable does not keep the others from being inspected. The next poll tries again. */
  async function inspectOrRetry(executor: Executor, group: readonly Carrier[]) {
    await inspect(domain.db.sql, executor, group).catch((err: unknown) => {
      if (err instanceof Fenced) throw err
      log.error({ err, pool: leader.pool, executor: executor.name }, 'runs cannot be inspected; trying again')
    })
  }

  const due = createLoop({ name: `runner ${leader.pool}`, pollMs, runOnce: takeUpDue, clock, log })
  const inspections = createLoop({
    name: `inspection ${leader.pool}`,
    pollMs: inspectMs,
    runOnce: inspectAll,
    clock,
    log,
  })
  const leftovers = createLeftovers(carrying, executors)
  let unsubscribe = () => {}

  async function watch(executor: Executor) {
    for await (const handle of executor.watch?.(signal) ?? []) {
      const carrier = [...carriers.values()].find((candidate) => candidate.handle === handle)
      if (!carrier) continue
      await inspect(domain.db.sql, executor, [carrier]).catch((err: unknown) =>
        log.debug({ err, executor: executor.name }, 'a run was not inspected; the next poll does it'),
      )
    }
  }

  return {
    start() {
      const listening = [
        domain.wakeups.on('start', () => {
          startsAreTold = true
          due.wake()
        }),
        domain.wakeups.on('run', () => {
          lookAtAll.ask()
          due.wake()
        }),
      ]
      unsubscribe = () => {
        for (const unlisten of listening) unlisten()
      }
      due.start()
      inspections.start()
      leftovers.start()
      for (const executor of executors.values())
        watch(executor).catch((error) =>
          log.error({ err: error, executor: executor.name }, 'a watch ended; polling goes on'),
        )
    },
    /** Drops all runs: they go on, and the next leader finds them. */
    async stop() {
      unsubscribe()
      dropped.abort()
      await Promise.all([due.stop(), inspections.stop(), leftovers.stop()])
      await Promise.all([...carriers.values()].map((carrier) => carrier.done))
    },
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
