import type { JobEventRowFragment } from '../generated/graphql.ts'
import type { JobUpdate } from '../jobs/events.ts'
import { JobState } from './job-state.ts'
import { JobStatus, type StatusMetadata } from './job-status.ts'

/**
 * Converts the events of an update to statuses of PSI/J. Only events with a `psijState` change the state in PSI/J. Skipped
 * states are reported too: QUEUED before all others, ACTIVE before COMPLETED.
 */
export function toStatuses(update: JobUpdate, current: JobState): JobStatus[] {
  if (update.__typename === 'StreamReset')
    return update.resetReason === 'DELETED'
      ? [new JobStatus({ state: JobState.FAILED, time: null, message: 'The job was deleted' })]
      : []
  const { job, transitions, isFinal } = update
  const statuses: JobStatus[] = []
  let state = current
  const enter = (status: JobStatus) => {
    for (const skipped of [JobState.QUEUED, JobState.ACTIVE].filter((each) => isSkipped(each, state, status.state)))
      statuses.push(new JobStatus({ state: skipped, time: status.time }))
    statuses.push(status)
    state = status.state
  }
  for (const event of transitions)
    if (event.psijState && JobState.of(event.psijState).isGreaterThan(state))
      enter(statusOf(event, JobState.of(event.psijState)))
  // The job keeps its state longer than its events, so the final event may be deleted already.
  const known = JobState.of(job.psijState)
  if (isFinal && known.isGreaterThan(state)) enter(endOf(job, known))
  return statuses
}

function isSkipped(state: JobState, from: JobState, to: JobState): boolean {
  const isBetween = state.isGreaterThan(from) && to.isGreaterThan(state)
  return isBetween && (state === JobState.QUEUED || to === JobState.COMPLETED)
}

function statusOf(event: JobEventRowFragment, state: JobState): JobStatus {
  const { at, message, exitCode, stateReason: reason, to, runNumber: run } = event
  const nativeId = event.detail?.__typename === 'StateChangeDetail' ? event.detail.nativeId : null
  const metadata: StatusMetadata = {
    ...(to !== null && { berthState: to }),
    ...(reason !== null && { reason }),
    ...(run !== null && { run }),
    ...(nativeId !== null && { nativeId }),
  }
  return new JobStatus({ state, time: new Date(at), message, exitCode, metadata })
}

function endOf({ finishedAt, stateInfo, exitCode, nativeId }: EndedJob, state: JobState): JobStatus {
  const metadata = nativeId === null ? {} : { nativeId }
  const time = finishedAt === null ? null : new Date(finishedAt)
  return new JobStatus({ state, time, message: stateInfo, exitCode, metadata })
}

type EndedJob = Extract<JobUpdate, { __typename: 'JobTransitions' }>['job']
