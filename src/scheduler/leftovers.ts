import type { Domain } from '../domain/domain.ts'
import { readRunStates } from '../domain/jobs/runs.ts'
import { readRunsWithOutputs } from '../domain/outputs/attach.ts'
import { isFinal } from '../domain/state.ts'
import { type Executor, isOver } from '../executors/executor.ts'
import { createLoop, type Loop } from '../platform/loop.ts'
import type { EndedRun } from './output-collector.ts'
import type { Carrying } from './run-carrier.ts'

/**
 * Removes data of finished runs that executors still keep because a server died between storing the end and calling
 * `forget`: when a leader starts, and then every hour. Logs living runs that are missing from the database. Then each
 * executor cleans up its own directories. Output files of such runs are collected meanwhile; a pass waits for them at
 * its end.
 */

const pollMs = 3_600_000
const runsPerQuery = 500
const loggedIdsMax = 20

export const createLeftoverLoop = (
  { domain, leader, outputs }: Carrying,
  executors: ReadonlyMap<string, Executor>,
): Loop =>
  createLoop({
    name: `leftovers ${leader.pool}`,
    pollMs,
    clock: domain.clock,
    log: domain.log,
    async runOnce(signal) {
      const collecting: Promise<void>[] = []
      for (const [name, executor] of executors) {
        const strangers = await forgetEndedRuns(executor, { ...domain, outputs, signal, collecting })
        if (strangers.length > 0)
          domain.log.warn(
            { pool: leader.pool, executor: name, runs: strangers.slice(0, loggedIdsMax), count: strangers.length },
            'some live runs are missing in the database, as after the restore of a backup; end them by hand',
          )
        await executor.sweep?.()
      }
      await Promise.all(collecting)
    },
  })

interface Forgetting extends Pick<Domain, 'db' | 'log'>, Pick<Carrying, 'outputs'> {
  signal: AbortSignal
  collecting: Promise<void>[]
}

async function forgetEndedRuns(executor: Executor, forgetting: Forgetting): Promise<string[]> {
  const { db, collecting } = forgetting
  const strangers: string[] = []
  const kept = (await executor.list?.()) ?? []
  for (let from = 0; from < kept.length; from += runsPerQuery) {
    const some = kept.slice(from, from + runsPerQuery)
    const states = await readRunStates(
      db.sql,
      some.map(({ runId }) => runId),
    )
    const unneeded = some.filter(({ runId }) => isFinal(states.get(runId)?.state ?? 'CANCELLED'))
    const withOutputs = await readRunsWithOutputs(
      db.sql,
      unneeded.map(({ runId }) => runId),
    )
    const seen = await executor.inspect(unneeded.map(({ handle }) => handle))
    for (const [index, { runId, handle }] of unneeded.entries()) {
      const run = { runId, executor, handle }
      if (isOver(seen[index])) {
        if (withOutputs.has(runId)) collecting.push(forgetCollected(run, forgetting))
        else await forgetRun(run, forgetting)
      } else if (seen[index]?.state === 'running' && !states.has(runId)) strangers.push(runId)
    }
  }
  return strangers
}

async function forgetCollected(run: EndedRun, forgetting: Forgetting): Promise<void> {
  const { outputs, signal } = forgetting
  if (await outputs.collect(run, signal)) await forgetRun(run, forgetting)
}

async function forgetRun({ runId, executor, handle }: EndedRun, { log, signal }: Forgetting): Promise<void> {
  if (signal.aborted) return
  await executor
    .forget?.(handle)
    .catch((err: unknown) => log.warn({ err, run: runId }, 'data of a run that is over cannot be removed now'))
}
