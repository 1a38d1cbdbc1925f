import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { abortWhenOver } from '../backend/run-end-watch.ts'
import { isNotFound } from '../backend/unreachable.ts'
import type { Handle, LogChunk, Observation } from '../executor.ts'
import { isHandle } from './containers.ts'
import { type Engine, type EngineVersion, isPodmanVersion } from './engine.ts'
import { type PayloadPosition, readPayload } from './output.ts'

interface ReaderOptions {
  engine: Engine
  clock: Clock
  log: Log
  readState(handle: Handle): Promise<Observation['state']>
  isOver(handle: Handle): boolean
}

const pauseMs = 250

/** CUT_OFF: the connection broke early. ABSENT: the container does not exist. */
type Read = 'READ' | 'CUT_OFF' | 'ABSENT'

interface Reading {
  at: PayloadPosition
  follow: boolean
  signal: AbortSignal
}

interface EngineOutput {
  canFollow: boolean
  dropsNewlines: boolean
}

/** The first version of Docker whose log driver `local` returns every newline. */
const exactVersion = 23

const isAtEnd = (state: Observation['state']) => state === 'ended' || state === 'failed'

export class OutputReader {
  readonly #options: ReaderOptions
  #engineOutput: EngineOutput | null = null

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /** Reads the output. If the container is removed meanwhile, or is missing from the beginning, the rest is a gap. */
  async *read(handle: Handle, at: PayloadPosition, signal: AbortSignal): AsyncGenerator<LogChunk> {
    const isWhole = yield* this.#readToEnd(handle, at, signal)
    if (!isWhole && !signal.aborted && isHandle(handle)) yield* reportLoss(at)
  }

  /**
   * Reads Podman's output repeatedly, for at most a fifth of the time: if it is followed while it is written, Podman
   * mixes up and drops lines. The last read begins after the end of the run.
   */
  async *#readToEnd(handle: Handle, at: PayloadPosition, signal: AbortSignal): AsyncGenerator<LogChunk, boolean> {
    const { clock, readState } = this.#options
    let state = await readState(handle)
    let isWhole = false
    while (state !== 'gone' && !signal.aborted) {
      const beganMs = clock.monotonicMs()
      const isEnd = isAtEnd(state)
      const follow = !isEnd && (await this.#readEngineOutput()).canFollow
      const read = yield* this.#readOnce(handle, { at, follow, signal })
      if (isEnd && read !== 'CUT_OFF') return isWhole || read === 'READ'
      if (follow) isWhole = read === 'READ'
      state = await readState(handle)
      const pause = Math.max(pauseMs, follow ? 0 : 4 * (clock.monotonicMs() - beganMs))
      if (!isAtEnd(state) || read !== 'READ') await clock.sleep(pause, signal)
    }
    return isWhole
  }

  async #readEngineOutput(): Promise<EngineOutput> {
    if (this.#engineOutput) return this.#engineOutput
    const version = await this.#options.engine.get<EngineVersion>('/version')
    const isDocker = !isPodmanVersion(version)
    const dropsNewlines = isDocker && Number.parseInt(version.Version, 10) < exactVersion
    this.#engineOutput = { canFollow: isDocker, dropsNewlines }
    return this.#engineOutput
  }

  async *#readOnce(handle: Handle, { at, follow, signal }: Reading): AsyncGenerator<LogChunk, Read> {
    const { engine, clock, log, isOver } = this.#options
    const over = new AbortController()
    if (follow) void abortWhenOver(over, clock, () => isOver(handle))
    try {
      const query = { follow, stdout: true, stderr: true }
      const either = AbortSignal.any([signal, over.signal])
      const answer = await engine.getStream(`/containers/${handle}/logs`, either, query)
      const total = yield* readPayload(answer, at, await this.#readEngineOutput())
      if (!follow && total < at.bytes) yield* reportLoss(at)
      return 'READ'
    } catch (err) {
      if (isNotFound(err)) return 'ABSENT'
      if (!signal.aborted) log.debug({ err, container: handle }, 'output was cut off; reconnecting')
      return 'CUT_OFF'
    } finally {
      over.abort()
    }
  }
}

/** Reports the loss once per position for all servers. */
function* reportLoss(at: PayloadPosition): Generator<LogChunk> {
  if (at.lost) return
  at.lost = true
  yield { gap: 'LOST', bytes: 0, next: { ...at } }
}
