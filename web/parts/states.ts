import type { JobState } from '../generated/graphql.ts'
import { formatServerText } from './server-text.ts'

export { stateGroups } from '../../src/client/text/states.ts'

export const stateWords: Readonly<Record<JobState, string>> = {
  BLOCKED: 'Blocked',
  QUEUED: 'Queued',
  STARTING: 'Starting',
  RUNNING: 'Running',
  CANCELLING: 'Cancelling',
  SUCCEEDED: 'Succeeded',
  FAILED: 'Failed',
  INTERRUPTED: 'Interrupted',
  CANCELLED: 'Cancelled',
}

export const states = Object.keys(stateWords) as readonly JobState[]

export const stateHelp: Readonly<Record<JobState, string>> = {
  BLOCKED: 'Waits for an approval',
  QUEUED: 'Waits for its turn',
  STARTING: 'Has its resources; the command is being started',
  RUNNING: 'The command runs',
  CANCELLING: 'Was asked to stop',
  SUCCEEDED: 'Ended with exit code 0',
  FAILED: 'Ended with an error',
  INTERRUPTED: 'Was preempted or lost its node, and does not run again',
  CANCELLED: 'Was cancelled',
}

const reasonWords: Readonly<Record<string, string>> = {
  APPROVAL_EXPIRED: 'approval expired',
  APPROVAL_PENDING: 'waits for approval',
  APPROVAL_REJECTED: 'approval rejected',
  BAD_SPEC: 'bad spec',
  CANCELLED: 'cancelled',
  DEPENDENCY_FAILED: 'a dependency failed',
  EXIT_CODE: 'exit code',
  INTERACTIVE_QUOTA: 'interactive quota',
  MAX_RUN_TIME: 'over its run time',
  NODE_LOST: 'node lost',
  NODE_TROUBLE: 'node trouble',
  OOM_KILLED: 'out of memory',
  PREEMPTED: 'preempted',
  PREEMPTING: 'preempting',
  SIGNAL: 'killed by a signal',
  START_FAILED: 'could not start',
  WORKDIR_NOT_FOUND: 'no working directory',
}

/** Formats a state reason of the API: MAX_RUN_TIME → "over its run time". */
export const describeReason = (reason: string): string =>
  reasonWords[reason] ?? reason.toLowerCase().replaceAll('_', ' ')

const said =
  /^(?:The command exited with code \d+; one of its processes was killed at its memory limit of [^;]*; retry with --mem \d+|Killed at its memory limit of [^;]*; retry with --mem \d+|The command exited with code \d+(?: \((?<meaning>[^)]*)\))?|Signal \w+ ended it|The run reached its maximum run time of \d+ s)(?:\. |$)/

/** Removes from `info` what the state, the reason and the exit code beside it already say; null: nothing is left. */
export function describeInfo(info: string | null): string | null {
  const { meaning } = info?.match(said)?.groups ?? {}
  const text = [meaning, info?.replace(said, '')].filter(Boolean).join('. ')
  return text === '' ? null : formatServerText(text)
}

/** Why the job ended: "exit 137" or "out of memory"; null: the state alone says it. */
export function describeEnd(job: { stateReason: string | null; exitCode: number | null }): string | null {
  const { stateReason, exitCode } = job
  if (stateReason === 'EXIT_CODE') return `exit ${exitCode}`
  if (stateReason === null || ['CANCELLED', 'APPROVED'].includes(stateReason)) return null
  return exitCode !== null && exitCode !== 0
    ? `${describeReason(stateReason)}, exit ${exitCode}`
    : describeReason(stateReason)
}
