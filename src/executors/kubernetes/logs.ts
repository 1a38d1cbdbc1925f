import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { cutWhenOver } from '../backend/run-end-watch.ts'
import type { Handle, LogChunk } from '../executor.ts'
import { type ClusterApi, ClusterAway, ClusterError } from './cluster.ts'
import { ForeignText } from './log-entries.ts'
import { podNameOf } from './names.ts'
import { logBeginning, outputAfter, type PodPosition, positionOf } from './output.ts'
import { containerName } from './pod.ts'

/**
 * Follows the output of the pods of a run. The kubelet merges stdout and stderr, so all output is STDOUT. A connection
 * that is lost is made again and read from the first byte that the kubelet has, up to the stored position: at most the
 * 10 MiB of its newest file. What the kubelet rotated away in the meantime is a gap, and so is the rest of a pod that was
 * removed meanwhile. A position does not tell whether there was more: a pod that is not there from the first look on has a
 * gap, also if all was read, and a run that is gone without a pod and a position has one.
 */

export interface Reading {
  cluster: ClusterApi
  clock: Clock
  log: Log
  signal: AbortSignal
  stateOf(replica: number): Promise<OutputState>
  /** Whether the run was over when it was inspected last. */
  isOver(): boolean
}

/**
 * WAITS: its command is not known to have begun. OVER: its output is complete. GONE: its output went with it. NONE: its
 * command never began.
 */
export type OutputState = 'WAITS' | 'GOES_ON' | 'OVER' | 'GONE' | 'NONE'

interface Position {
  /** By the number of the replica. */
  pods: Readonly<Record<string, PodPosition>>
}

const pauseMs = 250
/** The output of a pod that is over, on a node that does not answer, is given up after this. */
const unreadableMsMax = 600_000

export function podPositionsOf(from: unknown): Position {
  const { pods } = (from ?? { pods: {} }) as Partial<Position>
  if (pods === undefined) throw new Error(`Not a log position of the executor kubernetes: ${JSON.stringify(from)}`)
  return { pods: Object.fromEntries(Object.entries(pods).map(([replica, at]) => [replica, positionOf(at)])) }
}

export interface PodName {
  name: string
  replica: number
}

/** With the pods that had output and are not there any more. */
export function withRemoved(pods: readonly PodName[], { pods: positions }: Position, handle: Handle): PodName[] {
  const removed = Object.keys(positions)
    .map(Number)
    .filter((replica) => !pods.some((pod) => pod.replica === replica))
  return [...pods, ...removed.map((replica) => ({ name: podNameOf(handle, replica), replica }))]
}

/** Output of all pods, each in its order; pieces of several pods take turns as they come. */
export async function* logsOf(pods: readonly PodName[], from: Position, reading: Reading): AsyncGenerator<LogChunk> {
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
  const isTooLong = patienceFor(clock, unreadableMsMax)
  let last: Read = { at: from, end: 'CUT_OFF' }
  let hasBegun = false
  while (!signal.aborted) {
    const state = await reading.stateOf(pod.replica)
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

/** Whether something has been so, each time that it was asked, for longer than this. */
function patienceFor(clock: Clock, maxMs: number): (isSo: boolean) => boolean {
  let sinceMs: number | null = null
  return (isSo) => {
    sinceMs = isSo ? (sinceMs ?? clock.monotonicMs()) : null
    return sinceMs !== null && clock.monotonicMs() - sinceMs > maxMs
  }
}

interface Read {
  at: PodPosition
  /**
   * READ: the kubelet ended the answer by itself, so there is no more output now. MOVED: the position must be looked for
   * in an answer that ends.
   */
  end: 'READ' | 'MOVED' | 'CUT_OFF'
}

/** What a pod that is not there any more had beyond that. */
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
  if (follow) void cutWhenOver(over, reading.clock, reading.isOver)
  const either = AbortSignal.any([signal, over.signal])
  const open = (timestamps: boolean) =>
    cluster.stream(`pods/${pod.name}/log`, either, { container: containerName, timestamps, follow })
  let now = at
  try {
    const answer = await open(true)
    for await (const read of outputAfter(answer, at, { follows: follow, openPlain: () => open(false) })) {
      if (read === 'MOVED') return { at, end: 'MOVED' }
      now = read === 'LOST' ? logBeginning : read.next
      if (read === 'LOST') yield { gap: 'LOST', bytes: 0, at: now }
      else yield { stream: 'STDOUT', bytes: read.bytes, at: now }
    }
    return { at: now, end: 'READ' }
  } catch (err) {
    if (!isOrdinary(err) && !either.aborted) throw err
    if (!signal.aborted) log.debug({ err, pod: pod.name }, 'output was cut off; reading on')
    return { at: now, end: 'CUT_OFF' }
  } finally {
    over.abort()
  }
}

const isOrdinary = (error: unknown) =>
  error instanceof ClusterAway || error instanceof ClusterError || error instanceof ForeignText || isCutOff(error)

/** The connection broke in the middle of the answer. */
const isCutOff = (error: unknown) =>
  error instanceof Error && ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE'].includes(codeOf(error))

const codeOf = (error: Error): string => String((error as NodeJS.ErrnoException).code ?? '')
