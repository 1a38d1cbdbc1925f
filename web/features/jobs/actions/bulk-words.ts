import { formatDuration, plural } from '../../../parts/format.ts'
import type { BulkAction } from './act-on-jobs.ts'
import { describeCancel, sumLostMs } from './consequences.ts'

/** Texts of the dialogs for actions on several jobs. */

export const bulkVerbs: Readonly<Record<BulkAction, string>> = {
  CANCEL: 'Cancel',
  RETRY: 'Retry',
  DELETE: 'Delete',
  SET_PRIORITY: 'Set the priority of',
}

const doneWords: Readonly<Record<BulkAction, string>> = {
  CANCEL: 'Cancelling',
  RETRY: 'Retried',
  DELETE: 'Deleted',
  SET_PRIORITY: 'Priority set:',
}

export const describeDone = (action: BulkAction, done: number): string => `${doneWords[action]} ${plural(done, 'job')}`

type Affected = Parameters<typeof describeCancel>[0]

export function describeEffect(action: BulkAction, jobs: Affected, nowMs: number): string {
  if (action === 'CANCEL') return describeCancel(jobs, nowMs)
  if (action === 'RETRY') return `Submits ${plural(jobs.length, 'new job')} with the same specs. The old ones stay.`
  if (action === 'SET_PRIORITY') return 'Jobs with a higher priority start first. Running jobs are not affected.'
  const ranMs = jobs.reduce((sum, { startedAt, finishedAt }) => sum + readRunMs(startedAt, finishedAt ?? null), 0)
  return `Removes ${plural(jobs.length, 'job')} with runs, events and logs${ranMs >= 1_000 ? ` of ${formatDuration(ranMs)} of work` : ''}. This cannot be undone.`
}

const readRunMs = (from: string | null, to: string | null) =>
  from === null || to === null ? 0 : Math.max(0, Date.parse(to) - Date.parse(from))

/** `counts`: number of matching jobs in each state. */
export function describeMatching(action: BulkAction, count: number, counts: ReadonlyMap<string, number>): string {
  const sum = (...states: readonly string[]) => states.reduce((all, state) => all + (counts.get(state) ?? 0), 0)
  switch (action) {
    case 'CANCEL': {
      const [active, waiting] = [sum('STARTING', 'RUNNING'), sum('BLOCKED', 'QUEUED')]
      return `Stops ${plural(active, 'running job')}, and ${plural(waiting, 'waiting job')} ${waiting === 1 ? 'leaves' : 'leave'} the queue. Jobs that have ended stay as they are.`
    }
    case 'RETRY':
      return `Submits ${plural(count, 'new job')}: one for each ended job that matches and that you have not retried yet.`
    case 'DELETE':
      return `Removes ${plural(count, 'ended job')} with runs, events and logs. Jobs that others wait for stay. This cannot be undone.`
    case 'SET_PRIORITY':
      return `Changes ${plural(count, 'waiting job')}. Jobs with a higher priority start first.`
  }
}

const commandIdsMax = 5

/** Returns the `berth` command for the action; null: no command does it for several jobs. */
export function toBerthCommand(action: BulkAction, ids: readonly string[]): string | null {
  const shown = `${ids.slice(0, commandIdsMax).join(' ')}${ids.length > commandIdsMax ? ' …' : ''}`
  if (action === 'CANCEL') return `berth cancel ${shown}`
  if (action === 'DELETE') return `berth rm ${shown}`
  if (ids.length !== 1) return null
  return action === 'RETRY' ? `berth retry ${shown}` : `berth priority ${shown} PRIORITY`
}

/** Completes the message after a cancellation: ", 4 h 10 min of work". */
export function describeLost(action: BulkAction, jobs: Affected, nowMs: number): string {
  const lost = action === 'CANCEL' ? sumLostMs(jobs, nowMs) : 0
  return lost > 0 ? `, ${formatDuration(lost)} of work` : ''
}
