import { findRuns, type LostRun, readLostRuns } from '../domain/jobs/lost-runs.ts'
import { asLeader } from '../domain/leadership.ts'
import { type Executor, isOver, type Observation } from '../executors/executor.ts'
import type { Carrying } from './carrier.ts'

/**
 * Searches for runs that were given up with their nodes. One that answers again is stopped; when it has stopped, or the
 * backend does not know it, its node may be used again. Nothing is concluded from silence.
 */
export function createSearch(carrying: Carrying, executors: ReadonlyMap<string, Executor>): () => Promise<void> {
  const { domain, leader } = carrying
  /** Runs that this leader has told to stop. */
  const told = new Set<string>()

  async function search(executor: Executor, runs: readonly LostRun[]): Promise<LostRun[]> {
    const observations = await executor.inspect(runs.map(({ handle }) => handle))
    const found: LostRun[] = []
    for (const [index, run] of runs.entries()) if (await isSettled(executor, run, observations[index])) found.push(run)
    return found
  }

  async function isSettled(executor: Executor, run: LostRun, observation: Observation | undefined): Promise<boolean> {
    if (observation?.state === 'running' || observation?.state === 'starting') {
      if (run.alive) return true
      if (!told.has(run.runId)) await executor.stop(run.handle, carrying.graceMs)
      told.add(run.runId)
    }
    return isOver(observation)
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
