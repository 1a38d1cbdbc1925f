import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { cutWhenOver } from '../backend/run-end-watch.ts'
import type { Handle, LogChunk, Observation } from '../executor.ts'
import { type Engine, type EngineVersion, isNotFound, isOfPodman } from './engine.ts'
import { isHandle } from './handle.ts'
import { type PayloadPosition, payload } from './output.ts'

/** Reads the output of containers from the engine, to the end of their runs. */

interface ReaderOptions {
  engine: Engine
  clock: Clock
  log: Log
  stateOf(handle: Handle): Promise<Observation['state']>
  /** Whether it was over when it was inspected last. */
  isOver(handle: Handle): boolean
}

const pauseMs = 250

/** CUT_OFF: the connection ended in the middle. ABSENT: there is no such container. */
type Read = 'READ' | 'CUT_OFF' | 'ABSENT'

interface Reading {
  at: PayloadPosition
  follow: boolean
  signal: AbortSignal
}

/** How an engine returns output. */
interface Reads {
  /** Output is whole if it is followed while it is written. */
  follows: boolean
  dropsNewlines: boolean
}

function readsOf(version: EngineVersion): Reads {
  const isDocker = !isOfPodman(version)
  return { follows: isDocker, dropsNewlines: isDocker && Number.parseInt(version.Version, 10) < exactVersion }
}

/** The first version of Docker whose log driver `local` returns every newline. */
const exactVersion = 23

/** The container is there, and its last byte is written. */
const isAtEnd = (state: Observation['state']) => state === 'ended' || state === 'failed'

/** Output after a position, which moves with it. */
export type OutputReader = (handle: Handle, at: PayloadPosition, signal: AbortSignal) => AsyncGenerator<LogChunk>

export function createOutputReader({ engine, clock, log, stateOf, isOver }: ReaderOptions): OutputReader {
  /** Facts of the engine; null: not asked yet. */
  let reads: Reads | null = null

  /**
   * If another program removes the container before its output was read, the rest is lost. A position does not tell
   * whether there was more: a container that is not there from the first look on has a gap, also if all was read.
   */
  async function* read(handle: Handle, at: PayloadPosition, signal: AbortSignal): AsyncGenerator<LogChunk> {
    const isWhole = yield* readToEnd(handle, at, signal)
    if (!isWhole && !signal.aborted && isHandle(handle)) yield* tellLoss(at)
  }

  /**
   * Docker's output is followed while the run goes on. Podman mixes up and drops lines if output is followed while it
   * is written, so its output is read again and again, with pauses that keep this below a fifth of the time. The last
   * read always begins after the end of the run.
   */
  async function* readToEnd(
    handle: Handle,
    at: PayloadPosition,
    signal: AbortSignal,
  ): AsyncGenerator<LogChunk, boolean> {
    let state = await stateOf(handle)
    let isWhole = false
    while (state !== 'gone' && !signal.aborted) {
      const beganMs = clock.monotonicMs()
      const isEnd = isAtEnd(state)
      const follow = !isEnd && (await readReads()).follows
      const read = yield* readOutput(handle, { at, follow, signal })
      if (isEnd && read !== 'CUT_OFF') return isWhole || read === 'READ'
      if (follow) isWhole = read === 'READ'
      state = await stateOf(handle)
      if (!isAtEnd(state) || read !== 'READ') await clock.sleep(restMs(follow, beganMs), signal)
    }
    return isWhole
  }

  const restMs = (follow: boolean, beganMs: number) =>
    Math.max(pauseMs, follow ? 0 : 4 * (clock.monotonicMs() - beganMs))

  const readReads = async (): Promise<Reads> => {
    reads ??= readsOf(await engine.get<EngineVersion>('/version'))
    return reads
  }

  async function* readOutput(handle: Handle, { at, follow, signal }: Reading): AsyncGenerator<LogChunk, Read> {
    const over = new AbortController()
    if (follow) void cutWhenOver(over, clock, () => isOver(handle))
    try {
      const query = { follow, stdout: true, stderr: true }
      const either = AbortSignal.any([signal, over.signal])
      const had = yield* payload(
        await engine.stream(`/containers/${handle}/logs`, either, query),
        at,
        await readReads(),
      )
      if (!follow && had < at.bytes) yield* tellLoss(at)
      return 'READ'
    } catch (err) {
      if (isNotFound(err)) return 'ABSENT'
      if (!signal.aborted) log.debug({ err, container: handle }, 'output was cut off; reading on')
      return 'CUT_OFF'
    } finally {
      over.abort()
    }
  }

  return read
}

/** Once at each position, also by the servers that read on. */
function* tellLoss(at: PayloadPosition): Generator<LogChunk> {
  if (at.lost) return
  at.lost = true
  yield { gap: 'LOST', bytes: 0, next: { ...at } }
}
