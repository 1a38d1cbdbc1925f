import { useEffect } from 'react'
import type { JobState } from '../../generated/graphql.ts'

const icons: Readonly<Record<JobState, string>> = {
  BLOCKED: 'waiting',
  QUEUED: 'waiting',
  STARTING: 'running',
  RUNNING: 'running',
  CANCELLING: 'running',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  INTERRUPTED: 'failed',
  CANCELLED: 'waiting',
}

function setIcon(name: string) {
  document.querySelector('#favicon')?.setAttribute('href', `./${name}.svg`)
}

/** Makes the icon of the browser tab show the state of the job. */
export function useStateIcon(state: JobState | undefined): void {
  useEffect(() => {
    if (state) setIcon(`state-${icons[state]}`)
    return () => setIcon('favicon')
  }, [state])
}
