import { quotaInfo } from '../../domain/jobs/one-interactive.ts'
import type { Lane } from '../../domain/lanes.ts'
import { because, type Reason } from '../../domain/reason.ts'
import type { WorldView } from './model.ts'

/**
 * One interactive run per user. The runs of this pool are known here; a run of the user in another pool is found when the start is
 * committed (domain/jobs/one-interactive.ts), and the partial unique index has the last word.
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
    if (state !== 'CANCELLING') return { kind: 'REFUSE', info: quotaInfo(jobId) }
    leaving = jobId
  }
  return leaving === null ? { kind: 'GO' } : { kind: 'WAIT', reason: quotaReason(leaving) }
}

const quotaReason = (jobId: string) =>
  because('INTERACTIVE_QUOTA', `Waiting for ${jobId} to end: each user may run one interactive job at a time`, jobId)
