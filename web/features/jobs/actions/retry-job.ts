import { createIdempotencyKey } from '@berth-jobs/berth/client'
import { RetryOneDocument } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { nameJob } from '../../../parts/server-text.ts'
import { showToast } from '../../../parts/toasts.tsx'
import { type JobRow, jobStore } from '../rows/job-store.ts'

/** Submits the spec of a final job again. Returns the id of the new job; null: the server refused, and a toast says why. */
export async function retryJob(job: JobRow): Promise<string | null> {
  const idempotencyKey = createIdempotencyKey()
  const { retryJob: result } = await client.request(
    RetryOneDocument,
    { input: { jobId: job.id, idempotencyKey } },
    { attempts: 8 },
  )
  if (result.__typename !== 'RetryJobSuccess') {
    showToast(result.message, { isTrouble: true })
    return null
  }
  jobStore.put(result.job)
  showToast(`Retried ${nameJob(result.job)}`)
  return result.job.id
}
