import { lazy, Suspense, useState } from 'react'
import { loadPart } from '../../../ground/load-part.ts'
import { Empty, Loading } from '../../../parts/page-states.tsx'
import type { PageJob } from '../use-job.ts'

const View = lazy(async () => ({ default: (await loadPart(() => import('./terminal-view.tsx'))).TerminalView }))

/** A shell in the running job. Its output stays on the page after the job has ended. */
export function TerminalTab({ job }: { job: PageJob }) {
  const [isOpened, setOpened] = useState(false)
  const isRunning = job.state === 'RUNNING'
  if (isRunning && !isOpened) setOpened(true)
  if (!isRunning && !isOpened)
    return <Empty title="The job is not running">A terminal opens in a job while it runs.</Empty>
  return (
    <Suspense fallback={<Loading />}>
      <View jobId={job.id} isRunning={isRunning} />
    </Suspense>
  )
}
