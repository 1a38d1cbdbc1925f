import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { readErrorCode } from '../backend/file-errors.ts'
import { abortWhenOver } from '../backend/run-end-watch.ts'
import { isBackendError } from '../backend/unreachable.ts'
import type { Handle, LogChunk } from '../executor.ts'
import type { ClusterApi } from './cluster.ts'
import { ForeignText } from './log-entries.ts'
import { makePodName } from './names.ts'
import { logBeginning, type PodPosition, parsePodPosition, readOutputAfter } from './output.ts'
import { jobContainer } from './pod.ts'

/**
 * Follows the output of the pods of a run. The kubelet merges stdout and stderr, so all output is STDOUT. After a lost
 * connection the output is read again from the kubelet's first byte up to the stored position: at most the 10 MiB of its newest
 * file. Output that was rotated away meanwhile is a gap, and so is the rest of a removed pod. A position does not tell whether
 * there was more: a pod that is missing from the first look on has a gap even if all was read, and so has a run without a pod
 * and a position.
 */

export interface Reading {
  cluster: ClusterApi
  clock: Clock
  log: Log
  signal: AbortSignal
  readState(replica: number): Promise<OutputState>
  /** Whether the last inspection saw the end. */
  isOver(): boolean
}

/**
 * WAITS: the command has not begun, as far as known. OVER: the output is complete. GONE: the output was removed with the pod.
 * NONE: the command never began.
 */
export type OutputState = 'WAITS' | 'GOES_ON' | 'OVER' | 'GONE' | 'NONE'

interface Position {
  pods: Readonly<Record<string, PodPosition>>
}

const pauseMs = 250
/** The output of an ended pod on an unreachable node is given up after this. */
const unreadableMsMax = 600_000

export function parsePositions(from: unknown): Position {
  const { pods } = (from ?? { pods: {} }) as Partial<Position>
  if (pods === undefined) throw new Error(`Not a log position of the executor kubernetes: ${JSON.stringify(from)}`)
  return { pods: Object.fromEntries(Object.entries(pods).map(([replica, at]) => [replica, parsePodPosition(at)])) }
}

export interface PodName {
  name: string
  replica: number
}

/** Adds the pods that had output and were removed. */
export function includeRemovedPods(pods: readonly PodName[], { pods: positions }: Position, handle: Handle): PodName[] {
  const removed = Object.keys(positions)
    .map(Number)
    .filter((replica) => !pods.some((pod) => pod.replica === replica))
  return [...pods, ...removed.map((replica) => ({ name: makePodName(handle, replica), replica }))]
}

/** Output of all pods, each in order; pieces of several pods are interleaved as they arrive. */
export async function* readLogs(pods: readonly PodName[], from: Position, reading: Reading): AsyncGenerator<LogChunk> {
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
    if (state === 'NONE') return
    hasBegun ||= last.at.at !== ''
    if (state === 'GONE') return yield* hasBegun ? restOf(last) : []
    hasBegun ||= state !== 'WAITS'
    const isOver = state === 'OVER'
    const { at } = last
    last = yield* readOnce(pod, { at, follow: !isOver && last.end !== 'MOVED' }, reading)
    if (isOver && last.end === 'READ' && last.at === at) return
    if (isTooLong(isOver && last.end === 'CUT_OFF')) return yield { gap: 'NOT_VISIBLE', bytes: 0, at: last.at }
    if (!isOver || last.end === 'CUT_OFF') await clock.sleep(pauseMs, signal)
  }
}

/** Whether a condition held at every call for longer than `maxMs`. */
function createTimeout(clock: Clock, maxMs: number): (holds: boolean) => boolean {
  let sinceMs: number | null = null
  return (holds) => {
    sinceMs = holds ? (sinceMs ?? clock.monotonicMs()) : null
    return sinceMs !== null && clock.monotonicMs() - sinceMs > maxMs
  }
}

interface Read {
  at: PodPosition
  /**
   * READ: the kubelet ended the answer, so there is no more output now. MOVED: the position must be searched in an answer that
   * ends.
   */
  end: 'READ' | 'MOVED' | 'CUT_OFF'
}

/** The gap of a removed pod. */
function* restOf({ end }: Read): Generator<PodChunk, void> {
  if (end !== 'READ') yield { gap: 'LOST', bytes: 0, at: logBeginning }
}

interface Once {
  at: PodPosition
  follow: boolean
}

async function* readOnce(pod: PodName, { at, follow }: Once, reading: Reading): AsyncGenerator<PodChunk, Read> {
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

const isExpected = (error: unknown) => isBackendError(error) || error instanceof ForeignText || isCutOff(error)

/** The connection broke in the middle of the answer. */
const isCutOff = (error: unknown) =>
  ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE'].includes(String(readErrorCode(error)))
