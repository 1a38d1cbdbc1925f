import { confirmCancel } from '../../features/jobs/actions/cancel-jobs.ts'
import { PeekJobDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { Button } from '../../parts/button.tsx'
import { nameJob } from '../../parts/server-text.ts'
import { showToast } from '../../parts/toasts.tsx'

/** Offers to cancel a waiting job after a changed copy of it was submitted. */
export async function offerCancel(id: string): Promise<void> {
  const { job } = await client.request(PeekJobDocument, { id }, { attempts: 4 })
  if (job?.stateCategory !== 'WAITING' || !job.allowedActions.includes('CANCEL')) return
  showToast(
    <>
      {nameJob(job)} still waits.{' '}
      <Button look="quiet" onClick={() => confirmCancel([job])}>
        Cancel it
      </Button>
    </>,
    { stays: true },
  )
}
