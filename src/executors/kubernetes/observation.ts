import type { BackendPlacement, Ended, Observation } from '../executor.ts'
import { annotations } from './names.ts'
import type { Pod } from './objects.ts'
import { type Part, type Surroundings, scheduledOf } from './pod-state.ts'
import { replicaOf } from './pods.ts'

/** What the pods of a run mean together: each is a part (part.ts), and the run is what its parts are together. */

/** A run of several pods is given up if some have a node and, for this long, no other one got one. */
const placedInPartMsMax = 600_000

export interface Observed {
  pods: readonly Pod[]
  /** Number of pods that the run has. */
  replicas: number
  /** For people: namespace and name. */
  nativeId: string
}

/** The run ends when all of its pods are over; what one of them lost is lost to all. */
export function runObservation(parts: readonly Part[], observed: Observed): Observation {
  const { pods, nativeId } = observed
  const placements = pods.flatMap((pod) => placementOf(pod))
  const silent = parts.find((part) => part.kind === 'unreachable')
  if (silent) return { state: 'unreachable', info: silent.info, neverBegan: !hasBegunTogether(observed) }
  const loss = lossOf(parts, observed)
  const runs = parts.filter((part) => part.kind === 'runs')
  const waits = parts.find((part) => part.kind === 'waits')
  if (loss && !mustEndTogether(parts, observed)) return loss
  // Its peers are being ended.
  if (loss) return hasBegunTogether(observed) ? { state: 'running', nativeId, placements } : starting(nativeId, loss)
  if (waits) return starting(nativeId, waits)
  if (runs.length === 0) return { ...endOfAll(parts), nativeId, placements }
  if (!hasBegunTogether(observed)) return starting(nativeId, { info: 'Its pods are about to begin together' })
  const ip = pods[0]?.status.podIP
  const startedAt = new Date(Math.max(...runs.map((run) => run.startedAt.getTime())))
  return { state: 'running', startedAt, nativeId, placements, ...(ip && { ip }) }
}

type Loss = Extract<Observation, { state: 'failed' | 'gone' }>

/** A pod that was lost, or that cannot begin. A pod that is missing after the stop of the run was removed by that. */
function lossOf(parts: readonly Part[], gang: Gang): Loss | null {
  const { pods, replicas } = gang
  const why = whyGivenUp(parts, gang)
  // A pod that waited in vain may have ended in the moment in which the others were told to begin.
  if (why !== null && hasBegunTogether(gang)) return { state: 'gone', info: why }
  if (why !== null) return { state: 'failed', reason: 'NOT_TOGETHER', message: why }
  for (const part of parts)
    if (part.kind === 'failed') return { state: 'failed', reason: part.reason, message: part.message }
  const gone = parts.find((part) => part.kind === 'gone')
  if (gone) return { state: 'gone', info: gone.info, ...(gone.cause && { cause: gone.cause }) }
  const isStopped = pods.some(({ metadata }) => metadata.annotations?.[annotations.stopRun] !== undefined)
  return parts.length < replicas && !isStopped ? { state: 'gone', info: 'A pod was deleted' } : null
}

/** null: it is not given up. */
function whyGivenUp(parts: readonly Part[], { pods }: Gang): string | null {
  const told = pods.map(({ metadata }) => metadata.annotations?.[annotations.givenUp]).find(Boolean)
  return told ?? parts.find((part) => part.kind === 'alone')?.info ?? null
}

/**
 * Why a run of several pods is to be given up: those that have a node keep its resources from everything else, and wait
 * for pods that get none. null: it is not.
 */
export function whyToGiveUp(gang: Gang, { toTime, nowMs }: Pick<Surroundings, 'toTime' | 'nowMs'>): string | null {
  const { pods, replicas } = gang
  const waiting = pods.find(({ spec }) => spec.nodeName === undefined)
  const placed = pods.flatMap((pod) =>
    scheduledOf(pod)?.status === 'True' ? (scheduledOf(pod)?.lastTransitionTime ?? []) : [],
  )
  if (!waiting || placed.length === 0 || hasBegunTogether(gang) || isStopOrdered(gang)) return null
  if (nowMs - Math.max(...placed.map((at) => toTime(at).getTime())) < placedInPartMsMax) return null
  const seconds = placedInPartMsMax / 1000
  const why = scheduledOf(waiting)?.message ?? 'its scheduler does not say why'
  return `The cluster placed ${placed.length} of ${replicas} pods, and no other one within ${seconds} s: ${why}`
}

const starting = (nativeId: string, { info, message }: { info?: string; message?: string }): Observation => {
  const told = info ?? message
  return { state: 'starting', nativeId, ...(told && { info: told }) }
}

type Gang = Pick<Observed, 'pods' | 'replicas'>

/** Whether a command may have begun: with several pods, one of them has been told to begin. */
export const hasBegunTogether = ({ pods, replicas }: Gang): boolean =>
  replicas === 1 || pods.some(({ metadata }) => metadata.annotations?.[annotations.begin] !== undefined)

/** The address of the first pod, if all pods run and wait for it. */
export function addressToBegin(parts: readonly Part[], { pods, replicas }: Gang) {
  const isWanted = whyGivenUp(parts, { pods, replicas }) === null && !isStopOrdered({ pods })
  const areUp = replicas > 1 && parts.length === replicas && isWanted && parts.every(({ kind }) => kind === 'runs')
  const first = pods.find((pod) => replicaOf(pod) === 0)
  return areUp ? (first?.status.podIP ?? null) : null
}

const placementOf = ({ spec: { nodeName } }: Pod): BackendPlacement[] =>
  nodeName === undefined ? [] : [{ node: nodeName, gpuIds: [] }]

/** The end of the replica that failed first by itself, else of the one that ended last. */
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
 * A replica failed or is lost, and others must end before the run is over. If nothing runs and no command was told to
 * begin, none can begin any more, so the loss is told at once: to end pods that wait would mark the run as stopped, and
 * its cause would be lost. A run whose stop was ordered keeps that mark as its end.
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
