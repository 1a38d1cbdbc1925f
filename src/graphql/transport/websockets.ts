import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ExecutionArgs, type ExecutionResult, type GraphQLError, getOperationAST } from 'graphql'
import { type Context, GRAPHQL_TRANSPORT_WS_PROTOCOL, makeServer, type SubscribePayload } from 'graphql-ws'
import type { GraphQLParams } from 'graphql-yoga'
import { type WebSocket, WebSocketServer } from 'ws'
import { anonymous, type Viewer } from '../../domain/access.ts'
import type { Utf8 } from '../../logs/batch.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { isUnavailable, Unavailable } from '../../platform/tx.ts'
import type { Documents } from '../admission/trusted-documents.ts'
import type { Farewell, Guests } from '../callers/access-expiry.ts'
import type { Authenticate } from '../callers/authenticate.ts'
import { type Cap, createCap } from '../cap-per-key.ts'
import { formatError, presentError, refusal } from '../errors.ts'
import { limits } from '../request-limits.ts'
import { type Message, textsOf, withTexts } from '../rows/log-text.ts'
import { partOneByOne } from './closing-streams.ts'
import type { GraphqlEngine } from './engine.ts'
import { keepAlive, type UnsentWatch } from './slow-readers.ts'
import { createStrangers } from './unauthenticated-sockets.ts'
import { createCork } from './write-coalescing.ts'

/**
 * GraphQL over WebSocket (graphql-transport-ws). The caller has passed the gate; the token comes with
 * `connection_init`, within three seconds.
 *
 * Close codes decide whether the stock client comes back: 1012 the server restarts and 1013 the database is away (it
 * comes back), 4403 the token has expired or the permissions of its user have changed (it comes back, with a fresh
 * token), 4401 no token, an unknown or a revoked one (it does not come back), 1009 message too large, 4400 a message
 * that no client may send, 4408 no `connection_init`. Nothing may throw in onConnect: that would close with 4500, which
 * is fatal to the client.
 *
 * A peer that does not answer a ping is dropped (stalled.ts); one that does not take part in the closing handshake after
 * `closeWaitMs`. A person has at most `socketsPerPersonMax` sockets, an address at most `strangersPerAddressMax` that have
 * not logged in yet (strangers.ts).
 */

export interface Sockets {
  /** Completes an upgrade that the gate let through. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Sockets that are open. */
  count(): number
  /** One after the other: parting.ts. */
  close(): Promise<void>
}

export interface SocketOptions {
  engine: GraphqlEngine
  documents: Documents
  authenticate: Authenticate
  guests: Guests
  unsent: UnsentWatch
  keepAliveMs: number
  clock: Clock
  log: Log
}

interface Connection {
  socket: WebSocket
  raw: Socket
  ip: string | null
  viewer?: Viewer
  /** It has logged in, and is no stranger any more. */
  admitted: () => void
  leave?: () => void
  /** Texts of the results that are about to be sent. */
  readonly texts: Map<string, Utf8>
}

interface SocketArgs extends ExecutionArgs {
  run: ReturnType<GraphqlEngine['getEnveloped']>
  /** The result of a subscription; absent for other operations. */
  stream?: AsyncIterable<ExecutionResult>
}

const initWaitMs = 3_000
const closeWaitMs = 1_000
/** A message up to this size may be on its way while the next one is made. */
const aheadBytesMax = 524_288
/** Operations and pings: more than a connection may carry operations, so that the surplus is refused. */
const awaitedMax = 2 * limits.subscriptionsPerConnectionMax
/** An option of ws that its types do not know yet. */
const closing = { closeTimeout: closeWaitMs }
const closeCodes = { restart: 1012, tryAgain: 1013, badMessage: 4400, unauthenticated: 4401, expired: 4403 } as const

const farewells = {
  GONE: [closeCodes.unauthenticated, 'The token is missing, unknown or revoked'],
  EXPIRED: [closeCodes.expired, 'The token has expired'],
  CHANGED: [closeCodes.expired, 'Permissions have changed'],
} as const satisfies Record<Farewell, readonly [number, string]>

