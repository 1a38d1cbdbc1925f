import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Viewer } from '../../domain/access.ts'
import type { Log } from '../../platform/log.ts'
import type { Loop } from '../../platform/loop.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import { ExistingCounts } from '../admission/existing.ts'
import { type RateLimitConfig, RateLimits } from '../admission/rate-limits.ts'
import { TrustedDocuments, type TrustedDocumentsConfig } from '../admission/trusted-documents.ts'
import { limits } from '../caller-limits.ts'
import { AccessExpiry } from '../callers/access-expiry.ts'
import type { Authenticator } from '../callers/authenticate.ts'
import { isUnavailableError, rateLimited } from '../errors.ts'
import { KeyedLimit } from '../keyed-limit.ts'
import { currentRequest, identifyRequest, runRequest } from '../request-scope.ts'
import type { Rooms } from '../rows/context.ts'
import { downloadPath } from '../rows/download-target.ts'
import { sessionPath } from '../rows/session-path.ts'
import { uploadPath } from '../rows/upload-target.ts'
import { createWebServer, type Tls, watchCertificate } from './certificate.ts'
import { createAddressFinder, type FindAddress } from './client-address.ts'
import { computeClosingMs } from './closing-streams.ts'
import type { ConsoleFiles } from './console-files.ts'
import { Downloads } from './downloads.ts'
import { Drain, sendUnavailable, stoppingText } from './drain.ts'
import { createGraphqlEngine, type GraphqlEngine } from './engine.ts'
import { findGateRefusal, type GateRules, normalizeTarget } from './gate.ts'
import { sendGraphiql } from './graphiql.ts'
import type { Readiness } from './health.ts'
import { JobPorts } from './job-ports.ts'
import { PostHandler } from './json-post.ts'
import { createPeerCheck } from './loopback-peers.ts'
import { sendMetrics, sendReadiness } from './metrics-listener.ts'
import { allowOrigin, negotiateContent } from './negotiation.ts'
import { createPipelines } from './pipelining.ts'
import { createResponseClass, sendPlain } from './refused-bodies.ts'
import { RequestAuthenticator } from './request-callers.ts'
import { SessionSockets } from './session-sockets.ts'
import { cutStalledResponse, cutStalledStream, UnsentBytes } from './slow-readers.ts'
import { isWebSocket, refuseUpgrade } from './upgrade.ts'
import { cutSlowBody, Uploads } from './uploads.ts'
import { WebSockets } from './websockets.ts'

export interface ServerConfig extends GateRules {
  host: string
  /** The port; 0: any free port. */
  port: number
  /** Additional request headers that pages of allowed origins may send. */
  allowedHeaders: readonly string[]
  /** Parent domain of the host names of ports of jobs; null: ports have no host names. */
  jobsHost: string | null
  documents: TrustedDocumentsConfig
  introspection: boolean
  /** Addresses and networks whose `X-Forwarded-For` names the client. */
  trustedProxies: readonly string[]
  rateLimits: RateLimitConfig
}

export interface ServerOptions {
  rooms: Rooms
  config: ServerConfig
  authenticate: Authenticator
  /** The web console. */
  console: ConsoleFiles
  sessions: Sessions
  /** The certificate for HTTPS; absent: HTTP. */
  tls?: Tls | null
  keepAliveMs?: number
  checkReadiness: () => Promise<Readiness>
  drainMsMax?: number
  /** Maximum connections; further ones are closed, because the database and jobs need file descriptors too. */
  connectionsMax?: number
}

const keepAliveMsDefault = 12_000
/** Longer than the 60 s of load balancers, because the client of a connection must be the side that closes it. */
const keepAliveTimeoutMs = 75_000
/** Must be longer than the keep-alive timeout, because Node includes the wait for the next request. */
const headersTimeoutMs = 80_000
const unreadBounds = { bytesMax: limits.droppedBodyBytesMax, msMax: limits.droppedBodyMsMax }

/**
 * One port for GraphQL over HTTP, SSE and WebSocket at /graphql, GraphiQL there for browsers, the web console at /, files
 * below /download and /upload, sessions below /session, /metrics, /healthz and /readyz. Ports of jobs have their own host
 * names. Every request passes the gate first. A POST must be JSON: web pages can send other types without a preflight.
 */
