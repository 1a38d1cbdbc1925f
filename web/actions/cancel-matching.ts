import { client } from '../app/connection.ts'
import { CancelManyDocument, CountStatesDocument, type JobFilter } from '../generated/graphql.ts'
import { openLayer } from '../layers/layer-store.ts'
import { formatCount, plural } from '../parts/format.ts'
import { showToast } from '../parts/toasts.tsx'
import { jobStore } from '../rows/job-store.ts'

const running = ['STARTING', 'RUNNING']
const waiting = ['BLOCKED', 'QUEUED']

/** Asks with the numbers of the server, which refuses when they have changed; then cancels call by call. */
export async function confirmCancelMatching(filter: JobFilter, onDone: () => void): Promise<void> {
  const { jobCounts } = await client.request(CountStatesDocument, { filter }, { attempts: 4 })
  const sum = (states: readonly string[]) =>
    jobCounts.rows.filter(({ key }) => states.includes(key ?? '')).reduce((all, { count }) => all + count, 0)
  const [active, idle] = [sum(running), sum(waiting)]
  const count = active + idle
  if (count === 0) return showToast('No job that matches can be cancelled')
  openLayer({
    kind: 'CONFIRM',
    confirmation: {
      title: `Cancel all ${plural(count, 'job')} that match?`,
      effect: `Stops ${plural(active, 'running job')}; ${plural(idle, 'waiting job')} leave the queue. Jobs that have ended stay as they are.`,
      jobs: [],
      count,
      command: null,
      confirmText: `Cancel ${plural(count, 'job')}`,
      keepText: 'Keep',
      hasReason: true,
      run: async (reason, onProgress) => {
        const report = (done: number) => onProgress(`${formatCount(done)} of ${formatCount(count)}`)
        const refusal = await cancelMatching({ filter, count, reason, report })
        if (refusal === null) onDone()
        return refusal
      },
    },
  })
}

interface Matching {
  filter: JobFilter
  count: number
  reason: string
  report: (done: number) => void
}

async function cancelMatching({ filter, count, reason, report }: Matching): Promise<string | null> {
  const refusals: string[] = []
  let cancelled = 0
  for (let remaining = count; remaining > 0; ) {
    const selection = { matching: { filter, expectedCount: remaining } }
    const input = { selection, ...(reason.trim() !== '' && { reason: reason.trim() }) }
    const { cancelJobs } = await client.request(CancelManyDocument, { input }, { attempts: 1 })
    if (cancelJobs.__typename !== 'CancelJobsSuccess') return cancelJobs.message
    let changed = 0
    for (const [i, result] of cancelJobs.results.entries()) {
      if (result.__typename !== 'CancelJobSuccess') refusals.push(`${cancelJobs.jobIds[i]}: ${result.message}`)
      else {
        jobStore.put(result.job)
        changed += result.changed ? 1 : 0
      }
    }
    cancelled += changed
    remaining = changed === 0 ? 0 : cancelJobs.remaining
    report(cancelled)
  }
  showToast(`Cancelling ${plural(cancelled, 'job')}`)
  if (refusals.length > 0) showToast(`Refused: ${refusals.slice(0, 10).join('; ')}`, { isTrouble: true })
  return null
}
