import { createFailure, RequestFailed } from './failure.ts'
import type { Answer, Operation } from './http.ts'
import { type Network, sleepUntilOnline } from './online.ts'
import type { Outages } from './outages.ts'
import { advancing, type Resumable } from './resume.ts'
import { retryWaitMs } from './retry.ts'
import type { Sleep } from './sleep.ts'
import type { Tokens } from './tokens.ts'

/**
 * Delivers each message of a subscription exactly once, over any number of connections, servers and transports, until the server
 * completes it. While the server is unreachable, restarts or has no database, the stream retries forever from its last cursor. A
 * permanent failure ends it. A foreign answer is permanent before the first message (the URL is wrong) and temporary later (a
 * proxy sent it).
 *
 * The next transport is tried after `triesPerTransport` failures in a row without a message. An outage makes all of them fail,
 * so a stream looks for a better transport when its connection opens, or its first poll is answered, and once a minute while it
 * polls: it tries each once, and goes on as before when none works. That does not count as an outage. After an SSE stream without
 * a first byte, no stream that can be polled tries SSE for ten minutes.
 */

export const transports = ['websocket', 'sse', 'polling'] as const
export type Transport = (typeof transports)[number]

export function checkTransports(named: readonly Transport[]): readonly Transport[] {
  const unknown = named.find((name) => !transports.includes(name))
  if (named.length > 0 && unknown === undefined) return named
  const found = unknown === undefined ? 'none' : JSON.stringify(unknown)
  throw new TypeError(`\`transports\` has ${found}; name one or more of ${transports.join(', ')}`)
}

/**
 * Yields messages until the server completes the stream; throws RequestFailed otherwise. Calls `onOpen` when the stream
 * has a connection.
 */
export type Open = <Result>(
  operation: Operation,
  signal: AbortSignal,
  onOpen: () => void,
) => AsyncGenerator<Answer<Result>, void, void>

/** Gets the same messages by queries, from the current `after` of the variables on. */
export type Poll<Result, Variables> = (variables: Variables, signal: AbortSignal) => AsyncGenerator<Result, void, void>

export interface StreamOptions<Result, Variables> {
  signal?: AbortSignal | undefined
  /** Reads messages by queries; absent: the stream is never polled. */
  poll?: Poll<Result, Variables>
  /** true: the first message, with everything stored so far, comes from `poll`. */
  startsWithPoll?: boolean
}

export interface Routes {
  transports: readonly Transport[]
  /** Opens a stream over WebSocket; absent: this transport is not used. */
  websocket?: Open
  sse: Open
  tokens: Tokens
  sleep: Sleep
  network: Network
  /** A monotonic clock. */
  nowMs: () => number
  outages: Outages
  /** SSE is not tried before this value of `nowMs`. */
  silence: { untilMs: number }
  /** Aborts when the client is closed. Streams then end without a failure. */
  closed: AbortSignal
}

interface Asked<Variables> extends Omit<Operation, 'variables'> {
  variables: Variables
}

const triesPerTransport = 3
const pollingMsMax = 60_000
const silenceMs = 600_000

/** Like `streamAnswers`, but throws messages that are errors. */
export async function* streamData<Result extends object, Variables extends Resumable>(
  routes: Routes,
  asked: Asked<Variables>,
  options: StreamOptions<Result, Variables> = {},
): AsyncGenerator<Result, void, void> {
  for await (const { data } of streamAnswers(routes, asked, options)) if (data) yield data
}

export async function* streamAnswers<Result extends object, Variables extends Resumable>(
  routes: Routes,
  asked: Asked<Variables>,
  options: StreamOptions<Result, Variables>,
): AsyncGenerator<Answer<Result>, void, void> {
  const { closed, outages } = routes
  const outage = outages.track()
  const signal = options.signal ? AbortSignal.any([options.signal, closed]) : closed
  const moving = advancing(asked.variables)
  const attempts = new Attempts(routes, { ...asked, variables: moving.variables }, options)
  let failures = 0
  try {
    while (!closed.aborted)
      try {
        for await (const answer of attempts.open<Result>(signal, outage.opens)) {
          failures = 0
          outage.ends()
          if (answer.data) moving.advance(answer.data)
          yield answer
        }
        if (!attempts.wasCutShort) return
      } catch (error) {
        if (!closed.aborted) await rest(error)
      }
  } catch (error) {
    if (!closed.aborted) throw error
  } finally {
    outage.ends()
  }

  async function rest(error: unknown) {
    if (!(error instanceof RequestFailed) || !(await attempts.mayRepeat(error, signal))) throw error
    if (attempts.isLooking) return
    outage.begins(error)
    const waitMs = Math.max(error.retryAfterMs, retryWaitMs(failures++))
    if (await sleepUntilOnline(routes, waitMs, signal)) failures = 0
  }
}

/**
 * The transports of one stream: determines which one the next connection uses, and whether a failure permits another
 * attempt.
 */
