import { findRuns, type LostRun, readLostRuns } from '../domain/jobs/lost-runs.ts'
import { asLeader } from '../domain/leadership.ts'
import { type Executor, isOver, type Observation } from '../executors/executor.ts'
import type { Carrying } from './carrier.ts'

/**
 * Searches for runs that were given up with their nodes. Such a run is stopped: at once, because a backend may keep the
 * order for a node that does not answer, and again when it is seen. When it has stopped, or the backend does not know it,
 * its node may be used again. Nothing is concluded from silence.
 */
export function createSearch(carrying: Carrying, executors: ReadonlyMap<string, Executor>): () => Promise<void> {
  const { domain, leader } = carrying
  /** Runs that this leader has told to stop, and their states then. */
  const told = new Map<string, Observation['state']>()

  async function search(executor: Executor, runs: readonly LostRun[]): Promise<LostRun[]> {
    const observations = await executor.inspect(runs.map(({ handle }) => handle))
    const found: LostRun[] = []
    for (const [index, run] of runs.entries()) if (await isSettled(executor, run, observations[index])) found.push(run)
    return found
  }

  async function isSettled(executor: Executor, run: LostRun, observation: Observation | undefined): Promise<boolean> {
    if (observation === undefined || isOver(observation)) return isOver(observation)
    const { state } = observation
    if (run.alive) return state !== 'unreachable'
    if (told.get(run.runId) !== state) await stop(executor, run, state)
    told.set(run.runId, state)
    return false
  }

  async function stop(executor: Executor, { handle, runId }: LostRun, state: Observation['state']): Promise<void> {
    try {
      await executor.stop(handle, carrying.graceMs)
    } catch (err) {
      if (state !== 'unreachable') throw err
      domain.log.debug({ err, run: runId }, 'a lost run is stopped when its node answers')
    }
  }

  async function settle(executor: Executor, found: readonly LostRun[]): Promise<void> {
    await asLeader(domain, leader, (sql) => findRuns(sql, leader.pool, found))
    for (const { handle, runId, alive } of found) {
      told.delete(runId)
      if (!alive) await executor.forget?.(handle)
    }
    for (const topic of ['event', 'queue'] as const) domain.wakeups.poke(topic)
  }

  return async () => {
    const lost = await readLostRuns(domain.db.sql, leader.pool)
    for (const [name, runs] of Map.groupBy(lost, (run) => run.executor)) {
      const executor = executors.get(name)
      const found = executor ? await search(executor, runs) : []
      if (executor && found.length > 0) await settle(executor, found)
    }
  }
}
