import type { IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import type { Clock } from '../../platform/clock.ts'
import { BackendRefused, BackendUnreachable } from '../backend/unreachable.ts'
import { StartFailed } from '../executor.ts'
import type { Engine } from './engine.ts'
import { readRegistryAuth, refuseOwnMachine } from './registry.ts'

export interface PullWaiter {
  unwanted: AbortSignal | undefined
  tell(info: string): void
}

export interface PullOptions {
  engine: Engine
  /** Registries on this machine from which jobs may pull images. */
  registries: readonly string[]
  /** A `config.json` of Docker with credentials of registries; undefined: pulls are anonymous. */
  registryAuth?: string | undefined
  /** Images that the configuration names, which may be pulled from any registry. */
  ofConfiguration: readonly string[]
  clock: Clock
}

/** A pull fails after this time without progress. */
const silenceMsMax = 300_000
/** Maximum time for retries while a registry is unreachable or overloaded. */
const troubleMsMax = 600_000
const pauseMsMin = 1_000
const pauseMsMax = 60_000

class PullFailed extends StartFailed {
  readonly isTrouble: boolean
  constructor(name: string, why: string, cause: unknown) {
    super('START_FAILED', `The image ${name} cannot be pulled: ${why}`, { cause })
    const words = why.replaceAll(name, '')
    this.isTrouble = !refusalPattern.test(words) && troublePattern.test(words)
  }
}

const refusalPattern = /manifest unknown|not found|denied|unauthorized|does not exist/i
/** Error texts of Go's network library and of registries that are unreachable or overloaded. */
const troublePattern =
  /connection refused|reset by peer|broken pipe|unreachable|no route to host|time(d )?out|deadline exceeded|no such host|server misbehaving|temporary failure|\bEOF\b|\b(429|500|502|503|504)\b|too ?many ?requests|unavailable|bad gateway/i

interface Pull {
  done: Promise<void>
  waiting: Set<PullWaiter>
  /** Why the pull does not go on, or how far it is. */
  info: string
  abort(): void
}

/** Pulls each image once for all runs that wait for it. Retries while the registry is unreachable or overloaded. */
export class Pulls {
  readonly #options: PullOptions
  readonly #pulls = new Map<string, Pull>()

  constructor(options: PullOptions) {
    this.#options = options
  }

  async pull(name: string, waiter: PullWaiter): Promise<void> {
    const { unwanted, tell } = waiter
    const { ofConfiguration, registries } = this.#options
    unwanted?.throwIfAborted()
    if (!ofConfiguration.includes(name)) await refuseOwnMachine(name, registries)
    const pull = this.#pulls.get(name) ?? this.#begin(name)
    pull.waiting.add(waiter)
    tell(pull.info)
    const leave = () => {
      pull.waiting.delete(waiter)
      if (pull.waiting.size === 0) pull.abort()
    }
    unwanted?.addEventListener('abort', leave, { once: true })
    await pull.done.finally(() => unwanted?.removeEventListener('abort', leave))
  }

  #begin(name: string): Pull {
    const aborted = new AbortController()
    const remove = () => this.#pulls.get(name) === pull && this.#pulls.delete(name)
    const pull: Pull = {
      done: Promise.resolve(),
      waiting: new Set(),
      info: `Pulling the image ${name}`,
      abort() {
        remove()
        aborted.abort()
      },
    }
    pull.done = this.#pullWithRetries(name, pull, aborted.signal).finally(remove)
    this.#pulls.set(name, pull)
    return pull
  }

  async #pullWithRetries(name: string, pull: Pull, signal: AbortSignal): Promise<void> {
    const { engine, clock, registryAuth } = this.#options
    const auth = registryAuth === undefined ? null : await readRegistryAuth(registryAuth, name)
    const sinceMs = clock.monotonicMs()
    const tell = (info: string) => {
      pull.info = info
      for (const waiter of pull.waiting) waiter.tell(info)
    }
    for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(2 * pauseMs, pauseMsMax))
      try {
        return await pullImage(engine, clock, { name, auth, tell }, signal)
      } catch (error) {
        const isOver = signal.aborted || clock.monotonicMs() - sinceMs > troubleMsMax
        if (isOver || !(error instanceof PullFailed && error.isTrouble)) throw error
        tell(`${error.message}; the next try is in ${pauseMs / 1000} s`)
        await clock.sleep(pauseMs, signal)
      }
  }
}

