import type { BackendPlacement, Ended, Observation } from '../executor.ts'
import { findLoss, type Gang, hasBegunTogether, isFailure, mustEndTogether } from './gang.ts'
import type { Pod } from './objects.ts'
import { getImageDigest, type Part } from './pod-state.ts'

interface Observed extends Gang {
  nativeId: string
}

/** The run ends when all of its pods are over. If one pod is lost, the run is lost. */
export function observeRun(parts: readonly Part[], observed: Observed): Observation {
  const { pods, nativeId } = observed
  const placements = pods.flatMap((pod) => placementOf(pod))
  const silent = parts.find((part) => part.kind === 'unreachable')
  if (silent) return { state: 'unreachable', info: silent.info, neverBegan: !hasBegunTogether(observed) }
  const loss = findLoss(parts, observed)
  const runs = parts.filter((part) => part.kind === 'runs')
  const waits = parts.find((part) => part.kind === 'waits')
  if (loss && !mustEndTogether(parts, observed)) return loss
  // The peers of the lost pod are being stopped.
  if (loss) return hasBegunTogether(observed) ? { state: 'running', nativeId, placements } : starting(nativeId, loss)
  if (waits) return starting(nativeId, waits)
  const imageDigest = pods.map(getImageDigest).find(Boolean)
  const image = imageDigest ? { imageDigest } : {}
  if (runs.length === 0) return { ...endOfAll(parts), ...image, nativeId, placements }
  if (!hasBegunTogether(observed))
    return starting(nativeId, { info: 'The pods of the run are about to begin together' })
  const ip = pods[0]?.status.podIP
  const startedAt = new Date(Math.max(...runs.map((run) => run.startedAt.getTime())))
  return { state: 'running', startedAt, nativeId, placements, ...image, ...(ip && { ip }) }
}

const starting = (nativeId: string, { info, message }: { info?: string; message?: string }): Observation => {
  const why = info ?? message
  return { state: 'starting', nativeId, ...(why && { info: why }) }
}

const placementOf = ({ spec: { nodeName } }: Pod): BackendPlacement[] =>
  nodeName === undefined ? [] : [{ node: nodeName, gpuIds: [] }]

/**
 * Returns the end of the run: the end of the replica that failed first without being stopped or, without a failure, of
 * the last replica.
 */
function endOfAll(parts: readonly Part[]): Ended {
  const ends = parts.flatMap((part) => (part.kind === 'over' ? [part.ended] : [])).toSorted(byEnd)
  const failed = ends.find(({ exitCode, stopped }) => exitCode !== 0 && !stopped) ?? ends.find(isFailure)
  const last = ends.at(-1)
  if (!last) throw new Error('Cannot compute the end of a run without pods')
  const { finishedAt } = last
  return { ...(failed ?? last), ...(finishedAt && { finishedAt }) }
}

const byEnd = (a: Ended, b: Ended) => (a.finishedAt?.getTime() ?? 0) - (b.finishedAt?.getTime() ?? 0)
