import { client } from '../app/connection.ts'
import { serverNowMs } from '../app/server-clock.ts'
import { CancelManyDocument, CancelOneDocument } from '../generated/graphql.ts'
import { openLayer } from '../layers/layer-store.ts'
import { formatDuration, plural } from '../parts/format.ts'
import { showToast } from '../parts/toasts.tsx'
import { type JobRow, jobStore } from '../rows/job-store.ts'
import { describeCancel, lostMs } from './consequences.ts'

const jobsPerCall = 1_000
const commandIdsMax = 5

/** Asks first, with what would be lost; then cancels in as few calls as possible. */
export function confirmCancel(jobs: readonly JobRow[], onDone?: () => void): void {
  const only = jobs.length === 1 ? jobs[0] : undefined
  const name = only ? (only.name ?? only.id) : plural(jobs.length, 'job')
  const ids = jobs.slice(0, commandIdsMax).map(({ id }) => id)
  openLayer({
    kind: 'CONFIRM',
    confirmation: {
      title: `Cancel ${name}?`,
      effect: describeCancel(jobs, serverNowMs()),
      jobs,
      command: `berth cancel ${ids.join(' ')}${jobs.length > commandIdsMax ? ' …' : ''}`,
      confirmText: only ? 'Cancel job' : `Cancel ${plural(jobs.length, 'job')}`,
      keepText: 'Keep',
      hasReason: true,
      run: async (reason) => {
        const input = reason.trim() === '' ? {} : { reason: reason.trim() }
        const refusal = only ? await cancelOne(only, input) : await cancelMany(jobs, input)
        if (refusal === null) onDone?.()
        return refusal
      },
    },
  })
}

async function cancelOne(job: JobRow, reason: { reason?: string }): Promise<string | null> {
  const { cancelJob } = await client.request(
    CancelOneDocument,
    { input: { jobId: job.id, ...reason } },
    { attempts: 4 },
  )
  if (cancelJob.__typename !== 'CancelJobSuccess') return cancelJob.message
  jobStore.put(cancelJob.job)
  showToast(cancelJob.changed ? `Cancelling ${job.name ?? job.id}` : `${job.name ?? job.id} had already ended`)
  return null
}

async function cancelMany(jobs: readonly JobRow[], reason: { reason?: string }): Promise<string | null> {
  let cancelled = 0
  const refusals: string[] = []
  for (let at = 0; at < jobs.length; at += jobsPerCall) {
    const jobIds = jobs.slice(at, at + jobsPerCall).map(({ id }) => id)
    const { cancelJobs } = await client.request(
      CancelManyDocument,
      { input: { selection: { jobIds }, ...reason } },
      { attempts: 4 },
    )
    if (cancelJobs.__typename !== 'CancelJobsSuccess') return cancelJobs.message
    for (const [i, result] of cancelJobs.results.entries()) {
      if (result.__typename !== 'CancelJobSuccess') refusals.push(`${cancelJobs.jobIds[i]}: ${result.message}`)
      else {
        cancelled += result.changed ? 1 : 0
        jobStore.put(result.job)
      }
    }
  }
  const lost = lostMs(jobs, serverNowMs())
  showToast(`Cancelling ${plural(cancelled, 'job')}${lost > 0 ? `, ${formatDuration(lost)} of work` : ''}`)
  if (refusals.length > 0) showToast(`Refused: ${refusals.join('; ')}`, { isTrouble: true })
  return null
}
