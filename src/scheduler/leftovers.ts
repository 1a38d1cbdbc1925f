import { readRunStates } from '../domain/jobs/runs.ts'
import { isFinal } from '../domain/state.ts'
import { type Executor, isOver } from '../executors/executor.ts'
import { createLoop, type Loop } from '../platform/loop.ts'
import type { Sql } from '../platform/tx.ts'
import type { Carrying } from './carrier.ts'

/**
 * Data of runs that a server left in its executors when it died between storing the end of a run and `forget`. A new
 * leader looks once, and then every hour: data of runs that are over, or were removed with their job, is forgotten. No
 * process is ended here: living runs are left to the search for lost runs.
 */

const pollMs = 3_600_000
const runsPerQuestion = 500

export const createLeftovers = ({ domain, leader }: Carrying, executors: ReadonlyMap<string, Executor>): Loop =>
  createLoop({
    name: `leftovers ${leader.pool}`,
    pollMs,
    clock: domain.clock,
    log: domain.log,
    async runOnce() {
      for (const executor of executors.values()) await forgetOver(executor, domain.db.sql)
    },
  })

async function forgetOver(executor: Executor, sql: Sql): Promise<void> {
  const kept = (await executor.list?.()) ?? []
  for (let from = 0; from < kept.length; from += runsPerQuestion) {
    const some = kept.slice(from, from + runsPerQuestion)
    const states = await readRunStates(
      sql,
      some.map(({ runId }) => runId),
    )
    const handles = some
      .filter(({ runId }) => isFinal(states.get(runId)?.state ?? 'CANCELLED'))
      .map(({ handle }) => handle)
    const seen = await executor.inspect(handles)
    for (const [index, handle] of handles.entries()) if (isOver(seen[index])) await executor.forget?.(handle)
  }
}
