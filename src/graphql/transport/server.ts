import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { anonymous, type Viewer } from '../../domain/access.ts'
import type { DiskWatch } from '../../platform/disk.ts'
import type { Log } from '../../platform/log.ts'
import { isUnavailable, Unavailable } from '../../platform/tx.ts'
import { type AllowanceLimits, createAllowances } from '../admission/rate-limits.ts'
import { createDocuments, type TrustedDocuments } from '../admission/trusted-documents.ts'
import { createGuests } from '../callers/access-expiry.ts'
import { type Authenticate, showsRunToken } from '../callers/authenticate.ts'
import { createCap } from '../cap-per-key.ts'
import { errorBody, rateLimited, saysUnavailable } from '../errors.ts'
import { createUnderWay } from '../in-flight.ts'
import { limits } from '../request-limits.ts'
import type { Rooms } from '../rows/context.ts'
import { schema } from '../schema/schema.ts'
import { partingMs } from './closing-streams.ts'
import { answerUnavailable, createDrain, stoppingText } from './drain.ts'
import { createGraphqlEngine } from './engine.ts'
import { type GateRules, turnedAway } from './gate.ts'
import { sendGraphiql } from './graphiql.ts'
import { createReadiness } from './health.ts'
import { answerPost } from './json-post.ts'
import { createLargeBodies } from './large-bodies.ts'
import { createPeerCheck } from './loopback-peers.ts'
import { allowOrigin, negotiated } from './negotiation.ts'
import { createPipelines } from './pipelining.ts'
import { refuseUpgrade } from './refuse-upgrade.ts'
import { answerJson, answerText, patientResponse } from './refused-bodies.ts'
import { toPath } from './request-target.ts'
import { createUnsentWatch, cutWhenStalled, cutWhenUnread } from './slow-readers.ts'
import { createSockets } from './websockets.ts'

/**
 * One port for everything: GraphQL over HTTP, SSE and WebSocket at /graphql, GraphiQL there for browsers, /healthz and
 * /readyz. Every request passes the gate first; a POST must be JSON, because any web page may send other kinds of body
 * without asking the server first.
 *
 * `close` drains HTTP (drain.ts), closes sockets with 1012, so that clients come back, and stops listening.
 */

export interface Server {
  listen(): Promise<{ url: string }>
  /** How long the streams that are open now take to end. */
  partingMs(): number
  close(): Promise<void>
}

export interface ServerConfig extends GateRules {
  host: string
  /** 0: any free one. */
  port: number
  /** Request headers that pages of allowed origins may send, beyond the usual ones. */
  allowedHeaders: readonly string[]
  documents: TrustedDocuments
  /** Whether callers who are logged in may ask the schema. */
  introspection: boolean
  allowances: AllowanceLimits
}

export interface ServerOptions {
  rooms: Rooms
  config: ServerConfig
  authenticate: Authenticate
  /** Of what this process keeps. */
  disk: Pick<DiskWatch, 'findProblem'>
  keepAliveMs?: number
  /** false until all parts of the process are there; absent: they are. */
  isStarted?: () => boolean
  /** How long requests in flight may take once the server stops. */
  drainMsMax?: number
  /** Further connections are closed at once: they would take the descriptors of the database and of jobs. */
  connectionsMax?: number
}

const keepAliveMsDefault = 12_000
/** Longer than the usual 60 s of balancers: they close an idle connection first, and no request meets a closed one. */
const keepAliveTimeoutMs = 75_000
/** More than that: Node counts the wait for the next request on a connection as a part of it. */
const headersTimeoutMs = 80_000
const unread = { bytesMax: limits.passedOverBytesMax, msMax: limits.passedOverMsMax }