export function createSockets(options: SocketOptions): Sockets {
  const { engine, documents, authenticate, guests, unsent, keepAliveMs, clock, log } = options
  const server = new WebSocketServer({
    noServer: true,
    ...closing,
    maxPayload: limits.subscriptionBytesMax,
    handleProtocols: (protocols) =>
      protocols.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) ? GRAPHQL_TRANSPORT_WS_PROTOCOL : false,
  })

  const people = createCap(limits.socketsPerPersonMax)
  const strangers = createStrangers(limits.strangersPerAddressMax)

  const protocol = makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: initWaitMs,
    onConnect: (context) => connect(context, { authenticate, guests, unsent, people, log }),
    onSubscribe: (context, id, payload) => prepare(context, id, payload),
    execute: (args) => (args as SocketArgs).run.execute(args),
    subscribe: (args) => (args as SocketArgs).stream as AsyncIterableIterator<ExecutionResult>,
    onError: (_context, _id, _payload, errors) => errors.map((error) => formatError(presented(error))),
    onNext({ extra }, _id, _payload, _args, result) {
      const { data = null, errors, extensions } = result
      for (const [marker, utf8] of textsOf(result)) extra.texts.set(marker, utf8)
      if (!errors) return undefined
      return { data, errors: errors.map((error) => formatError(presented(error))), ...(extensions && { extensions }) }
    },
  })

  /** Errors of graphql-ws itself, which have not passed through the engine. */
  const presented = (error: GraphQLError) =>
    error.extensions['requestId'] === undefined ? presentError(error, log) : error

  async function prepare(
    { extra: { viewer, socket }, subscriptions }: Context<Record<string, unknown>, Connection>,
    id: string,
    payload: SubscribePayload,
  ): Promise<SocketArgs | GraphQLError[]> {
    try {
      if (!viewer) throw refusal('UNAUTHENTICATED', 'Authentication required; log in and send a token')
      if (Object.keys(subscriptions).length > limits.subscriptionsPerConnectionMax)
        throw refusal(
          'SUBSCRIPTION_LIMIT',
          `A connection can carry at most ${limits.subscriptionsPerConnectionMax} operations at a time`,
        )
      const params = documents.resolve(payload as GraphQLParams, viewer)
      const isAwaited = () => id in subscriptions && socket.readyState === socket.OPEN
      return await begin(await enveloped(engine, { viewer, isAwaited, params }))
    } catch (error) {
      return [presentError(error, log)]
    }
  }

  function open(connection: Connection) {
    const { socket, raw } = connection
    const cork = createCork(raw)
    const closed = protocol.opened(
      {
        protocol: socket.protocol,
        send: (data) => {
          cork()
          return send(socket, withTexts(data, connection.texts))
        },
        close: (code, reason) => socket.close(code, reason),
        onMessage(receive) {
          const awaited = createAwaited(socket)
          socket.on('message', (data) => {
            awaited(receive(String(data))).catch((error: unknown) => {
              if (isServersMessage(error))
                return socket.close(closeCodes.badMessage, 'Only a server sends this message')
              log.error({ err: error }, 'a socket message failed')
              socket.close(closeCodes.tryAgain, 'Try again')
            })
          })
        },
      },
      connection,
    )
    // An oversized or malformed frame: ws has closed the connection with the right code already.
    socket.on('error', (error) => log.debug({ err: error }, 'a socket broke'))
    const stopPinging = keepAlive(socket, raw, keepAliveMs)
    socket.once('close', (code, reason) => {
      stopPinging()
      connection.leave?.()
      closed(code, String(reason)).catch((error: unknown) =>
        log.error({ err: error }, 'a socket did not close cleanly'),
      )
    })
  }

  return {
    accept(request, socket, head) {
      const ip = request.socket.remoteAddress ?? null
      const admitted = strangers.enter(String(ip), socket)
      server.handleUpgrade(request, socket, head, (accepted) =>
        open({ socket: accepted, raw: request.socket, ip, admitted, texts: new Map() }),
      )
    },
    count: () => server.clients.size,
    close: () => partOneByOne([...server.clients], clock, closeForRestart),
  }
}

interface Admitting extends Pick<SocketOptions, 'authenticate' | 'guests' | 'unsent' | 'log'> {
  people: Cap
}

