import { normaliseTarget } from '../backend/data-mounts.ts'
import { BackendUnreachable, ignoreNotFound } from '../backend/unreachable.ts'
import { StartFailed } from '../executor.ts'
import { hasPath } from './archive.ts'
import type { Containers } from './containers.ts'
import type { Engine } from './engine.ts'
import { type PullOptions, Pulls, type PullWaiter } from './pull.ts'

/** Properties of an image that its containers depend on. */
export interface Image {
  id: string
  /** Digest that the registry gives the image; null: the image is of no registry. */
  digest: string | null
  environment: Readonly<Record<string, string>>
  /** The command of a job that names none. */
  command: readonly string[]
  /** A shell that can wrap the command; null: the image has no shell. */
  shell: readonly string[] | null
  workdir: string
  user: string
  /** Directories for which the engine creates volumes. */
  volumes: readonly string[]
}

interface InspectedImage {
  Id: string
  /** `repository@sha256:…` */
  RepoDigests?: readonly string[] | null
  Config: {
    Env?: readonly string[] | null
    Entrypoint?: readonly string[] | null
    Cmd?: readonly string[] | null
    WorkingDir?: string
    User?: string
    Volumes?: Readonly<Record<string, unknown>> | null
  } | null
}

const imagesMax = 1_000

interface ImagesOptions extends PullOptions {
  containers: Containers
}

export class Images {
  readonly #engine: Engine
  readonly #options: ImagesOptions
  readonly #pulls: Pulls
  readonly #shells = new Map<string, readonly string[] | null>()

  constructor(options: ImagesOptions) {
    this.#engine = options.engine
    this.#options = options
    this.#pulls = new Pulls(options)
  }

  /** Pulls the image if the engine does not have it, or `always`. Throws StartFailed. */
  async find(name: string, waiter: PullWaiter, { always = false } = {}): Promise<Image> {
    if (!isReference(name)) throw new StartFailed('BAD_SPEC', `image: ${name} is not the name of an image`)
    let found = always ? null : await inspectImage(this.#engine, name)
    if (!found) {
      await this.#pulls.pull(name, waiter)
      found = await inspectImage(this.#engine, name)
    }
    if (!found) throw new StartFailed('START_FAILED', `Pull of ${name} succeeded, but the image is missing`)
    const config = found.Config ?? {}
    return {
      id: found.Id,
      digest: chooseDigest(name, found.RepoDigests ?? []),
      environment: Object.fromEntries((config.Env ?? []).map(parseVariable)),
      command: [...(config.Entrypoint ?? []), ...(config.Cmd ?? [])],
      shell: await this.#findShell(found.Id),
      workdir: config.WorkingDir || '/',
      user: config.User ?? '',
      volumes: Object.keys(config.Volumes ?? {}).map(normaliseTarget),
    }
  }

  async #findShell(id: string): Promise<readonly string[] | null> {
    const known = this.#shells.get(id)
    if (known !== undefined) return known
    const found = await this.#options.containers.lookInto(id, (name) => this.#lookForShell(name))
    if (this.#shells.size >= imagesMax) this.#shells.clear()
    this.#shells.set(id, found)
    return found
  }

  /** Finds a shell in a container, preferably bash. */
  async #lookForShell(name: string): Promise<readonly string[] | null> {
    if (await hasPath(this.#engine, name, '/bin/bash')) return ['/bin/bash', '--posix']
    if (await hasPath(this.#engine, name, '/bin/sh')) return ['/bin/sh']
    // The engine sends the same response for a missing path and a missing container. `docker container prune` may have
    // removed the container.
    if (await this.#options.containers.inspect(name)) return null
    throw new BackendUnreachable(`${this.#engine.address}: the container ${name} was removed during a look into it`)
  }
}

/** null: the engine does not have the image. */
export const inspectImage = (engine: Engine, name: string): Promise<InspectedImage | null> =>
  engine.get<InspectedImage>(`/images/${name}/json`).catch(ignoreNotFound)

const referencePattern = /^[A-Za-z0-9][\w.:/@-]*$/
/** true: a valid image name. The name becomes part of a request path and must not lead elsewhere. */
export const isReference = (name: string) =>
  referencePattern.test(name) && !name.split('/').some((part) => /^\.*$/.test(part))

/** Prefers the digest from the registry that the image name contains: an image may be in several registries. */
export function chooseDigest(name: string, digests: readonly string[]): string | null {
  const [first] = digests
  const chosen = digests.find((digest) => name.startsWith(digest.split('@')[0] ?? '')) ?? first
  return chosen?.split('@')[1] ?? null
}

const parseVariable = (text: string): [string, string] => {
  const end = text.indexOf('=')
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)]
}
