import type { Clock } from '../../platform/clock.ts'
import { BackendRefused } from '../backend/unreachable.ts'
import { type Handle, type RunSpec, StartFailed } from '../executor.ts'
import {
  describeDisplayEnd,
  describeDisplayFailure,
  describeLostDisplay,
  displayCapabilities,
  displayLimits,
  displayPipe,
  displayScript,
  displaySecondsMax,
  requireDisplayImage,
  xSocketFolder,
} from '../process/display.ts'
import { hasPath } from './archive.ts'
import { type Containers, displayName, type NamedBody } from './containers.ts'
import type { Engine } from './engine.ts'
import type { Images } from './image.ts'
import { labels } from './labels.ts'
import { type Inspected, isUnstarted, parsePhase } from './observation.ts'
import { copyPosition, readPayload } from './output.ts'

/**
 * Runs the X11 display of a run in a second container, without a network. The container of the job shares the unnamed
 * volume with the socket. The display is removed by `find`, or together with the container of the job.
 */

export interface DisplayOrder {
  run: RunSpec
  handle: Handle
  unwanted: AbortSignal | undefined
  tell(info: string): void
}

interface DisplayOptions {
  engine: Engine
  containers: Containers
  images: Images
  x11Image: string | undefined
  labels: Readonly<Record<string, string>>
  clock: Clock
}

const pollMs = 100
const logBytesMax = '1m'
const outputCharsMax = 500
const linesMax = 5

export class Displays {
  readonly #options: DisplayOptions

  constructor(options: DisplayOptions) {
    this.#options = options
  }

  /**
   * Pulls the image of the display if the engine does not have it. An invalid name is a mistake of the administrator,
   * not of the job.
   */
  async findImage({ unwanted, tell }: DisplayOrder): Promise<string> {
    const { images, x11Image } = this.#options
    const name = requireDisplayImage('container', x11Image)
    try {
      return (await images.find(name, { unwanted, tell })).id
    } catch (error) {
      if (!(error instanceof StartFailed)) throw error
      throw failed(error.message, error)
    }
  }

  /** Waits until the display is ready. Throws StartFailed, or the reason of `unwanted`. */
  async start({ run, handle, unwanted, tell }: DisplayOrder, imageId: string): Promise<void> {
    const { containers, labels, clock } = this.#options
    const named = { name: displayName(handle), body: makeDisplayBody(run, imageId, labels) }
    const earlier = await containers.inspect(named.name)
    if (earlier && isOver(earlier)) await containers.remove(named.name)
    tell('The X11 display is starting')
    for (const sinceMs = clock.monotonicMs(); !(await this.#isReady(named)); await clock.sleep(pollMs, unwanted)) {
      unwanted?.throwIfAborted()
      if (clock.monotonicMs() - sinceMs > displaySecondsMax * 1000)
        throw failed(`it is not ready within ${displaySecondsMax} s${await this.#readLastOutput(named.name)}`)
    }
  }

  async #isReady(named: NamedBody): Promise<boolean> {
    const found = await this.#startContainer(named)
    if (found && isOver(found)) throw failed(`${explainEnd(found)}${await this.#readLastOutput(named.name)}`)
    return found !== null && (await hasPath(this.#options.engine, named.name, displayPipe))
  }

  /** null: another server is creating the container, and the engine does not list it yet. */
  async #startContainer(named: NamedBody): Promise<Inspected | null> {
    const { engine, containers } = this.#options
    try {
      const found = await containers.inspect(named.name)
      const exists = found !== null || (await containers.create(named)) !== null
      if (exists && (found === null || isUnstarted(found))) await engine.post(`/containers/${named.name}/start`)
      return found ?? (await containers.inspect(named.name))
    } catch (error) {
      throw error instanceof BackendRefused ? failed(error.message, error) : error
    }
  }

  async #readLastOutput(name: string): Promise<string> {
    const query = { stdout: true, stderr: true, tail: linesMax }
    const { signal } = new AbortController()
    const answer = await this.#options.engine.getStream(`/containers/${name}/logs`, signal, query)
    const pieces: Uint8Array[] = []
    for await (const chunk of readPayload(answer, copyPosition(null))) if ('stream' in chunk) pieces.push(chunk.bytes)
    const output = Buffer.concat(pieces).toString().trim()
    return output === '' ? '' : `: ${output.slice(-outputCharsMax)}`
  }
}

/** A message for the user if an ended run lost its display; null: it did not. */
export async function readDisplayLoss(containers: Containers, job: Inspected): Promise<string | null> {
  const name = job.Config.Labels?.[labels.display]
  if (name === undefined) return null
  const display = await containers.inspect(name)
  if (!display) return 'The X11 display was removed before its end'
  const isLost = isOver(display) && display.State.ExitCode !== 0 && finishedMs(display) < finishedMs(job)
  return isLost ? describeLostDisplay(explainEnd(display)) : null
}

const finishedMs = ({ State: { FinishedAt: finished } }: Inspected) => Date.parse(finished)
const isOver = ({ State: { Status: status } }: Inspected) => parsePhase(status) === 'over'
const explainEnd = ({ State: { OOMKilled: isOom, ExitCode: exitCode } }: Inspected) =>
  describeDisplayEnd(exitCode, isOom)

const failed = (why: string, cause?: unknown) => new StartFailed('START_FAILED', describeDisplayFailure(why), { cause })

export function makeDisplayBody({ jobId, spec, gpuIds }: RunSpec, imageId: string, own: object): unknown {
  const gpu = spec.x11?.gpu ? gpuIds[0] : undefined
  const memory = displayLimits.memoryMib * 2 ** 20
  return {
    Image: imageId,
    Entrypoint: [],
    // Within the container of the display, only the first GPU of the job exists.
    Cmd: ['/bin/sh', '-c', displayScript, 'berth', gpu === undefined ? '' : '0'],
    Env: gpu === undefined ? ['NVIDIA_VISIBLE_DEVICES=void'] : [],
    Labels: { ...own, [labels.job]: jobId },
    Volumes: { [xSocketFolder]: {} },
    HostConfig: {
      NetworkMode: 'none',
      NanoCpus: displayLimits.cpuMillis * 1e6,
      Memory: memory,
      MemorySwap: memory,
      PidsLimit: displayLimits.pids,
      SecurityOpt: ['no-new-privileges'],
      LogConfig: { Type: 'json-file', Config: { 'max-size': logBytesMax, 'max-file': '1' } },
      ...(gpu === undefined
        ? { CapDrop: ['ALL'] }
        : { DeviceRequests: [{ DeviceIDs: [String(gpu)], Capabilities: [['gpu', ...displayCapabilities]] }] }),
    },
  }
}
