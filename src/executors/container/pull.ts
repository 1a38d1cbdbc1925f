import type { IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import type { Clock } from '../../platform/clock.ts'
import { StartFailed } from '../executor.ts'
import { type Engine, EngineAway, EngineError } from './engine.ts'
import { demandOtherMachine } from './registry.ts'

/**
 * Pulls images, each once for any number of runs that wait for it. A registry that is unreachable or overloaded is asked again
 * after growing pauses, and the runs wait; another refusal fails the start at once.
 */
export interface Pulls {
  /** Throws StartFailed. */
  pull(name: string, waiting: PullWaiter): Promise<void>
}

export interface PullWaiter {
  unwanted: AbortSignal | undefined
  /** Gets the reason of the wait. */
  tell(info: string): void
}

export interface PullOptions {
  engine: Engine
  /** Registries on this machine that may be asked. */
  registries: readonly string[]
  /** Images that may be pulled from any registry. */
  ofConfiguration: readonly string[]
  clock: Clock
}

/** A pull without progress for this long is given up. */
const silenceMsMax = 300_000
/** A registry in trouble is asked for this long. */
const troubleMsMax = 600_000
const pauseMsMin = 1_000
const pauseMsMax = 60_000

class PullFailed extends StartFailed {
  /** The registry may answer later. */
  readonly isTrouble: boolean
  constructor(name: string, why: string, cause: unknown) {
    super('START_FAILED', `The image ${name} cannot be pulled: ${why}`, { cause })
    const words = why.replaceAll(name, '')
    this.isTrouble = !refusalPattern.test(words) && troublePattern.test(words)
  }
}

const refusalPattern = /manifest unknown|not found|denied|unauthorized|does not exist/i
/** Words of Go's network library and of registries. */
const troublePattern =
  /connection refused|reset by peer|broken pipe|unreachable|no route to host|time(d )?out|deadline exceeded|no such host|server misbehaving|temporary failure|\bEOF\b|\b(429|500|502|503|504)\b|too ?many ?requests|unavailable|bad gateway/i

interface Pull {
  done: Promise<void>
  waiting: Set<PullWaiter>
  /** The reason of its last failure; null: none yet. */
  trouble: string | null
  end(): void
}

export function createPulls({ engine, registries, ofConfiguration, clock }: PullOptions): Pulls {
  const pulls = new Map<string, Pull>()

  function begin(name: string): Pull {
    const abort = new AbortController()
    const isOver = () => pulls.get(name) === pulling && pulls.delete(name)
    const pulling: Pull = {
      done: Promise.resolve(),
      waiting: new Set(),
      trouble: null,
      end() {
        isOver()
        abort.abort()
      },
    }
    pulling.done = pullPatiently(name, pulling, abort.signal).finally(isOver)
    pulls.set(name, pulling)
    return pulling
  }

  async function pullPatiently(name: string, pulling: Pull, signal: AbortSignal): Promise<void> {
    const sinceMs = clock.monotonicMs()
    for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(2 * pauseMs, pauseMsMax))
      try {
        return await pullImage(engine, clock, name, signal)
      } catch (error) {
        const isOver = signal.aborted || clock.monotonicMs() - sinceMs > troubleMsMax
        if (isOver || !(error instanceof PullFailed && error.isTrouble)) throw error
        pulling.trouble = `${error.message}; the next try is in ${pauseMs / 1000} s`
        for (const { tell } of pulling.waiting) tell(pulling.trouble)
        await clock.sleep(pauseMs, signal)
      }
  }

  return {
    async pull(name, waiting) {
      const { unwanted, tell } = waiting
      unwanted?.throwIfAborted()
      if (!ofConfiguration.includes(name)) await demandOtherMachine(name, registries)
      const pulling = pulls.get(name) ?? begin(name)
      pulling.waiting.add(waiting)
      tell(pulling.trouble ?? `Pulling the image ${name}`)
      const leave = () => {
        pulling.waiting.delete(waiting)
        if (pulling.waiting.size === 0) pulling.end()
      }
      unwanted?.addEventListener('abort', leave, { once: true })
      await pulling.done.finally(() => unwanted?.removeEventListener('abort', leave))
    },
  }
}

/** A name without a tag means the newest image; the engine would pull all tags. */
export function pullQueryOf(name: string): { fromImage: string; tag?: string } {
  const hasTag = name.includes('@') || /:[^/]+$/.test(name)
  return hasTag ? { fromImage: name } : { fromImage: name, tag: 'latest' }
}

async function pullImage(engine: Engine, clock: Clock, name: string, unwanted: AbortSignal): Promise<void> {
  const silence = new AbortController()
  const refuse = (why: string, cause?: unknown) => new PullFailed(name, why, cause)
  try {
    const signal = AbortSignal.any([silence.signal, unwanted])
    const response = await engine.work('/images/create', signal, pullQueryOf(name))
    const problem = await lastProblem(response, clock, silence)
    if (problem) throw refuse(problem)
  } catch (error) {
    if (silence.signal.aborted) throw refuse(`timeout: no progress for ${silenceMsMax / 1000} s`, error)
    if (error instanceof EngineError) throw refuse(error.message, error)
    if (error instanceof EngineAway || error instanceof PullFailed) throw error
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