/** Makes the connection's viewer, or closes it; never throws. */
async function connect(
  { connectionParams, extra }: Context<Record<string, unknown>, Connection>,
  { authenticate, guests, unsent, people, log }: Admitting,
): Promise<boolean> {
  const given = connectionParams?.['authorization'] ?? connectionParams?.['Authorization']
  const { socket, raw, ip, admitted } = extra
  const close = (why: Farewell) => {
    const [code, reason] = farewells[why]
    socket.close(code, reason)
  }
  const admit = (viewer: Viewer) => {
    const giveBack = people.take(viewer.userId)
    if (giveBack === null) {
      socket.close(
        closeCodes.tryAgain,
        `At most ${limits.socketsPerPersonMax} connections per user are allowed; close some first`,
      )
      return false
    }
    const leave = [guests.enter(viewer, close), unsent.add(viewer.userId, raw, 'SUBSCRIPTIONS'), giveBack]
    extra.viewer = viewer
    extra.leave = () => {
      for (const each of leave) each()
    }
    admitted()
    return true
  }
  try {
    const identified = await authenticate({ authorization: typeof given === 'string' ? given : undefined, ip })
    if (socket.readyState !== socket.OPEN) return false
    if (typeof identified === 'object' && identified.viewer !== anonymous) return admit(identified.viewer)
    close(identified === 'expired' ? 'EXPIRED' : 'GONE')
  } catch (error) {
    if (!(error instanceof Unavailable) && !isUnavailable(error)) log.error({ err: error }, 'authentication failed')
    socket.close(closeCodes.tryAgain, 'Try again')
  }
  return false
}

/** graphql-ws would send the refusal of a subscription as a result and `complete`, which clients take for the end. */
async function begin(prepared: SocketArgs | GraphQLError[]): Promise<SocketArgs | GraphQLError[]> {
  if (Array.isArray(prepared)) return prepared
  const { run, document, operationName } = prepared
  if (getOperationAST(document, operationName)?.operation !== 'subscription') return prepared
  const stream: ExecutionResult | AsyncIterable<ExecutionResult> = await run.subscribe(prepared)
  return Symbol.asyncIterator in stream ? { ...prepared, stream } : [...(stream.errors ?? [])]
}

interface Caller {
  viewer: Viewer
  /** Whether the client still waits for the operation. */
  isAwaited: () => boolean
  params: GraphQLParams
}

async function enveloped(engine: GraphqlEngine, caller: Caller): Promise<SocketArgs | GraphQLError[]> {
  const { params } = caller
  const run = engine.getEnveloped({ ...caller, takesLogTexts: true })
  const document = run.parse(params.query ?? '')
  const errors: readonly GraphQLError[] = run.validate(run.schema, document)
  if (errors.length > 0) return [...errors]
  return {
    run,
    schema: run.schema,
    document,
    operationName: params.operationName,
    variableValues: params.variables,
    contextValue: await run.contextFactory(),
  }
}

/**
 * Reads no further messages while `awaitedMax` are not answered: a peer that sends and reads nothing would have all of its
 * answers kept here. Each operation and each ping is awaited until the kernel has its last message.
 */
function createAwaited(socket: WebSocket): (answered: Promise<void>) => Promise<void> {
  let count = 0
  return async (answered) => {
    count += 1
    if (count === awaitedMax) socket.pause()
    try {
      await answered
    } finally {
      if (count === awaitedMax) socket.resume()
      count -= 1
    }
  }
}

/** What graphql-ws throws for `next`, `error` and `connection_ack`: it has no close code for them. */
const isServersMessage = (error: unknown) =>
  error instanceof Error && error.message.startsWith('Unexpected message of type')

/**
 * Resolves when the kernel has the bytes, so a slow reader holds back its own subscription and nothing else. One
 * message of up to `aheadBytesMax` is not waited for: the next one is made meanwhile.
 */
const send = (socket: WebSocket, { data, sent }: Message) =>
  new Promise<void>((resolve) => {
    if (socket.readyState !== socket.OPEN) {
      sent()
      return resolve()
    }
    const goesOn = socket.bufferedAmount === 0 && data.length <= aheadBytesMax
    // A peer that left meanwhile is told by 'close', not here.
    socket.send(data, { binary: false }, () => {
      sent()
      resolve()
    })
    if (goesOn) resolve()
  })

/** The peer may be dead; it gets a second to take part in the closing handshake. */
const closeForRestart = (socket: WebSocket) =>
  new Promise<void>((resolve) => {
    // It left while others were closed before it.
    if (socket.readyState === socket.CLOSED) return resolve()
    const timer = setTimeout(() => socket.terminate(), closeWaitMs)
    socket.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
    socket.close(closeCodes.restart, 'The server restarts')
  })
