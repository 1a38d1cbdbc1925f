import { describeInteractiveLimit } from '../../domain/jobs/one-interactive.ts'
import type { Lane } from '../../domain/lanes.ts'
import { makeReason, type Reason } from '../../domain/reason.ts'
import type { WorldView } from './model.ts'

/**
 * One interactive run per user. Runs of this pool are checked here, those of other pools at the commit of the start
 * (domain/jobs/one-interactive.ts); the partial unique index decides.
 */

export type InteractiveVerdict =
  | { kind: 'GO' }
  /** The user's interactive run is ending: users cancel one and submit the next at once. */
  | { kind: 'WAIT'; reason: Reason }
  /** The job ends with this message. */
  | { kind: 'REFUSE'; info: string }

export function interactiveVerdict(world: Pick<WorldView, 'running'>, lane: Lane): InteractiveVerdict {
  let leaving: string | null = null
  for (const { jobId, state, lane: other } of world.running.values()) {
    if (!other.interactive || other.userId !== lane.userId) continue
    if (state !== 'CANCELLING') return { kind: 'REFUSE', info: describeInteractiveLimit(jobId) }
    leaving = jobId
  }
  return leaving === null ? { kind: 'GO' } : { kind: 'WAIT', reason: quotaReason(leaving) }
}

const quotaReason = (jobId: string) =>
  makeReason('INTERACTIVE_QUOTA', `Waiting for ${jobId} to end: each user may run one interactive job at a time`, jobId)
