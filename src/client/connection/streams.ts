import { createFailure, RequestFailed } from './failure.ts'
import type { Answer, Operation } from './http.ts'
import { type Network, sleepUntilOnline } from './online.ts'
import type { Outages, StreamOutage } from './outages.ts'
import { advancing, type Resumable } from './resume.ts'
import { retryWaitMs } from './retry.ts'
import type { Sleep } from './sleep.ts'
import type { Tokens } from './tokens.ts'

/**
 * The messages of a subscription over as many connections, servers and transports as it takes, each exactly once; ends
 * when the server completes it. A server that is away, restarts, or has no database is asked again from the last cursor,
 * for ever: 1, 2, 4 … s with full jitter between the tries, and at once when the machine is in a network again. What cannot get
 * better ends the stream with its failure. An answer that is not of GraphQL ends a stream without a message, for its URL is
 * wrong; later it is of a proxy, and passes.
 *
 * Transports are tried in their order: the next one after `triesPerTransport` failures in a row without a message. An outage
 * makes all of them fail, and a page over HTTP/1.1 has six connections for its requests and all of its SSE streams. So a stream
 * looks for a better transport when its connection opens, or its first poll is answered, and once a minute while it polls: it
 * tries each once, and goes on as before when none works. That is no outage. A stream of server-sent events without a first
 * byte is held back by a proxy: no stream of the client that can be polled tries SSE for ten minutes then.
 */

export const transports = ['websocket', 'sse', 'polling'] as const
export type Transport = (typeof transports)[number]

/** Programs without types may name others. */
export function checkTransports(named: readonly Transport[]): readonly Transport[] {
  const unknown = named.find((name) => !transports.includes(name))
  if (named.length > 0 && unknown === undefined) return named
  const found = unknown === undefined ? 'none' : JSON.stringify(unknown)
  throw new TypeError(`\`transports\` has ${found}; name one or more of ${transports.join(', ')}`)
}

/**
 * One connection: messages until the server completes, else a RequestFailed. Calls `onOpen` when a connection was made for
 * it; a stream on one that was open already is known to be open by its first message.
 */
export type Open = <Result>(
  operation: Operation,
  signal: AbortSignal,
  onOpen: () => void,
) => AsyncGenerator<Answer<Result>, void, void>

/** The same messages by queries. They follow the variables, which move. */
export type Poll<Result, Variables> = (variables: Variables, signal: AbortSignal) => AsyncGenerator<Result, void, void>

export interface StreamOptions<Result, Variables> {
  signal?: AbortSignal | undefined
  /** Without it the stream is never polled. */
  poll?: Poll<Result, Variables>
  /** The first message is that of `poll`: what is stored already. */
  startsWithPoll?: boolean
}

export interface Routes {
  transports: readonly Transport[]
  /** Absent: not one of the transports. */
  websocket?: Open
  sse: Open
  tokens: Tokens
  sleep: Sleep
  network: Network
  /** Of a clock that is never set. */
  nowMs: () => number
  outages: Outages
  /** SSE is not tried before this moment of `nowMs`. */
  silence: { untilMs: number }
  /** Fires when the client is closed: streams end without a failure. */
  closed: AbortSignal
}

interface Asked<Variables> extends Omit<Operation, 'variables'> {
  variables: Variables
}

const triesPerTransport = 3
const pollingMsMax = 60_000
const silenceMs = 600_000

/** As `streamAnswers`, without messages that are errors: these end the stream. */
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
  const outage = routes.outages.ofStream()
  try {
    yield* keptUp(routes, asked, { ...options, outage })
  } finally {
    outage.ends()
  }
}

async function* keptUp<Result extends object, Variables extends Resumable>(
  routes: Routes,
  asked: Asked<Variables>,
  { outage, ...options }: StreamOptions<Result, Variables> & { outage: StreamOutage },
): AsyncGenerator<Answer<Result>, void, void> {
  const { closed } = routes
  const signal = options.signal ? AbortSignal.any([options.signal, closed]) : closed
  const moving = advancing(asked.variables)
  const attempt = createAttempts(routes, { ...asked, variables: moving.variables }, options)
  let failures = 0
  do
    try {
      for await (const answer of attempt.open<Result>(signal, outage.opens)) {
        failures = 0
        outage.ends()
        if (answer.data) moving.advance(answer.data)
        yield answer
      }
      if (!attempt.wasCutShort()) return
    } catch (error) {
      if (!closed.aborted) await rest(error).catch(unlessClosed)
    }
  while (!closed.aborted)

  function unlessClosed(error: unknown) {
    if (!closed.aborted) throw error
  }

  /** Until the next try; throws what cannot get better. */
  async function rest(error: unknown) {
    if (!(error instanceof RequestFailed) || !(await attempt.mayRepeat(error, signal))) throw error
    if (attempt.isLooking()) return
    outage.begins(error)
    const waitMs = Math.max(error.retryAfterMs, retryWaitMs(failures++))
    if (await sleptUnlessClosed(routes, waitMs, signal)) failures = 0
  }
}