class Attempts<Result, Variables> {
  readonly #routes: Routes
  readonly #operation: Asked<Variables>
  readonly #poll: Poll<Result, Variables> | undefined
  readonly #ladder: readonly Transport[]
  readonly #best: Transport
  #rung = 0
  #isStarting: boolean
  /** The transport to return to if the better one that is being tried delivers no message. */
  #home: number | null = null
  /** true: the attempt to find a better transport failed. */
  #isBack = false
  /** true: a better transport was already tried since the last message. */
  #hasLooked = false
  #isServed = false
  #tries = 0
  #token: string | undefined
  /** true: the stream left its connection to try a better transport. */
  wasCutShort = false

  constructor(
    routes: Routes,
    operation: Asked<Variables>,
    { poll, startsWithPoll = false }: StreamOptions<Result, Variables>,
  ) {
    this.#routes = routes
    this.#operation = operation
    this.#poll = poll
    this.#isStarting = startsWithPoll
    this.#ladder = routes.transports.filter((transport) => transport !== 'polling' || poll)
    const [best] = this.#ladder
    if (!best)
      throw new TypeError('`transports` has only polling, and this subscription cannot be polled; add websocket or sse')
    this.#best = best
  }

  async *open<R extends Result>(signal: AbortSignal, onOpen: () => void): AsyncGenerator<Answer<R>, void, void> {
    this.wasCutShort = false
    this.#token = await this.#routes.tokens.current(signal)
    if (this.#isHeldBack()) this.#rung += 1
    const transport = this.#isStarting ? 'polling' : (this.#ladder[this.#rung] ?? this.#best)
    this.#isBack = this.#rung === this.#home
    if (this.#isBack) this.#home = null
    const leave = new AbortController()
    const opened = () => (this.#startLooking() ? leave.abort() : onOpen())
    const messages = this.#connect(transport, AbortSignal.any([signal, leave.signal]), opened)
    try {
      for await (const answer of messages as AsyncIterable<Answer<R>>) {
        if (answer.errors) throw createFailure(answer.errors)
        this.#tries = 0
        this.#home = null
        this.#hasLooked = false
        this.#isServed = true
        yield answer
      }
    } catch (error) {
      if (signal.aborted || !leave.signal.aborted) throw error
    }
  }

  /**
   * true: a better transport is being tried. Its failure does not count as an outage, and the next attempt follows
   * without a pause.
   */
  get isLooking(): boolean {
    return this.#home !== null
  }

  async mayRepeat(failure: RequestFailed, signal: AbortSignal): Promise<boolean> {
    const { tokens, silence, nowMs } = this.#routes
    if (failure.token) {
      this.#home = null
      return failure.token === 'ENDED' || (failure.token === 'EXPIRED' && tokens.renew(this.#token, signal))
    }
    if (failure.code === 'UNREACHABLE' || failure.code === 'TIMEOUT' || failure.isForeign) this.#tries++
    if (failure.isSilent) {
      this.#tries = triesPerTransport
      silence.untilMs = nowMs() + silenceMs
    }
    if (this.#home !== null || this.#tries >= triesPerTransport) {
      this.#tries = 0
      this.#rung = (this.#rung + 1) % this.#ladder.length
    }
    return failure.retryable || (this.#isServed && failure.isForeign)
  }

  #connect(transport: Transport, signal: AbortSignal, onOpen: () => void): AsyncIterable<Answer<Result>> {
    if (transport === 'polling') return this.#pollAnswers(signal)
    const open = this.#routes[transport]
    if (!open) throw new TypeError(`${transport} is not one of the transports`)
    return open<Result>(this.#operation, signal, onOpen)
  }

  async *#pollAnswers(signal: AbortSignal): AsyncGenerator<Answer<Result>, void, void> {
    const sinceMs = this.#routes.nowMs()
    for await (const data of this.#poll?.(this.#operation.variables, signal) ?? []) {
      yield { data }
      const isLong = this.#routes.nowMs() - sinceMs > pollingMsMax
      if (!this.#isStarting && (this.#best === 'polling' || (this.#isBack && !isLong))) continue
      if (!this.#isStarting) this.#home = this.#rung
      this.#isStarting = false
      this.wasCutShort = true
      this.#rung = 0
      return
    }
  }

  #isHeldBack(): boolean {
    const [transport, next] = this.#ladder.slice(this.#rung)
    return transport === 'sse' && next === 'polling' && this.#routes.nowMs() < this.#routes.silence.untilMs
  }

  /**
   * Tries a better transport when a connection opens on a worse one, because that shows that the server is reachable.
   */
  #startLooking(): boolean {
    if (this.#rung === 0 || this.#home !== null || this.#hasLooked) return false
    this.#home = this.#rung
    this.#rung = 0
    this.#hasLooked = true
    this.wasCutShort = true
    return true
  }
}
