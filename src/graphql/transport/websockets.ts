import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ExecutionArgs, type ExecutionResult, type GraphQLError, getOperationAST } from 'graphql'
import { type Context, GRAPHQL_TRANSPORT_WS_PROTOCOL, makeServer, type Server, type SubscribePayload } from 'graphql-ws'
import type { GraphQLParams } from 'graphql-yoga'
import { type WebSocket, WebSocketServer } from 'ws'
import { anonymous, type Viewer } from '../../domain/access.ts'
import type { Utf8 } from '../../logs/batch.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { isUnavailable, Unavailable } from '../../platform/tx.ts'
import type { TrustedDocuments } from '../admission/trusted-documents.ts'
import { limits } from '../caller-limits.ts'
import type { AccessEnd, AccessExpiry } from '../callers/access-expiry.ts'
import type { Authenticator } from '../callers/authenticate.ts'
import { formatError, presentError, refusal } from '../errors.ts'
import { KeyedLimit } from '../keyed-limit.ts'
import { keepRequest, runRequest } from '../request-scope.ts'
import { insertLogTexts, type Message, readLogTexts } from '../rows/log-text.ts'
import type { FindAddress } from './client-address.ts'
import { closeGradually } from './closing-streams.ts'
import type { GraphqlEngine } from './engine.ts'
import { pingPeer, type UnsentBytes } from './slow-readers.ts'
import { createWriteCoalescer } from './write-coalescing.ts'

export interface SocketOptions {
  findAddress: FindAddress
  engine: GraphqlEngine
  documents: TrustedDocuments
  authenticate: Authenticator
  accessExpiry: AccessExpiry
  unsentBytes: UnsentBytes
  keepAliveMs: number
  clock: Clock
  log: Log
}

interface Connection {
  socket: WebSocket
  raw: Socket
  ip: string | null
  requestId: string
  /** Number of operations so far. */
  operations: number
  viewer?: Viewer
  /** Called when the connection is authenticated and no longer counts for its address. */
  releaseAddress: () => void
  release?: () => void
  /** Texts of results that are about to be sent. */
  readonly texts: Map<string, Utf8>
}

type Init = Record<string, unknown>

interface Prepared extends ExecutionArgs {
  run: ReturnType<GraphqlEngine['getEnveloped']>
  inRequest: ReturnType<typeof keepRequest>
}

/** Arguments that graphql-ws keeps as long as the stream, so they contain only what the protocol needs. */
interface Streaming extends ExecutionArgs {
  stream: AsyncIterable<ExecutionResult>
}

const closeWaitMs = 1_000
/** While a message up to this size is being sent, the next one is prepared. */
const aheadBytesMax = 524_288
/** An option of ws that its types lack. */
const closing = { closeTimeout: closeWaitMs }
const closeCodes = { restart: 1012, tryAgain: 1013, badMessage: 4400, unauthenticated: 4401, expired: 4403 } as const

const closesOfAccess = {
  GONE: [closeCodes.unauthenticated, 'The token is missing, unknown or revoked'],
  EXPIRED: [closeCodes.expired, 'The token has expired'],
  CHANGED: [closeCodes.expired, 'Permissions have changed'],
} as const satisfies Record<AccessEnd, readonly [number, string]>

/**
 * GraphQL over WebSocket (graphql-transport-ws), behind the gate. The token comes with `connection_init`.
 *
 * Close codes determine whether the standard client reconnects. It does after 1012 (the server restarts), 1013 (the
 * database is unavailable, or the user has too many sockets) and, with a new token, 4403. It does not after 4401, 1009
 * (message too large), 4400 (the client sent a message that only servers send) and 4408 (no `connection_init`).
 * onConnect must not throw: that closes with 4500, after which the client does not reconnect.
 */
