import { type LostRun, markRunsFound, readLostRuns } from '../domain/jobs/lost-runs.ts'
import { runAsLeader } from '../domain/leadership.ts'
import { type Executor, isOver, type Observation } from '../executors/executor.ts'
import type { Carrying } from './run-carrier.ts'

/**
 * Searches for runs that were declared lost with their nodes. Such a run is stopped at once, because a backend may
 * queue the stop for an unreachable node, and again whenever its state changes. When the run has ended, or the backend
 * does not know it, its node becomes usable again.
 */
export function createLostRunSearch(carrying: Carrying, executors: ReadonlyMap<string, Executor>): () => Promise<void> {
  const { domain, leader } = carrying
  /** The state of each run when this leader last stopped it. */
  const stoppedIn = new Map<string, Observation['state']>()
  const failures = new Map<string, number>()

  async function search(executor: Executor, runs: readonly LostRun[]): Promise<LostRun[]> {
    const observations = await executor.inspect(runs.map(({ handle }) => handle))
    const found: LostRun[] = []
    const unstopped: UnstoppedRun[] = []
    for (const [index, run] of runs.entries()) {
      const observation = observations[index]
      if (observation === undefined) continue
      const { state } = observation
      if (isOver(observation)) found.push(run)
      else if (stoppedIn.get(run.runId) !== state) unstopped.push({ run, state })
    }
    await stopAll(executor, unstopped)
    return found
  }

  /**
   * Stops runs until the backend fails: each further stop may take as long to fail, so the rest waits for the next
   * pass. The run with the fewest failures comes first.
   */
  async function stopAll(executor: Executor, unstopped: readonly UnstoppedRun[]): Promise<void> {
    const failuresOf = ({ run }: UnstoppedRun) => failures.get(run.runId) ?? 0
    for (const each of unstopped.toSorted((one, other) => failuresOf(one) - failuresOf(other)))
      try {
        await executor.stop(each.run.handle, carrying.graceMs)
        stoppedIn.set(each.run.runId, each.state)
      } catch (err) {
        failures.set(each.run.runId, failuresOf(each) + 1)
        domain.log.debug({ err, run: each.run.runId }, 'a lost run could not be stopped; the next pass tries again')
        return
      }
  }

  /** An unavailable executor does not block the others. */
  async function searchOrRetry(executor: Executor, runs: readonly LostRun[]): Promise<LostRun[]> {
    return search(executor, runs).catch((err: unknown) => {
      domain.log.error({ err, executor: executor.name }, 'lost runs cannot be searched; the next pass tries again')
      return []
    })
  }

  async function settle(executor: Executor, found: readonly LostRun[]): Promise<void> {
    await runAsLeader(domain, leader, (sql) => markRunsFound(sql, leader.pool, found))
    for (const { handle, runId } of found) {
      stoppedIn.delete(runId)
      failures.delete(runId)
      await executor.forget?.(handle)
    }
    for (const topic of ['event', 'queue'] as const) domain.wakeups.poke(topic)
  }

  return async () => {
    const lost = await readLostRuns(domain.db.sql, leader.pool)
    for (const [name, runs] of Map.groupBy(lost, (run) => run.executor)) {
      const executor = executors.get(name)
      const found = executor ? await searchOrRetry(executor, runs) : []
      if (executor && found.length > 0) await settle(executor, found)
    }
  }
}

interface UnstoppedRun {
  run: LostRun
  state: Observation['state']
}
