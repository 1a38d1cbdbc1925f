import type { Ended, Observation } from '../executor.ts'
import { annotations } from './names.ts'
import type { Pod } from './objects.ts'
import { getScheduledCondition, type Part, type Surroundings } from './pod-state.ts'
import { getReplica } from './pods.ts'

/** The pods of a run begin together, and end together when one fails or is lost. */
export interface Gang {
  pods: readonly Pod[]
  replicas: number
}

/** If some pods of a run have a node and no other pod gets a node for this long, the run is given up. */
const placedInPartMsMax = 600_000

type Loss = Extract<Observation, { state: 'failed' | 'gone' }>

/** Returns the loss of a pod that was lost or cannot begin. Pods removed by a stop of the run are not lost. */
export function findLoss(parts: readonly Part[], gang: Gang): Loss | null {
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

/** Returns why a run is given up of which some pods hold nodes while the others get none; null: keep waiting. */
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

export const hasBegunTogether = ({ pods, replicas }: Gang): boolean =>
  replicas === 1 || pods.some(({ metadata }) => metadata.annotations?.[annotations.begin] !== undefined)

/** Returns the address of the first pod if all pods run and wait to begin; else null. */
export function findAddressToBegin(parts: readonly Part[], { pods, replicas }: Gang) {
  const isWanted = readGiveUp(parts, { pods, replicas }) === null && !isStopOrdered({ pods })
  const areUp = replicas > 1 && parts.length === replicas && isWanted && parts.every(({ kind }) => kind === 'runs')
  const first = pods.find((pod) => getReplica(pod) === 0)
  return areUp ? (first?.status.podIP ?? null) : null
}

/**
 * true: a replica failed or was lost, and the others must be ended. If no command can begin any more, the loss itself
 * is the end, because a stop would hide its cause. A run whose stop was requested ends as stopped.
 */
export function mustEndTogether(parts: readonly Part[], gang: Gang): boolean {
  const runs = parts.some(({ kind }) => kind === 'runs')
  const waits = parts.some(({ kind }) => kind === 'waits')
  if (findLoss(parts, gang)) return runs || (waits && (hasBegunTogether(gang) || isStopOrdered(gang)))
  return (runs || waits) && parts.some(isOverWithFailure)
}

const isStopOrdered = ({ pods }: Pick<Gang, 'pods'>) =>
  pods.some(({ metadata }) => metadata.annotations?.[annotations.stop] !== undefined)
const isOverWithFailure = (part: Part) => part.kind === 'over' && isFailure(part.ended)

export const isFailure = ({ exitCode }: Ended) => exitCode !== 0
