import { CancelOneDocument } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { openLayer } from '../../../ground/layer-store.ts'
import { serverNowMs } from '../../../ground/server-clock.ts'
import { nameJob } from '../../../parts/server-text.ts'
import { showToast } from '../../../parts/toasts.tsx'
import { type JobRow, jobStore } from '../rows/job-store.ts'
import { confirmBulk } from './confirm-bulk.tsx'
import { describeCancel } from './consequences.ts'

/** Asks for confirmation, names the work that would be lost, and cancels in as few calls as possible. */
export function confirmCancel(jobs: readonly JobRow[], onDone?: () => void): void {
  const [job] = jobs
  if (!job || jobs.length > 1) {
    confirmBulk('CANCEL', jobs, onDone)
    return
  }
  const name = nameJob(job)
  openLayer({
    kind: 'CONFIRM',
    confirmation: {
      title: `Cancel ${name}?`,
      effect: describeCancel(jobs, serverNowMs()),
      jobs,
      command: `berth cancel ${job.id}`,
      confirmText: 'Cancel job',
      hasReason: true,
      run: async (reason) => {
        const refusal = await cancelOne(job, reason.trim() === '' ? {} : { reason: reason.trim() })
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
  showToast(cancelJob.changed ? `Cancelling ${nameJob(job)}` : `${nameJob(job)} had already ended`)
  return null
}