/** A name without a tag means the newest image; the engine would pull all tags. */
export function makePullQuery(name: string): { fromImage: string; tag?: string } {
  const hasTag = name.includes('@') || /:[^/]+$/.test(name)
  return hasTag ? { fromImage: name } : { fromImage: name, tag: 'latest' }
}

interface Wanted {
  name: string
  auth: string | null
  tell(info: string): void
}

async function pullImage(
  engine: Engine,
  clock: Clock,
  { name, auth, tell }: Wanted,
  unwanted: AbortSignal,
): Promise<void> {
  const silence = new AbortController()
  const refuse = (why: string, cause?: unknown) => new PullFailed(name, why, cause)
  try {
    const signal = AbortSignal.any([silence.signal, unwanted])
    const response = await engine.postStream('/images/create', signal, {
      query: makePullQuery(name),
      ...(auth !== null && { headers: { 'x-registry-auth': auth } }),
    })
    const onLine = createProgress(clock, (bytes) => tell(`Pulling the image ${name}${bytes}`))
    const problem = await readProblem(response, clock, { silence, onLine })
    if (problem) throw refuse(problem)
  } catch (error) {
    if (silence.signal.aborted) throw refuse(`timeout: no progress for ${silenceMsMax / 1000} s`, error)
    if (error instanceof BackendRefused) throw refuse(error.message, error)
    if (error instanceof BackendUnreachable || error instanceof PullFailed) throw error
    throw new BackendUnreachable(`${engine.address} closed the connection in the middle of a pull`, { cause: error })
  }
}

interface Reading {
  silence: AbortController
  onLine(line: PullLine): void
}

interface PullLine {
  error?: string
  /** A layer of the image. */
  id?: string
  status?: string
  progressDetail?: { current?: number; total?: number } | null
}

const tellEveryMs = 5_000

/** Adds up the bytes of the layers, which Docker reports and Podman does not. */
function createProgress(clock: Clock, tell: (bytes: string) => void): (line: PullLine) => void {
  const layers = new Map<string, { current: number; total: number }>()
  let toldMs = Number.NEGATIVE_INFINITY
  return ({ id, status, progressDetail }) => {
    const { current, total } = progressDetail ?? {}
    const known = layers.get(id ?? '')
    if (known && status === 'Download complete') known.current = known.total
    if (id === undefined || status !== 'Downloading' || !current || !total) return
    layers.set(id, { current, total })
    const nowMs = clock.monotonicMs()
    if (nowMs - toldMs < tellEveryMs) return
    toldMs = nowMs
    const sum = (key: 'current' | 'total') => layers.values().reduce((all, layer) => all + layer[key], 0)
    tell(` (${formatGb(sum('current'))} of ${formatGb(sum('total'))} GB)`)
  }
}

const formatGb = (bytes: number) => (bytes / 1e9).toFixed(bytes < 1e8 ? 2 : 1)

/** Reads a failure from the progress of the pull: the engine sends status 200 before the pull begins. */
async function readProblem(response: IncomingMessage, clock: Clock, to: Reading): Promise<string | null> {
  const { silence, onLine } = to
  let problem: string | null = null
  let waiting = new AbortController()
  const restartTimeout = () => {
    waiting.abort()
    waiting = new AbortController()
    const { signal } = waiting
    void clock.sleep(silenceMsMax, signal).then(() => signal.aborted || silence.abort())
  }
  restartTimeout()
  try {
    for await (const line of createInterface({ input: response })) {
      restartTimeout()
      if (line.trim() === '') continue
      const part = JSON.parse(line) as PullLine
      problem = part.error ?? problem
      onLine(part)
    }
  } finally {
    waiting.abort()
  }
  return problem
}
