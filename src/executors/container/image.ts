import type { IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import type { Clock } from '../../platform/clock.ts'
import { normaliseTarget } from '../data.ts'
import { StartFailed } from '../executor.ts'
import { type Engine, EngineAway, EngineError, isNotFound } from './engine.ts'
import { look, newLookName, removeNamed } from './handle.ts'
import { labels } from './labels.ts'

/** The facts of an image that decide on its containers. */
export interface Image {
  id: string
  environment: Readonly<Record<string, string>>
  /** Command of a job that names none. */
  command: readonly string[]
  /** A shell that can wrap the command; null: the image has none. */
  shell: readonly string[] | null
  workdir: string
  user: string
  /** Folders for which the engine makes volumes. */
  volumes: readonly string[]
}

interface InspectedImage {
  Id: string
  Config: {
    Env?: readonly string[] | null
    Entrypoint?: readonly string[] | null
    Cmd?: readonly string[] | null
    WorkingDir?: string
    User?: string
    Volumes?: Readonly<Record<string, unknown>> | null
  } | null
}

/** A pull without progress for this long is given up. */
const silenceMsMax = 300_000
/** Maximum images whose shells are remembered. */
const imagesMax = 1_000

export interface Images {
  /** The image of this name; pulled if the engine does not have it. Throws StartFailed. */
  find(name: string, waiting: Waiting): Promise<Image>
}

interface Waiting {
  unwanted: AbortSignal | undefined
  tell(info: string): void
}

interface Pull {
  done: Promise<void>
  /** How many runs wait for it. */
  waiting: number
  end(): void
}

export function createImages(engine: Engine, owner: string, clock: Clock): Images {
  const shells = new Map<string, readonly string[] | null>()
  const pulls = new Map<string, Pull>()

  async function inspect(name: string): Promise<InspectedImage | null> {
    try {
      return await engine.get<InspectedImage>(`/images/${name}/json`)
    } catch (error) {
      if (isNotFound(error)) return null
      throw error
    }
  }

  /** One pull at a time, for any number of runs that wait for it; it ends when none waits any more. */
  async function pull(name: string, unwanted: AbortSignal | undefined): Promise<void> {
    unwanted?.throwIfAborted()
    const pulling = pulls.get(name) ?? beginPull(name)
    pulling.waiting += 1
    const leave = () => {
      pulling.waiting -= 1
      if (pulling.waiting === 0) pulling.end()
    }
    unwanted?.addEventListener('abort', leave, { once: true })
    await pulling.done.finally(() => unwanted?.removeEventListener('abort', leave))
  }

  function beginPull(name: string): Pull {
    const abort = new AbortController()
    const isOver = () => pulls.get(name) === pulling && pulls.delete(name)
    const pulling: Pull = {
      done: pullImage(engine, clock, name, abort.signal).finally(isOver),
      waiting: 0,
      end() {
        isOver()
        abort.abort()
      },
    }
    pulls.set(name, pulling)
    return pulling
  }

  async function shellOf(id: string): Promise<readonly string[] | null> {
    const known = shells.get(id)
    if (known !== undefined) return known
    const found = await findShell(engine, owner, id)
    if (shells.size >= imagesMax) shells.clear()
    shells.set(id, found)
    return found
  }

  return {
    async find(name, { unwanted, tell }) {
      if (!isReference(name)) throw new StartFailed('BAD_SPEC', `image: ${name} is not the name of an image`)
      let found = await inspect(name)
      if (!found) {
        tell(`Pulling the image ${name}`)
        await pull(name, unwanted)
        found = await inspect(name)
      }
      if (!found) throw new StartFailed('START_FAILED', `The container engine pulled ${name}, and does not have it`)
      const {
        Env: env,
        Entrypoint: entrypoint,
        Cmd: cmd,
        WorkingDir: workdir,
        User: user,
        Volumes: volumes,
      } = found.Config ?? {}
      return {
        id: found.Id,
        environment: Object.fromEntries((env ?? []).map(variableOf)),
        command: [...(entrypoint ?? []), ...(cmd ?? [])],
        shell: await shellOf(found.Id),
        workdir: workdir || '/',
        user: user ?? '',
        volumes: Object.keys(volumes ?? {}).map(normaliseTarget),
      }
    },
  }
}

const referencePattern = /^[A-Za-z0-9][\w.:/@-]*$/
/** The name becomes a part of a path: another one would be another question to the engine. */
const isReference = (name: string) => referencePattern.test(name) && !name.split('/').some((part) => /^\.*$/.test(part))

const variableOf = (text: string): [string, string] => {
  const end = text.indexOf('=')
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)]
}

/** A name without a tag means the newest image; the engine would pull all tags. */
export function pullQueryOf(name: string): { fromImage: string; tag?: string } {
  const hasTag = name.includes('@') || /:[^/]+$/.test(name)
  return hasTag ? { fromImage: name } : { fromImage: name, tag: 'latest' }
}

async function pullImage(engine: Engine, clock: Clock, name: string, unwanted: AbortSignal): Promise<void> {
  const silence = new AbortController()
  const refuse = (why: string, cause?: unknown) =>
    new StartFailed('START_FAILED', `The image ${name} cannot be pulled: ${why}`, { cause })
  try {
    const signal = AbortSignal.any([silence.signal, unwanted])
    const response = await engine.work('/images/create', signal, pullQueryOf(name))
    const problem = await lastProblem(response, clock, silence)
    if (problem) throw refuse(problem)
  } catch (error) {
    if (silence.signal.aborted) throw refuse(`no progress for ${silenceMsMax / 1000} s`, error)
    if (error instanceof EngineError) throw refuse(error.message, error)
    if (error instanceof EngineAway || error instanceof StartFailed) throw error
    throw new EngineAway(`${engine.address} left in the middle of a pull`, { cause: error })
  }
}

/** The engine answers 200 at once, and reports failures in a line of its progress. */
async function lastProblem(response: IncomingMessage, clock: Clock, silence: AbortController): Promise<string | null> {
  let problem: string | null = null
  let heard = new AbortController()
  const listen = () => {
    heard.abort()
    heard = new AbortController()
    const { signal } = heard
    void clock.sleep(silenceMsMax, signal).then(() => signal.aborted || silence.abort())
  }
  listen()
  try {
    for await (const line of createInterface({ input: response })) {
      listen()
      if (line.trim() !== '') problem = JSON.parse(line).error ?? problem
    }
  } finally {
    heard.abort()
  }
  return problem
}

/**
 * bash if the image has it. The shell is looked for in a container that is never started. If this server dies meanwhile,
 * the next leader removes it, as it does with what is left of runs.
 */
async function findShell(engine: Engine, owner: string, imageId: string): Promise<readonly string[] | null> {
  const name = newLookName()
  const body = { Image: imageId, Cmd: ['true'], Entrypoint: [], Labels: { [labels.owner]: owner } }
  await engine.post('/containers/create', { name }, body)
  try {
    const has = (path: string) => engine.has(`/containers/${name}/archive`, { path })
    if (await has('/bin/bash')) return ['/bin/bash', '--posix']
    if (await has('/bin/sh')) return ['/bin/sh']
    // The engine says the same of a missing path and of a missing container.
    if (await look(engine, name)) return null
    throw new EngineAway(`${engine.address}: the container ${name} was removed while it was looked into`)
  } finally {
    await removeNamed(engine, name)
  }
}