export class WebSockets {
  readonly #options: SocketOptions
  readonly #protocol: Server<Connection>
  readonly #server = new WebSocketServer({
    noServer: true,
    ...closing,
    maxPayload: limits.subscriptionBytesMax,
    handleProtocols: (protocols) =>
      protocols.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) ? GRAPHQL_TRANSPORT_WS_PROTOCOL : false,
  })
  readonly #perUser = new KeyedLimit(limits.socketsPerUserMax)
  /** Callers behind a proxy share an address, so at the limit the oldest socket is evicted. */
  readonly #unauthenticated = new KeyedLimit(limits.unauthenticatedSocketsPerAddressMax)

  constructor(options: SocketOptions) {
    this.#options = options
    this.#server.on('headers', (headers, { headers: given }) => headers.push(`X-Request-Id: ${given['x-request-id']}`))
    this.#protocol = makeServer<Init, Connection>({
      connectionInitWaitTimeout: limits.connectionInitMsMax,
      onConnect: (context) => this.#connect(context),
      onSubscribe: (context, id, payload) => {
        const { extra } = context
        extra.operations += 1
        const requestId = `${extra.requestId}.${extra.operations}`
        return runRequest(requestId, extra.ip, () => this.#prepare(context, id, { payload, requestId }))
      },
      execute: (args) => (args as Prepared).inRequest((args as Prepared).run.execute, args),
      subscribe: (args) => (args as Streaming).stream as AsyncIterableIterator<ExecutionResult>,
      onError: (_context, _id, _payload, errors) => this.#formatErrors(errors),
      onNext: ({ extra }, _id, _payload, _args, result) => {
        const { data = null, errors, extensions } = result
        for (const [marker, utf8] of readLogTexts(result)) extra.texts.set(marker, utf8)
        return errors ? { data, errors: this.#formatErrors(errors), ...(extensions && { extensions }) } : undefined
      },
    })
  }

  get count(): number {
    return this.#server.clients.size
  }

  accept(request: IncomingMessage, socket: Duplex, { head, requestId }: { head: Buffer; requestId: string }): void {
    const ip = this.#options.findAddress(request)
    const releaseAddress = this.#unauthenticated.acquireByEviction(String(ip), () => socket.destroy())
    socket.once('close', releaseAddress)
    this.#server.handleUpgrade(request, socket, head, (accepted) =>
      this.#open({
        socket: accepted,
        raw: request.socket,
        ip,
        requestId,
        operations: 0,
        releaseAddress,
        texts: new Map(),
      }),
    )
  }

  close(): Promise<void> {
    return closeGradually([...this.#server.clients], this.#options.clock, closeForRestart)
  }

  #open(connection: Connection) {
    const { socket, raw, texts } = connection
    const { log, keepAliveMs } = this.#options
    const coalesceWrites = createWriteCoalescer(raw)
    const closed = this.#protocol.opened(
      {
        protocol: socket.protocol,
        send: (data) => {
          coalesceWrites()
          return send(socket, insertLogTexts(data, texts))
        },
        close: (code, reason) => socket.close(code, reason),
        onMessage: (receive) => this.#receive(socket, receive),
      },
      connection,
    )
    // ws has closed the connection after an oversized or malformed frame.
    socket.on('error', (error) => log.debug({ err: error }, 'a socket broke'))
    const stopPinging = pingPeer(socket, raw, keepAliveMs)
    socket.once('close', (code, reason) => {
      stopPinging()
      connection.release?.()
      closed(code, String(reason)).catch((error: unknown) =>
        log.error({ err: error }, 'a socket did not close cleanly'),
      )
    })
  }

  #receive(socket: WebSocket, receive: (data: string) => Promise<void>) {
    const limitUnanswered = createUnansweredLimit(socket)
    socket.on('message', (data) => {
      limitUnanswered(receive(String(data))).catch((error: unknown) => {
        if (isServersMessage(error)) return socket.close(closeCodes.badMessage, 'Only a server sends this message')
        this.#options.log.error({ err: error }, 'a socket message failed')
        socket.close(closeCodes.tryAgain, 'Try again')
      })
    })
  }

  async #connect({ connectionParams, extra }: Context<Init, Connection>): Promise<boolean> {
    const given = connectionParams?.['authorization'] ?? connectionParams?.['Authorization']
    const { socket, ip, requestId } = extra
    try {
      const authorization = typeof given === 'string' ? given : undefined
      const identified = await this.#options.authenticate({ authorization, ip, requestId })
      if (socket.readyState !== socket.OPEN) return false
      if (typeof identified === 'object' && identified.viewer !== anonymous)
        return this.#admit(extra, identified.viewer)
      closeWithout(socket, identified === 'expired' ? 'EXPIRED' : 'GONE')
    } catch (error) {
      if (!(error instanceof Unavailable) && !isUnavailable(error))
        this.#options.log.error({ err: error, requestId }, 'authentication failed')
      socket.close(closeCodes.tryAgain, 'Try again')
    }
    return false
  }

  #admit(connection: Connection, viewer: Viewer): boolean {
    const { socket, raw } = connection
    const { accessExpiry, unsentBytes } = this.#options
    const release = this.#perUser.tryAcquire(viewer.userId)
    if (release === null) {
      const reason = `At most ${limits.socketsPerUserMax} connections per user are allowed; close some first`
      socket.close(closeCodes.tryAgain, reason)
      return false
    }
    const unwatchAccess = accessExpiry.watch(viewer, (why) => closeWithout(socket, why))
    const unwatchBytes = unsentBytes.watch(viewer.userId, raw, 'SUBSCRIPTIONS')
    connection.viewer = viewer
    connection.release = () => {
      unwatchAccess()
      unwatchBytes()
      release()
    }
    connection.releaseAddress()
    return true
  }

  async #prepare(
    { extra, subscriptions }: Context<Init, Connection>,
    id: string,
    { payload, requestId }: { payload: SubscribePayload; requestId: string },
  ): Promise<Prepared | Streaming | GraphQLError[]> {
    const { engine, documents, log } = this.#options
    const { socket } = extra
    try {
      if (!extra.viewer) throw refusal('UNAUTHENTICATED', 'Authentication required; log in and send a token')
      if (Object.keys(subscriptions).length > limits.operationsPerSocketMax)
        throw refusal(
          'SUBSCRIPTION_LIMIT',
          `A connection can carry at most ${limits.operationsPerSocketMax} operations at a time`,
        )
      const viewer = { ...extra.viewer, requestId }
      const params = documents.resolve(payload as GraphQLParams, viewer)
      const clientWaits = () => id in subscriptions && socket.readyState === socket.OPEN
      return await startStream(await parseOperation(engine, { viewer, clientWaits, params }))
    } catch (error) {
      return [presentError(error, log)]
    }
  }

  /** Converts errors of graphql-ws itself, which have not passed through the engine. */
  #formatErrors(errors: readonly GraphQLError[]) {
    return errors.map((error) =>
      formatError(error.extensions['requestId'] === undefined ? presentError(error, this.#options.log) : error),
    )
  }
}

