import type { Domain } from '../domain/domain.ts'
import { readRunState } from '../domain/jobs/runs.ts'
import { isFinal } from '../domain/state.ts'
import { type Executor, type Handle, isOver } from '../executors/executor.ts'

/**
 * Withdraws runs that a leader started after its term. A leader that freezes right before a start may thaw after the
 * next one found no trace of the run and ended it; then no leader knows the started run. If the run is to continue,
 * the present leader has the same handle. If it is over, its process is stopped, and its backend forgets it. This is
 * retried as long as this process lives, and delays no term. A clean stop tries once more and logs the runs that it
 * leaves.
 */

export type Withdrawals = ReturnType<typeof createWithdrawals>

export interface Started {
  runId: string
  executor: Executor
  handle: Handle
}

const retryMsMax = 5_000
const lookMs = 250

export function createWithdrawals({ db, clock, log }: Domain, graceMs: number) {
  const stopping = new AbortController()
  const open = new Set<Promise<void>>()

  async function settle(started: Started): Promise<void> {
    for (let failures = 0; ; failures++) {
      const isLast = stopping.signal.aborted
      try {
        return await attempt(started)
      } catch (err) {
        const { runId: run } = started
        // The log reports an `err` of trouble once, and this for each run.
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