export class Server {
  readonly #config: ServerConfig
  readonly #keepAliveMs: number
  readonly #log: Log
  readonly #http: HttpServer
  readonly #callers: RequestAuthenticator
  readonly #checkReadiness: () => Promise<Readiness>
  readonly #drain: Drain
  readonly #accessExpiry: AccessExpiry
  readonly #existing: ExistingCounts
  readonly #findAddress: FindAddress
  readonly #tls: Tls | null
  readonly #certificateWatch: Loop | undefined
  readonly #unsentBytes = new UnsentBytes()
  readonly #runInOrder = createPipelines()
  readonly #engine: GraphqlEngine
  readonly #posts: PostHandler
  readonly #sockets: WebSockets
  readonly #sessions: Sessions
  readonly #sessionSockets: SessionSockets
  readonly #jobPorts: JobPorts
  readonly #downloads: Downloads
  readonly #uploads: Uploads
  readonly #console: ConsoleFiles
  #closed: Promise<void> | undefined

  constructor(options: ServerOptions) {
    const { rooms, config, authenticate, keepAliveMs = keepAliveMsDefault } = options
    const { log, domain } = rooms
    this.#config = config
    this.#keepAliveMs = keepAliveMs
    this.#log = log
    this.#drain = new Drain(domain.clock, options.drainMsMax)
    this.#checkReadiness = options.checkReadiness
    const checkPeer = config.singleUser ? createPeerCheck(log) : null
    this.#callers = new RequestAuthenticator({ authenticate, checkPeer, log })
    this.#accessExpiry = new AccessExpiry(domain)
    this.#existing = new ExistingCounts(domain)
    const documents = new TrustedDocuments(config.documents)
    const admission = {
      documents,
      rateLimits: new RateLimits(config.rateLimits, domain.clock),
      costInFlight: new KeyedLimit(limits.costInFlightMax, { msMax: limits.waitMsMax, refusal: tooMuchInFlight }),
      existing: this.#existing,
      introspection: config.introspection,
    }
    const engine = createGraphqlEngine(rooms, admission)
    this.#engine = engine
    this.#findAddress = createAddressFinder(config.trustedProxies)
    this.#posts = new PostHandler(engine, documents, this.#findAddress)
    const common = { authenticate, accessExpiry: this.#accessExpiry, findAddress: this.#findAddress, keepAliveMs, log }
    const { clock } = domain
    this.#sockets = new WebSockets({ ...common, engine, documents, unsentBytes: this.#unsentBytes, clock })
    this.#sessions = options.sessions
    this.#sessionSockets = new SessionSockets({ ...common, sessions: options.sessions })
    const { jobsHost, publicUrl } = config
    const isSecure = Boolean(options.tls) || publicUrl?.startsWith('https:') === true
    this.#jobPorts = new JobPorts({ ...common, sessions: options.sessions, jobsHost, publicUrl, isSecure })
    this.#downloads = new Downloads({
      rooms,
      findAddress: this.#findAddress,
      identify: (exchange) => this.#callers.findDownloader(exchange),
      watch: (viewer, response) => this.#watchDownload(viewer, response),
      allowedHeaders: config.allowedHeaders,
    })
    this.#uploads = new Uploads({
      rooms,
      findAddress: this.#findAddress,
      watch: (viewer, response) => this.#watchAccess(viewer, response, () => undefined),
    })
    this.#console = options.console
    this.#tls = options.tls ?? null
    this.#http = this.#createHttp()
    this.#certificateWatch = this.#tls
      ? watchCertificate(this.#http, this.#tls, { clock: domain.clock, log })
      : undefined
    limitConnections(this.#http, options.connectionsMax, log)
  }

  async listen(): Promise<{ url: string }> {
    const { port, host } = this.#config
    await new Promise<void>((resolve, reject) => {
      this.#http.once('error', reject)
      this.#http.listen(port, host, resolve)
    })
    this.#accessExpiry.start()
    this.#existing.start()
    this.#sessions.start()
    this.#certificateWatch?.start()
    return { url: formatUrl(this.#http.address() as AddressInfo, this.#tls ? 'https' : 'http') }
  }

  beginLeaving(): void {
    this.#drain.beginLeaving()
  }

  closingMs(): number {
    return computeClosingMs(
      Math.max(this.#sockets.count + this.#sessionSockets.count, this.#drain.openStreams().length),
    )
  }

  /** Drains HTTP, closes WebSockets with 1012, so that clients reconnect, and stops listening. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close() {
    await Promise.all([
      this.#sockets.close(),
      this.#sessions.close(),
      this.#drain.run(),
      this.#accessExpiry.stop(),
      this.#existing.stop(),
      this.#certificateWatch?.stop(),
    ])
    this.#sessionSockets.terminate()
    const ended = new Promise((resolve) => this.#http.close(resolve))
    this.#http.closeAllConnections()
    await ended
    this.#unsentBytes.stop()
  }

  #createHttp(): HttpServer {
    const http = createWebServer(
      this.#tls,
      { ServerResponse: createResponseClass(unreadBounds), shouldUpgradeCallback: isWebSocket },
      (request, response) => {
        const requestId = identifyRequest(request)
        response.setHeader('x-request-id', requestId)
        runRequest(requestId, this.#findAddress(request), () =>
          this.#runInOrder(response, () => this.#route(request, response)).catch((error: unknown) =>
            this.#handleFailure(error, response),
          ),
        )
      },
    )
    http.keepAliveTimeout = keepAliveTimeoutMs
    http.headersTimeout = headersTimeoutMs
    http.requestTimeout = 0
    http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', (error) => this.#log.debug({ err: error }, 'a WebSocket upgrade broke'))
      this.#upgrade(request, socket, head).catch((error: unknown) => {
        this.#log.error({ err: error }, 'a WebSocket upgrade failed')
        socket.destroy()
      })
    })
    return http
  }

  #handleFailure(error: unknown, response: ServerResponse) {
    if (this.#drain.hasEnded(response)) return this.#log.debug({ err: error }, 'a request continued after its response')
    this.#log.error({ err: error, requestId: currentRequest().id }, 'a request failed')
    if (response.headersSent) response.destroy()
    else if (isUnavailableError(error)) sendUnavailable(response, 'The server cannot serve this now; try again')
    else sendPlain(response, 500, 'An unexpected error occurred')
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
    const requestId = identifyRequest(request)
    const refuse = (status: string, why: string) => refuseUpgrade(socket, { requestId, status, reason: why })
    if (this.#drain.isDraining) return refuse('503 Service Unavailable', stoppingText)
    normalizeTarget(request)
    if (this.#jobPorts.owns(request)) return this.#jobPorts.upgrade(request, socket, { head, requestId })
    const reason = findGateRefusal(request.headers, this.#config)
    if (reason !== null) return refuse('403 Forbidden', reason)
    const isSession = readPath(request).startsWith(sessionPath)
    if (!isSession && readPath(request) !== '/graphql')
      return refuse('404 Not Found', `WebSockets are at /graphql and ${sessionPath}`)
    const peerRefusal = await this.#callers.findPeerRefusal(request)
    if (peerRefusal) return refuse('403 Forbidden', peerRefusal)
    if (!isSession) return this.#sockets.accept(request, socket, { head, requestId })
    const refusal = await this.#sessionSockets.accept(request, socket, { head, requestId })
    if (refusal) refuse(...refusal)
  }

  async #route(request: IncomingMessage, response: ServerResponse) {
    normalizeTarget(request)
    // Not for responses of jobs, which set their own headers.
    response.setHeader('x-content-type-options', 'nosniff')
    if (!this.#drain.admit(response)) return
    if (this.#jobPorts.owns(request)) return this.#jobPorts.handle(request, response)
    const path = readPath(request)
    const isDownload = path.startsWith(downloadPath)
    const isConsole = this.#console.has(path)
    const mayNavigate = (isDownload || isConsole) && /^(GET|HEAD)$/.test(request.method ?? '')
    const reason = findGateRefusal(request.headers, this.#config, mayNavigate)
    if (reason !== null) return sendPlain(response, 403, reason)
    allowOrigin(request, response)
    if (path.startsWith(uploadPath)) return this.#uploads.handle({ request, response })
    cutSlowBody(request)
    if (isDownload) return this.#downloads.handle({ request, response })
    if (isConsole) return this.#console.send({ request, response }, path)
    switch (path) {
      case '/graphql':
        return this.#handleGraphql(request, response)
      case '/healthz':
        return sendPlain(response, 200, 'ok')
      case '/readyz':
        return sendReadiness(response, await this.#checkReadiness())
      case '/metrics':
        if (await this.#callers.findMetricsReader({ request, response }))
          await sendMetrics(response, request.headers.accept)
        return
      default:
        return sendPlain(response, 404, 'Not found')
    }
  }

  async #handleGraphql(request: IncomingMessage, response: ServerResponse) {
    const { singleUser, allowedHeaders } = this.#config
    if (!negotiateContent(request, response, allowedHeaders)) return
    const peerRefusal = await this.#callers.findCallerPeerRefusal(request)
    if (peerRefusal) return sendPlain(response, 403, peerRefusal)
    if (request.method === 'GET' && request.headers.accept?.includes('text/html'))
      return sendGraphiql({ request, response }, singleUser)
    if (request.method === 'POST' && !isJson(request))
      return sendPlain(response, 415, 'The body must be application/json')
    if (isCompressed(request)) {
      response.setHeader('accept-encoding', 'identity')
      return sendPlain(response, 415, 'The body must not be compressed')
    }
    const viewer = await this.#callers.findViewer({ request, response })
    if (viewer) await this.#execute(viewer, request, response)
  }

  #watchDownload(viewer: Viewer, response: ServerResponse) {
    response.once('close', this.#unsentBytes.watch(viewer.userId, response.req.socket, 'RESPONSE'))
    this.#watchStream(viewer, response, () => undefined)
  }

  async #execute(viewer: Viewer, request: IncomingMessage, response: ServerResponse) {
    cutStalledResponse(response, this.#keepAliveMs)
    response.once('close', this.#unsentBytes.watch(viewer.userId, request.socket, 'RESPONSE'))
    const requester = {
      viewer,
      onStreamStart: (end: () => void) => this.#watchStream(viewer, response, end),
      sendsEventIds: true,
      lastEventId: request.headersDistinct['last-event-id']?.[0],
    }
    if (request.method === 'POST') await this.#posts.handle(requester, { request, response })
    else await this.#engine(request, response, requester)
  }

  /** Cuts a stream whose viewer loses access, without `complete`, so that the client reconnects and gets the reason. */
  #watchStream(viewer: Viewer, response: ServerResponse, end: () => void) {
    if (response.closed) return end()
    const stopCutting = cutStalledStream(response, this.#keepAliveMs)
    this.#watchAccess(viewer, response, () => {
      stopCutting()
      end()
    })
  }

  #watchAccess(viewer: Viewer, response: ServerResponse, end: () => void) {
    const unwatch = this.#accessExpiry.watch(viewer, () => response.destroy())
    response.once('close', () => {
      unwatch()
      end()
    })
  }
}

const tooMuchInFlight = () =>
  rateLimited(
    `Your requests in flight cost ${limits.costInFlightMax}, and this one waited ${limits.waitMsMax / 1_000} s for them; send fewer at a time`,
    1,
  )

function limitConnections(http: HttpServer, max: number | undefined, log: Log) {
  if (max === undefined || !Number.isFinite(max)) return
  http.maxConnections = max
  const message = `${max} connections are open, half of the limit of open files (ulimit -n)`
  // The log throttles errors with this code.
  const error = Object.assign(new Error(message), { code: 'EMFILE' })
  http.on('drop', () => log.warn({ err: error }, 'connections are refused'))
}

const readPath = (request: IncomingMessage) => (request.url ?? '/').replace(/[?#].*$/, '')

const isJson = (request: IncomingMessage) => /^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')

const isCompressed = ({ headers }: IncomingMessage) => !/^(identity)?$/i.test(headers['content-encoding'] ?? '')

function formatUrl({ address, family, port }: AddressInfo, scheme: 'http' | 'https'): string {
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
