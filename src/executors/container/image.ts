import { normaliseTarget } from '../backend/data-mounts.ts'
import { StartFailed } from '../executor.ts'
import { type Engine, EngineAway, isNotFound } from './engine.ts'
import { look, newLookName, removeNamed } from './handle.ts'
import { labels } from './labels.ts'
import { createPulls, type PullOptions, type PullWaiter } from './pull.ts'

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

/** Maximum images whose shells are remembered. */
const imagesMax = 1_000

export interface Images {
  /** The image of this name; pulled if the engine does not have it. Throws StartFailed. */
  find(name: string, waiting: PullWaiter): Promise<Image>
}

interface ImagesOptions extends PullOptions {
  owner: string
}

export function createImages({ engine, owner, ...options }: ImagesOptions): Images {
  const pulls = createPulls({ engine, ...options })
  const shells = new Map<string, readonly string[] | null>()

  async function inspect(name: string): Promise<InspectedImage | null> {
    try {
      return await engine.get<InspectedImage>(`/images/${name}/json`)
    } catch (error) {
      if (isNotFound(error)) return null
      throw error
    }
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
        await pulls.pull(name, { unwanted, tell })
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