export function createServer(options: ServerOptions): Server {
  const { rooms, config, authenticate, keepAliveMs = keepAliveMsDefault } = options
  const { log } = rooms
  const drain = createDrain(rooms.domain.clock, options.drainMsMax)
  const readiness = createReadiness(rooms.domain, options)
  const documents = createDocuments(config.documents)
  const allowances = createAllowances(config.allowances, rooms.domain.clock)
  const underWay = createUnderWay(limits.costUnderWayMax, { msMax: limits.waitMsMax, refusal: tooMuchInFlight })
  const admission = { documents, allowances, underWay, introspection: config.introspection }
  const engine = createGraphqlEngine({ schema, rooms, admission })
  const guests = createGuests(rooms.domain)
  const unsent = createUnsentWatch()
  const sockets = createSockets({
    engine,
    unsent,
    documents,
    authenticate,
    guests,
    keepAliveMs,
    clock: rooms.domain.clock,
    log,
  })
  const bodies = createCap(limits.bodiesBytesMax)
  const largeBodies = createLargeBodies()
  const inOrder = createPipelines()
  const http = createHttpServer(
    { ServerResponse: patientResponse(unread), shouldUpgradeCallback: isWebSocket },
    (request, response) => {
      inOrder(response, () => serve(request, response)).catch((error: unknown) => {
        if (drain.answered(response)) return log.debug({ err: error }, 'a request continued after its response')
        log.error({ err: error }, 'a request failed')
        if (response.headersSent) response.destroy()
        else if (saysUnavailable(error)) answerUnavailable(response, 'The server cannot serve this now; try again')
        else answer(response, 500, 'An unexpected error occurred')
      })
    },
  )
  http.keepAliveTimeout = keepAliveTimeoutMs
  http.headersTimeout = headersTimeoutMs
  limitConnections(http, options.connectionsMax, log)
  const peers = config.singleUser ? createPeerCheck(log) : null

  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', (error) => log.debug({ err: error }, 'a WebSocket upgrade broke'))
    upgrade(request, socket, head).catch((error: unknown) => {
      log.error({ err: error }, 'a WebSocket upgrade failed')
      socket.destroy()
    })
  })

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
    if (drain.isDraining) return refuseUpgrade(socket, { status: '503 Service Unavailable', reason: stoppingText })
    toPath(request)
    const reason = turnedAway(request.headers, config)
    if (reason !== null) return refuseUpgrade(socket, { status: '403 Forbidden', reason })
    if (pathOf(request) !== '/graphql')
      return refuseUpgrade(socket, { status: '404 Not Found', reason: 'WebSockets are at /graphql' })
    const stranger = await peers?.(request.socket)
    if (stranger) return refuseUpgrade(socket, { status: '403 Forbidden', reason: stranger })
    sockets.accept(request, socket, head)
  }

  async function serve(request: IncomingMessage, response: ServerResponse) {
    response.setHeader('x-content-type-options', 'nosniff')
    if (!drain.admits(response)) return
    toPath(request)
    const reason = turnedAway(request.headers, config)
    if (reason !== null) return answer(response, 403, reason)
    allowOrigin(request, response)
    switch (pathOf(request)) {
      case '/graphql':
        return graphql(request, response)
      case '/healthz':
        return answer(response, 200, 'ok')
      case '/readyz':
        return ready(response)
      case '/':
        return redirect(response, 'graphql')
      default:
        return answer(response, 404, 'Not found')
    }
  }

  async function graphql(request: IncomingMessage, response: ServerResponse) {
    if (!negotiated(request, response, config.allowedHeaders)) return
    // A job may run as another account; its token is checked instead.
    const stranger = showsRunToken(request.headers.authorization) ? null : await peers?.(request.socket)
    if (stranger) return answer(response, 403, stranger)
    if (request.method === 'GET' && request.headers.accept?.includes('text/html'))
      return sendGraphiql({ request, response }, config.singleUser)
    if (request.method === 'POST' && !isJson(request)) return answer(response, 415, 'The body must be application/json')
    if (isCompressed(request)) {
      response.setHeader('accept-encoding', 'identity')
      return answer(response, 415, 'The body must not be compressed')
    }
    const identified = await identify(request)
    if (identified === 'unavailable')
      return answerUnavailable(response, 'Authentication is unavailable right now; try again')
    if (typeof identified === 'string') return unauthenticated(response, identified)
    const { viewer } = identified
    cutWhenUnread(response, keepAliveMs)
    response.once('close', unsent.add(viewer.userId, request.socket, 'ANSWER'))
    await carryOut(viewer, request, response)
  }

  async function carryOut(viewer: Viewer, request: IncomingMessage, response: ServerResponse) {
    const portion = bodies.open(senderOf(viewer, request))
    const stays = (end: () => void) => {
      portion.giveBack()
      keep(viewer, response, end)
    }
    await answerPost({ engine, documents, portion, largeBodies }, { viewer, stays }, { request, response }).finally(
      portion.giveBack,
    )
  }

  /** The stream of a reader who loses access is cut without a `complete`: the client reconnects and gets the reason. */
  function keep(viewer: Viewer, response: ServerResponse, end: () => void) {
    if (response.closed) return end()
    const leave = guests.enter(viewer, () => response.destroy())
    const stopWatching = cutWhenStalled(response, keepAliveMs)
    response.once('close', () => {
      stopWatching()
      leave()
      end()
    })
  }

  async function identify({ headers: { authorization }, socket }: IncomingMessage) {
    try {
      return await authenticate({ authorization, ip: socket.remoteAddress ?? null })
    } catch (error) {
      if (!(error instanceof Unavailable) && !isUnavailable(error)) throw error
      log.warn({ err: error }, 'authentication is unavailable')
      return 'unavailable'
    }
  }

  async function ready(response: ServerResponse) {
    const state = await readiness()
    response.setHeader('cache-control', 'no-store')
    answerJson(response, state.ready ? 200 : 503, state)
  }

  let closed: Promise<void> | undefined

  async function close() {
    await Promise.all([sockets.close(), drain.run(), guests.stop()])
    const ended = new Promise((resolve) => http.close(resolve))
    http.closeAllConnections()
    await ended
    unsent.stop()
  }

  return {
    async listen() {
      await new Promise<void>((resolve, reject) => {
        http.once('error', reject)
        http.listen(config.port, config.host, resolve)
      })
      guests.start()
      return { url: urlOf(http.address() as AddressInfo) }
    },
    partingMs: () => partingMs(Math.max(sockets.count(), drain.streams().length)),
    close() {
      closed ??= close()
      return closed
    },
  }
}

