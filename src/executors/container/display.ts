import type { Clock } from '../../platform/clock.ts'
import { type Handle, type RunSpec, StartFailed } from '../executor.ts'
import {
  describeDisplayEnd,
  describeDisplayFailure,
  describeLostDisplay,
  displayCapabilities,
  displayFolder,
  displayLimits,
  displayPipe,
  displayScript,
  displaySecondsMax,
  requireDisplayImage,
} from '../process/display.ts'
import { type Engine, EngineError } from './engine.ts'
import { createNamed, displayNameOf, inspectNamed, type Named, removeNamed } from './handle.ts'
import type { Images } from './image.ts'
import { labels } from './labels.ts'
import { type Inspected, isUnstarted, phaseOf } from './observation.ts'
import { bytePositionOf, payload } from './output.ts'

/**
 * The container with the X11 display of a run (../process/display.ts). It has no network, and its name is no handle. The socket
 * is in a volume without a name: the container of the job takes it over, and the engine removes it with the two. The
 * display is there before the container of the job is made, and ends with that; it is removed with it, or by `find`.
 */

export interface DisplayOrder {
  run: RunSpec
  handle: Handle
  unwanted: AbortSignal | undefined
  tell(info: string): void
}

export interface Displays {
  /** Pulled if the engine does not have it. Throws StartFailed. */
  findImage(order: DisplayOrder): Promise<string>
  /** Returns when it answers; one that another server began is taken over. Throws StartFailed, or the reason of `unwanted`. */
  start(order: DisplayOrder, imageId: string): Promise<void>
}

export interface DisplayOptions {
  engine: Engine
  images: Images
  /** undefined: none is configured. */
  x11Image: string | undefined
  /** Those of all containers of this installation and pool. */
  labels: Readonly<Record<string, string>>
  clock: Clock
}

const lookMs = 100
const logBytesMax = '1m'
const wordsMax = 500
const linesMax = 5

export function createDisplays({ engine, images, x11Image, labels: own, clock }: DisplayOptions): Displays {
  async function start({ run, handle, unwanted, tell }: DisplayOrder, imageId: string): Promise<void> {
    const name = displayNameOf(handle)
    const body = displayBodyOf(run, imageId, own)
    const earlier = await inspectNamed(engine, name)
    if (earlier && isOver(earlier)) await removeNamed(engine, name)
    tell('Its X11 display is starting')
    for (
      const sinceMs = clock.monotonicMs();
      !(await answers({ name, body }, unwanted));
      await clock.sleep(lookMs, unwanted)
    ) {
      unwanted?.throwIfAborted()
      if (clock.monotonicMs() - sinceMs > displaySecondsMax * 1000)
        throw failed(`it does not answer within ${displaySecondsMax} s${await lastWords(name, unwanted)}`)
    }
  }

  /** Creates the container of the display if there is none, and starts it if it does not run. */
  async function answers(named: Named, unwanted: AbortSignal | undefined): Promise<boolean> {
    const path = `/containers/${named.name}`
    const found = await begun(named)
    if (found && isOver(found)) throw failed(`${endOf(found)}${await lastWords(named.name, unwanted)}`)
    return found !== null && (await engine.has(`${path}/archive`, { path: displayPipe }))
  }

  /** null: another server is making it, and the engine does not show it yet. */
  async function begun(named: Named): Promise<Inspected | null> {
    try {
      const found = await inspectNamed(engine, named.name)
      const isMade = found !== null || (await createNamed(engine, clock, named)) !== null
      if (isMade && (found === null || isUnstarted(found))) await engine.post(`/containers/${named.name}/start`)
      return found ?? (await inspectNamed(engine, named.name))
    } catch (error) {
      throw error instanceof EngineError ? failed(error.message, error) : error
    }
  }

  /** The image is the administrator's, so the job is not to blame for its name. */
  async function findImage({ unwanted, tell }: DisplayOrder): Promise<string> {
    const name = requireDisplayImage('container', x11Image)
    try {
      return (await images.find(name, { unwanted, tell })).id
    } catch (error) {
      if (!(error instanceof StartFailed)) throw error
      throw failed(error.message, error)
    }
  }

  /** What it wrote last, for people. */
  async function lastWords(name: string, signal = new AbortController().signal): Promise<string> {
    const query = { stdout: true, stderr: true, tail: linesMax }
    const answer = await engine.stream(`/containers/${name}/logs`, signal, query)
    const pieces: Uint8Array[] = []
    for await (const chunk of payload(answer, bytePositionOf(null))) if ('stream' in chunk) pieces.push(chunk.bytes)
    const words = Buffer.concat(pieces).toString().trim()
    return words === '' ? '' : `: ${words.slice(-wordsMax)}`
  }

  return { findImage, start }
}

/** What the user of a run that is over should know of its display; null: nothing. */
export async function lostDisplayOf(engine: Engine, job: Inspected): Promise<string | null> {
  const name = job.Config.Labels?.[labels.display]
  if (name === undefined) return null
  const display = await inspectNamed(engine, name)
  if (!display) return 'Its X11 display was removed before it ended'
  const isLost = isOver(display) && display.State.ExitCode !== 0 && finishedMs(display) < finishedMs(job)
  return isLost ? describeLostDisplay(endOf(display)) : null
}

const finishedMs = ({ State: { FinishedAt: finished } }: Inspected) => Date.parse(finished)
const isOver = ({ State: { Status: status } }: Inspected) => phaseOf(status) === 'over'
const endOf = ({ State: { OOMKilled: isOom, ExitCode: exitCode } }: Inspected) => describeDisplayEnd(exitCode, isOom)

const failed = (why: string, cause?: unknown) => new StartFailed('START_FAILED', describeDisplayFailure(why), { cause })

/** The request by which the engine makes it. */
export function displayBodyOf({ jobId, spec, gpuIds }: RunSpec, imageId: string, own: object): unknown {
  const gpu = spec.x11?.gpu ? gpuIds[0] : undefined
  const memory = displayLimits.memoryMib * 2 ** 20
  return {
    Image: imageId,
    Entrypoint: [],
    // In its container the first GPU of the job is the only one.
    Cmd: ['/bin/sh', '-c', displayScript, 'berth', gpu === undefined ? '' : '0'],
    Env: gpu === undefined ? ['NVIDIA_VISIBLE_DEVICES=void'] : [],
    // Without the label of the run, by which a container that was renamed gets the name of its run back.
    Labels: { ...own, [labels.job]: jobId },
    Volumes: { [displayFolder]: {} },
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