function closeWithout(socket: WebSocket, why: AccessEnd) {
  const [code, reason] = closesOfAccess[why]
  socket.close(code, reason)
}

/**
 * Starts a subscription. Returns a refusal as errors: graphql-ws would send it as a result with `complete`, after which
 * clients do not retry.
 */
async function startStream(prepared: Prepared | GraphQLError[]): Promise<Prepared | Streaming | GraphQLError[]> {
  if (Array.isArray(prepared)) return prepared
  const { run, inRequest, ...args } = prepared
  const { schema, document, operationName } = args
  if (getOperationAST(document, operationName)?.operation !== 'subscription') return prepared
  const stream: ExecutionResult | AsyncIterable<ExecutionResult> = await run.subscribe(args)
  return Symbol.asyncIterator in stream
    ? { schema, document, operationName, contextValue: null, stream }
    : [...(stream.errors ?? [])]
}

async function parseOperation(
  engine: GraphqlEngine,
  caller: { viewer: Viewer; clientWaits: () => boolean; params: GraphQLParams },
): Promise<Prepared | GraphQLError[]> {
  const { params } = caller
  const run = engine.getEnveloped({ ...caller, insertsLogTexts: true })
  const document = run.parse(params.query ?? '')
  const errors: readonly GraphQLError[] = run.validate(run.schema, document)
  if (errors.length > 0) return [...errors]
  return {
    run,
    inRequest: keepRequest(),
    schema: run.schema,
    document,
    operationName: params.operationName,
    variableValues: params.variables,
    contextValue: await run.contextFactory(),
  }
}

/**
 * Pauses reading while too many operations and pings have no response: a peer that never reads would exhaust the
 * memory.
 */
function createUnansweredLimit(socket: WebSocket): (answered: Promise<void>) => Promise<void> {
  const max = limits.unansweredMessagesPerSocketMax
  let count = 0
  return async (answered) => {
    count += 1
    if (count === max) socket.pause()
    try {
      await answered
    } finally {
      if (count === max) socket.resume()
      count -= 1
    }
  }
}

/** true: graphql-ws reports a `next`, `error` or `connection_ack` from the client, for which it has no close code. */
const isServersMessage = (error: unknown) =>
  error instanceof Error && error.message.startsWith('Unexpected message of type')

/**
 * Sends a message. Resolves when the kernel has the bytes, so a slow reader delays only its own subscription. For a
 * message up to `aheadBytesMax` on an idle socket it resolves at once, so that the next message is prepared meanwhile.
 */
const send = (socket: WebSocket, { data, sent }: Message) =>
  new Promise<void>((resolve) => {
    if (socket.readyState !== socket.OPEN) {
      sent()
      return resolve()
    }
    const isAhead = socket.bufferedAmount === 0 && data.length <= aheadBytesMax
    // The event `close` reports a failure.
    socket.send(data, { binary: false }, () => {
      sent()
      resolve()
    })
    if (isAhead) resolve()
  })

/** Closes the socket. A peer that does not complete the closing handshake is cut. */
const closeForRestart = (socket: WebSocket) =>
  new Promise<void>((resolve) => {
    if (socket.readyState === socket.CLOSED) return resolve()
    const timer = setTimeout(() => socket.terminate(), closeWaitMs)
    socket.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
    socket.close(closeCodes.restart, 'The server restarts')
  })
