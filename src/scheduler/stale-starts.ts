import type { Domain } from '../domain/domain.ts'
import { readRunState } from '../domain/jobs/runs.ts'
import { isFinal } from '../domain/state.ts'
import { type Executor, type Handle, isOver } from '../executors/executor.ts'

/**
 * Withdraws runs that a leader started after its term. A leader that freezes right before a start may thaw after the
 * next one found no trace of the run and ended it; then no leader knows the started run. If the run is to continue,
 * the present leader has the same handle, and the run is left alone. If the run is over, its process is stopped, and
 * its backend forgets it.
 *
 * That may take longer than a term, because the database or the node may be unreachable, and it delays no term. It is
 * retried as long as this process lives. A clean stop tries once more and logs the runs that it leaves.
 */

export interface Withdrawals {
  /** Returns at once and works in the background. */
  withdraw(started: Started): void
  stop(): Promise<void>
}

export interface Started {
  runId: string
  executor: Executor
  handle: Handle
}

const retryMsMax = 5_000
/** How often the end of a withdrawn run is checked. */
const lookMs = 250

export function createWithdrawals({ db, clock, log }: Domain, graceMs: number): Withdrawals {
  const stopping = new AbortController()
  const open = new Set<Promise<void>>()

  async function settle(started: Started): Promise<void> {
    for (let failures = 0; ; failures++) {
      const isLast = stopping.signal.aborted
      try {
        return await attempt(started)
      } catch (err) {
        const { runId: run } = started
        // Not `err`: the log reports trouble of the server once, and this for each run.
        if (isLast)
          return log.error(
            { run, cause: String(err) },
            'a run may have been started too late: if its process still runs, no server stops it',
          )
        log.warn({ err, run, what: 'withdraw', failures }, 'failed; retrying')
        await clock.sleep(Math.min(retryMsMax, 50 * 2 ** failures), stopping.signal)
      }
    }
  }

  async function attempt({ runId, executor, handle }: Started): Promise<void> {
    for (let isTold = false; ; ) {
      const state = await readRunState(db.sql, runId)
      if (state === 'STARTING' || state === 'RUNNING') return
      const ended = await hasEnded(executor, handle)
      if (!ended && !isTold) {
        isTold = true
        log.warn({ run: runId, state }, 'a run was started too late, and is stopped')
        await executor.stop(handle, graceMs)
      }
      // Until the run is over, the present leader may need the data of the backend.
      const isOver = state === null || isFinal(state)
      if (isOver && ended) return executor.forget?.(handle)
      if (stopping.signal.aborted) return
      await clock.sleep(lookMs, stopping.signal)
    }
  }

  return {
    withdraw(started) {
      const settled = settle(started).finally(() => open.delete(settled))
      open.add(settled)
    },
    async stop() {
      stopping.abort()
      await Promise.all(open)
    },
  }
}

async function hasEnded(executor: Executor, handle: Handle): Promise<boolean> {
  const [observation] = await executor.inspect([handle])
  return isOver(observation)
}