/** true: it ended early, because the machine is in a network again. */
async function sleptUnlessClosed(routes: Routes, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    return await sleepUntilOnline(routes, ms, signal)
  } catch (error) {
    if (!routes.closed.aborted) throw error
    return false
  }
}

/** Where the next connection is opened. */
function createAttempts<Result, Variables>(
  routes: Routes,
  operation: Asked<Variables>,
  { poll, startsWithPoll = false }: StreamOptions<Result, Variables>,
) {
  const ladder = routes.transports.filter((transport) => transport !== 'polling' || poll)
  const [best] = ladder
  if (!best)
    throw new TypeError('`transports` has only polling, and this subscription cannot be polled; add websocket or sse')
  let rung = 0
  let isStarting = startsWithPoll
  /** The rung that was left to look for a better one, of which there is no message yet; null: none is looked for. */
  let home: number | null = null
  /** No better one was found. */
  let isBack = false
  /** Since the last message. */
  let hasLooked = false
  let isServed = false
  let tries = 0
  let token: string | undefined
  let isCutShort = false

  async function* polled(signal: AbortSignal): AsyncGenerator<Answer<Result>, void, void> {
    const sinceMs = routes.nowMs()
    for await (const data of poll?.(operation.variables, signal) ?? []) {
      yield { data }
      const isLong = routes.nowMs() - sinceMs > pollingMsMax
      if (!isStarting && (best === 'polling' || (isBack && !isLong))) continue
      if (!isStarting) home = rung
      isStarting = false
      isCutShort = true
      rung = 0
      return
    }
  }

  const messagesOf = (transport: Transport, signal: AbortSignal, onOpen: () => void) =>
    (transport === 'polling' ? polled(signal) : routes[transport]?.<Result>(operation, signal, onOpen)) ?? []

  /** Polling follows SSE, and a proxy was found to hold SSE back. */
  const isHeldBack = () =>
    ladder[rung] === 'sse' && ladder[rung + 1] === 'polling' && routes.nowMs() < routes.silence.untilMs

  /** A connection that opens on a lower rung shows that a server is there, so a better one may open too. */
  function looksUp(): boolean {
    if (rung === 0 || home !== null || hasLooked) return false
    home = rung
    rung = 0
    hasLooked = true
    isCutShort = true
    return true
  }

  return {
    async *open<R extends Result>(signal: AbortSignal, onOpen: () => void): AsyncGenerator<Answer<R>, void, void> {
      isCutShort = false
      token = await routes.tokens.current(signal)
      if (isHeldBack()) rung += 1
      const transport = isStarting ? 'polling' : (ladder[rung] ?? best)
      isBack = rung === home
      if (isBack) home = null
      const left = new AbortController()
      const opened = () => (looksUp() ? left.abort() : onOpen())
      const stay = AbortSignal.any([signal, left.signal])
      const messages = messagesOf(transport, stay, opened)
      try {
        for await (const answer of messages as AsyncIterable<Answer<R>>) {
          if (answer.errors) throw createFailure(answer.errors)
          tries = 0
          home = null
          hasLooked = false
          isServed = true
          yield answer
        }
      } catch (error) {
        if (signal.aborted || !left.signal.aborted) throw error
      }
    },
    /** The connection was left for a better one. */
    wasCutShort: () => isCutShort,
    /** A better transport is only looked for, without a word and without a pause. */
    isLooking: () => home !== null,
    async mayRepeat(failure: RequestFailed, signal: AbortSignal): Promise<boolean> {
      if (failure.token) {
        home = null
        return failure.token === 'ENDED' || (failure.token === 'EXPIRED' && routes.tokens.renew(token, signal))
      }
      if (failure.code === 'UNREACHABLE' || failure.code === 'TIMEOUT' || failure.isForeign) tries++
      if (failure.isSilent) {
        tries = triesPerTransport
        routes.silence.untilMs = routes.nowMs() + silenceMs
      }
      if (home !== null || tries >= triesPerTransport) {
        tries = 0
        rung = (rung + 1) % ladder.length
      }
      return failure.retryable || (isServed && failure.isForeign)
    },
  }
}