const senderOf = (viewer: Viewer, { socket }: IncomingMessage) =>
  viewer === anonymous ? (socket.remoteAddress ?? '') : viewer.userId

const tooMuchInFlight = () =>
  rateLimited(
    `Your requests in flight cost ${limits.costUnderWayMax}, and this one waited ${limits.waitMsMax / 1_000} s for them; send fewer at a time`,
    1,
  )

function limitConnections(http: HttpServer, max: number | undefined, log: Log) {
  if (max === undefined || !Number.isFinite(max)) return
  http.maxConnections = max
  http.on('drop', () => log.warn({ err: new TooManyConnections(max) }, 'connections are refused'))
}

/** The code makes it a trouble of the machine, which the log tells once. */
class TooManyConnections extends Error {
  readonly code = 'EMFILE'
  constructor(max: number) {
    super(`${max} connections are open, half of what the limit of open files (ulimit -n) admits`)
  }
}

const pathOf = (request: IncomingMessage) => (request.url ?? '/').replace(/[?#].*$/, '')

const isJson = (request: IncomingMessage) => /^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')

/** Some clients offer HTTP/2 with their first request, which the server does not take up. */
const isWebSocket = ({ headers }: IncomingMessage) => /^websocket$/i.test(headers.upgrade ?? '')

const isCompressed = ({ headers }: IncomingMessage) => !/^(identity)?$/i.test(headers['content-encoding'] ?? '')

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

function answer(response: ServerResponse, status: number, text: string) {
  answerText(response, status, { type: 'text/plain', text: `${text}\n` })
}

function unauthenticated(response: ServerResponse, why: 'unknown' | 'expired') {
  const message =
    why === 'expired' ? 'The token has expired; get a new one' : 'The token is unknown or revoked, or its run is over'
  response.setHeader('www-authenticate', 'Bearer error="invalid_token"')
  response.setHeader('cache-control', 'no-store')
  answerJson(response, 401, errorBody('UNAUTHENTICATED', message))
}

function redirect(response: ServerResponse, location: string) {
  response.writeHead(302, { location })
  response.end()
}
