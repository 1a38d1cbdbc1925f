import type { Domain } from '../domain/domain.ts'
import { readRunState } from '../domain/jobs/runs.ts'
import { isFinal } from '../domain/state.ts'
import { type Executor, type Handle, isOver } from '../executors/executor.ts'
import { retryUntilSuccess } from '../platform/retry.ts'

/**
 * Stops runs that a deposed leader started too late. A leader may freeze right before a start and thaw after the next
 * leader found no trace of the run and ended it; then the started run is unknown to every leader. If the database still
 * has the run as alive, the present leader has the same handle and continues it. If it is over, its process is stopped
 * and its data is removed from the backend. This is retried for as long as this process lives and does not delay a
 * term. A clean stop tries once more and logs the runs that it leaves.
 */

export type Withdrawals = ReturnType<typeof createWithdrawals>

export interface Started {
  runId: string
  executor: Executor
  handle: Handle
}

const pollMs = 250

export function createWithdrawals({ db, clock, log }: Domain, graceMs: number) {
  const stopping = new AbortController()
  const open = new Set<Promise<void>>()

  async function settle(started: Started): Promise<void> {
    const { runId: run } = started
    const onFailure = (err: unknown, failures: number) =>
      log.warn({ err, run, what: 'withdraw', failures }, 'failed; retrying')
    const { signal } = stopping
    if (await retryUntilSuccess({ clock, signal, onFailure }, () => attempt(started).then(() => true))) return
    await attempt(started).catch((err: unknown) =>
      // Log errors are throttled by their `err`, but this message is needed for each run.
      log.error(
        { run, cause: String(err) },
        'a run may have been started too late: if its process still runs, no server stops it',
      ),
    )
  }

  async function attempt({ runId, executor, handle }: Started): Promise<void> {
    for (let isLogged = false; ; ) {
      const state = await readRunState(db.sql, runId)
      if (state === 'STARTING' || state === 'RUNNING') return
      const ended = await hasEnded(executor, handle)
      if (!ended && !isLogged) {
        isLogged = true
        log.warn({ run: runId, state }, 'a run was started too late, and is stopped')
        await executor.stop(handle, graceMs)
      }
      // While the run is alive, the present leader may need its data in the backend.
      const isOver = state === null || isFinal(state)
      if (isOver && ended) return executor.forget?.(handle)
      if (stopping.signal.aborted) return
      await clock.sleep(pollMs, stopping.signal)
    }
  }

  return {
    withdraw(started: Started): void {
      const settled = settle(started).finally(() => open.delete(settled))
      open.add(settled)
    },
    async stop(): Promise<void> {
      stopping.abort()
      await Promise.all(open)
    },
  }
}

const hasEnded = async (executor: Executor, handle: Handle) => isOver((await executor.inspect([handle]))[0])
