import type { BackendPlacement, Ended, Observation } from '../executor.ts'
import { annotations } from './names.ts'
import type { Pod } from './objects.ts'
import { getImageDigest, getScheduledCondition, type Part, type Surroundings } from './pod-state.ts'
import { getReplica } from './pods.ts'

/** If some pods of a run have a node and no other pod gets a node for this long, the run is given up. */
const placedInPartMsMax = 600_000

interface Observed {
  pods: readonly Pod[]
  replicas: number
  nativeId: string
}

/** The run ends when all of its pods are over. If one pod is lost, the run is lost. */
export function observeRun(parts: readonly Part[], observed: Observed): Observation {
  const { pods, nativeId } = observed
  const placements = pods.flatMap((pod) => placementOf(pod))
  const silent = parts.find((part) => part.kind === 'unreachable')
  if (silent) return { state: 'unreachable', info: silent.info, neverBegan: !hasBegunTogether(observed) }
  const loss = lossOf(parts, observed)
  const runs = parts.filter((part) => part.kind === 'runs')
  const waits = parts.find((part) => part.kind === 'waits')
  if (loss && !mustEndTogether(parts, observed)) return loss
  // The peers of the lost pod are being ended.
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

type Loss = Extract<Observation, { state: 'failed' | 'gone' }>

/** The loss of a pod that was lost or cannot begin. A stop of the run may remove pods; this is not a loss. */
function lossOf(parts: readonly Part[], gang: Gang): Loss | null {
  const { pods, replicas } = gang
  const why = readGiveUp(parts, gang)
  // A pod may give up waiting at the same time as the others begin.
  if (why !== null && hasBegunTogether(gang)) return { state: 'gone', info: why }
  if (why !== null) return { state: 'failed', reason: 'NOT_TOGETHER', message: why }
  for (const part of parts)
    if (part.kind === 'failed') return { state: 'failed', reason: part.reason, message: part.message }
  const gone = parts.find((part) => part.kind === 'gone')
  if (gone) return { state: 'gone', info: gone.info, ...(gone.cause && { cause: gone.cause }) }
  const isStopped = pods.some(({ metadata }) => metadata.annotations?.[annotations.stopRun] !== undefined)
  return parts.length < replicas && !isStopped ? { state: 'gone', info: 'A pod was deleted' } : null
}

function readGiveUp(parts: readonly Part[], { pods }: Gang): string | null {
  const noted = pods.map(({ metadata }) => metadata.annotations?.[annotations.givenUp]).find(Boolean)
  return noted ?? parts.find((part) => part.kind === 'alone')?.info ?? null
}

/** The reason to give up a run of which some pods hold nodes while the others get none; null: keep waiting. */
export function explainGiveUp(gang: Gang, { toTime, nowMs }: Pick<Surroundings, 'toTime' | 'nowMs'>): string | null {
  const { pods, replicas } = gang
  const waiting = pods.find(({ spec }) => spec.nodeName === undefined)
  const placed = pods.flatMap((pod) =>
    getScheduledCondition(pod)?.status === 'True' ? (getScheduledCondition(pod)?.lastTransitionTime ?? []) : [],
  )
  if (!waiting || placed.length === 0 || hasBegunTogether(gang) || isStopOrdered(gang)) return null
  if (nowMs - Math.max(...placed.map((at) => toTime(at).getTime())) < placedInPartMsMax) return null
  const seconds = placedInPartMsMax / 1000
  const why = getScheduledCondition(waiting)?.message ?? 'its scheduler gives no reason'
  return `The cluster placed ${placed.length} of ${replicas} pods, and no other one within ${seconds} s: ${why}`
}

const starting = (nativeId: string, { info, message }: { info?: string; message?: string }): Observation => {
  const why = info ?? message
  return { state: 'starting', nativeId, ...(why && { info: why }) }
}

type Gang = Pick<Observed, 'pods' | 'replicas'>

export const hasBegunTogether = ({ pods, replicas }: Gang): boolean =>
  replicas === 1 || pods.some(({ metadata }) => metadata.annotations?.[annotations.begin] !== undefined)

/** The address of the first pod if all pods run and wait to begin; else null. */
export function addressToBegin(parts: readonly Part[], { pods, replicas }: Gang) {
  const isWanted = readGiveUp(parts, { pods, replicas }) === null && !isStopOrdered({ pods })
  const areUp = replicas > 1 && parts.length === replicas && isWanted && parts.every(({ kind }) => kind === 'runs')
  const first = pods.find((pod) => getReplica(pod) === 0)
  return areUp ? (first?.status.podIP ?? null) : null
}

const placementOf = ({ spec: { nodeName } }: Pod): BackendPlacement[] =>
  nodeName === undefined ? [] : [{ node: nodeName, gpuIds: [] }]

/**
 * The end of the run: that of the replica that failed first without being stopped or, without a failure, that of the
 * last replica.
 */
function endOfAll(parts: readonly Part[]): Ended {
  const ends = parts.flatMap((part) => (part.kind === 'over' ? [part.ended] : [])).toSorted(byEnd)
  const failed = ends.find(({ exitCode, stopped }) => exitCode !== 0 && !stopped) ?? ends.find(isFailure)
  const last = ends.at(-1)
  if (!last) throw new Error('A run without pods has no end')
  const { finishedAt } = last
  return { ...(failed ?? last), ...(finishedAt && { finishedAt }) }
}

const byEnd = (a: Ended, b: Ended) => (a.finishedAt?.getTime() ?? 0) - (b.finishedAt?.getTime() ?? 0)
const isFailure = ({ exitCode }: Ended) => exitCode !== 0

/**
 * true: a replica failed or was lost, and the others must be ended. If no command can begin any more, the loss itself
 * is the end, because a stop would hide its cause. A run whose stop was requested ends as stopped.
 */
export function mustEndTogether(parts: readonly Part[], gang: Gang): boolean {
  const runs = parts.some(({ kind }) => kind === 'runs')
  const waits = parts.some(({ kind }) => kind === 'waits')
  if (lossOf(parts, gang)) return runs || (waits && (hasBegunTogether(gang) || isStopOrdered(gang)))
  return (runs || waits) && parts.some(isOverWithFailure)
}

const isStopOrdered = ({ pods }: Pick<Gang, 'pods'>) =>
  pods.some(({ metadata }) => metadata.annotations?.[annotations.stop] !== undefined)
const isOverWithFailure = (part: Part) => part.kind === 'over' && isFailure(part.ended)
