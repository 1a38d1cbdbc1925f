import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { readErrorCode } from '../backend/file-errors.ts'
import { abortWhenOver } from '../backend/run-end-watch.ts'
import { isBackendError } from '../backend/unreachable.ts'
import type { Handle, LogChunk } from '../executor.ts'
import type { ClusterApi } from './cluster.ts'
import { KubeletMessage } from './log-entries.ts'
import { makePodName } from './names.ts'
import { logBeginning, type PodPosition, readOutputAfter } from './output.ts'
import { jobContainer } from './pod.ts'

/**
 * Follows the output of the pods of a run. The kubelet merges stdout and stderr, so all output is STDOUT. After a lost
 * connection the output is read again from the kubelet's first byte up to the stored position, at most 10 MiB. Output
 * that was rotated away or removed with its pod is a gap. If a pod is already missing at the first read, or a run
 * without a stored position has no pod, a gap is reported even though all output may have been read.
 */

export interface Reading {
  cluster: ClusterApi
  clock: Clock
  log: Log
  signal: AbortSignal
  readState(replica: number): Promise<OutputState>
  isOver(): boolean
}

/** OVER: the output is complete. GONE: the output was removed with the pod. NONE: the command never began. */
export type OutputState = 'WAITS' | 'GOES_ON' | 'OVER' | 'GONE' | 'NONE'

export interface Positions {
  pods: Readonly<Record<string, PodPosition>>
}

const pauseMs = 250
/** Time after which the output of an ended pod on an unreachable node is given up. */
const unreadableMsMax = 600_000

export interface PodName {
  name: string
  replica: number
}

export function includeRemovedPods(
  pods: readonly PodName[],
  { pods: positions }: Positions,
  handle: Handle,
): PodName[] {
  const removed = Object.keys(positions)
    .map(Number)
    .filter((replica) => !pods.some((pod) => pod.replica === replica))
  return [...pods, ...removed.map((replica) => ({ name: makePodName(handle, replica), replica }))]
}

/** Reads the output of all pods: each in order, with pieces of several pods as they arrive. */
export async function* readLogs(pods: readonly PodName[], from: Positions, reading: Reading): AsyncGenerator<LogChunk> {
  let position = from
  const readers = new Map(
    pods.map((pod) => [pod.replica, podLog(pod, from.pods[pod.replica] ?? logBeginning, reading)] as const),
  )
  const ask = async (replica: number) => ({ replica, got: await readers.get(replica)?.next() })
  const asked = new Map([...readers.keys()].map((replica) => [replica, ask(replica)]))
  while (asked.size > 0) {
    const { replica, got } = await Promise.race(asked.values())
    asked.delete(replica)
    if (!got || got.done) continue
    const { at, ...chunk } = got.value
    position = { pods: { ...position.pods, [replica]: at } }
    yield { ...chunk, next: position }
    asked.set(replica, ask(replica))
  }
}

type PodChunk = { at: PodPosition } & (
  | { stream: 'STDOUT'; bytes: Uint8Array }
  | { gap: 'LOST' | 'NOT_VISIBLE'; bytes: number }
)

async function* podLog(pod: PodName, from: PodPosition, reading: Reading): AsyncGenerator<PodChunk> {
  const { clock, signal } = reading
  const isTooLong = createTimeout(clock, unreadableMsMax)
  let last: Read = { at: from, end: 'CUT_OFF' }
  let hasBegun = false
  while (!signal.aborted) {
    const state = await reading.readState(pod.replica)
    hasBegun ||= last.at.at !== ''
    const isAllRead = !hasBegun || last.end === 'READ'
    if (state === 'NONE' || (state === 'GONE' && isAllRead)) return
    if (state === 'GONE') return yield { gap: 'LOST', bytes: 0, at: logBeginning }
    hasBegun ||= state !== 'WAITS'
    const isOver = state === 'OVER'
    const { at } = last
    last = yield* readOnce(pod, { at, follow: !isOver && last.end !== 'MOVED' }, reading)
    if (isOver && last.end === 'READ' && last.at === at) return
    if (isTooLong(isOver && last.end === 'CUT_OFF')) return yield { gap: 'NOT_VISIBLE', bytes: 0, at: last.at }
    if (!isOver || last.end === 'CUT_OFF') await clock.sleep(pauseMs, signal)
  }
}

function createTimeout(clock: Clock, maxMs: number): (holds: boolean) => boolean {
  let sinceMs: number | null = null
  return (holds) => {
    sinceMs = holds ? (sinceMs ?? clock.monotonicMs()) : null
    return sinceMs !== null && clock.monotonicMs() - sinceMs > maxMs
  }
}

interface Read {
  at: PodPosition
  /** MOVED: the position must be searched for in a response without `follow`. */
  end: 'READ' | 'MOVED' | 'CUT_OFF'
}

async function* readOnce(
  pod: PodName,
  { at, follow }: { at: PodPosition; follow: boolean },
  reading: Reading,
): AsyncGenerator<PodChunk, Read> {
  const { cluster, log, signal } = reading
  const over = new AbortController()
  if (follow) void abortWhenOver(over, reading.clock, reading.isOver)
  const either = AbortSignal.any([signal, over.signal])
  const open = (timestamps: boolean) =>
    cluster.getStream(`pods/${pod.name}/log`, either, { container: jobContainer, timestamps, follow })
  let now = at
  try {
    const answer = await open(true)
    for await (const read of readOutputAfter(answer, at, { follows: follow, openPlain: () => open(false) })) {
      if (read === 'MOVED') return { at, end: 'MOVED' }
      now = read === 'LOST' ? logBeginning : read.next
      if (read === 'LOST') yield { gap: 'LOST', bytes: 0, at: now }
      else yield { stream: 'STDOUT', bytes: read.bytes, at: now }
    }
    return { at: now, end: 'READ' }
  } catch (err) {
    if (!isExpected(err) && !either.aborted) throw err
    if (!signal.aborted) log.debug({ err, pod: pod.name }, 'output was cut off; reconnecting')
    return { at: now, end: 'CUT_OFF' }
  } finally {
    over.abort()
  }
}

const isExpected = (error: unknown) => isBackendError(error) || error instanceof KubeletMessage || isCutOff(error)

const isCutOff = (error: unknown) =>
  ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE'].includes(String(readErrorCode(error)))
