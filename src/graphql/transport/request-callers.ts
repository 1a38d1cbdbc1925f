import type { IncomingMessage, ServerResponse } from 'node:http'
import { anonymous, type Viewer } from '../../domain/access.ts'
import type { Log } from '../../platform/log.ts'
import { isUnavailable, Unavailable } from '../../platform/tx.ts'
import { type Authenticator, hasRunToken } from '../callers/authenticate.ts'
import { currentRequest } from '../request-scope.ts'
import type { Exchange } from './compression.ts'
import { sendUnavailable } from './drain.ts'
import type { PeerCheck } from './loopback-peers.ts'
import { sendError, sendPlain } from './refused-bodies.ts'

interface RequestCallersOptions {
  authenticate: Authenticator
  /** Checks the account of a loopback peer; null: all accounts are allowed. */
  checkPeer: PeerCheck | null
  log: Log
}

/** Finds the callers of HTTP requests. null: the request is refused, and its response was already sent. */
export class RequestAuthenticator {
  readonly #options: RequestCallersOptions

  constructor(options: RequestCallersOptions) {
    this.#options = options
  }

  async findPeerRefusal(request: IncomingMessage): Promise<string | null> {
    return (await this.#options.checkPeer?.(request.socket)) ?? null
  }

  /** Returns why the peer is refused, or null. A job may run under another account, so its token is checked instead. */
  async findCallerPeerRefusal(request: IncomingMessage): Promise<string | null> {
    return hasRunToken(request.headers.authorization) ? null : this.findPeerRefusal(request)
  }

  async findViewer({ request, response }: Exchange): Promise<Viewer | null> {
    const identified = await this.#identify(request)
    if (typeof identified === 'object') return identified.viewer
    if (identified === 'unavailable') sendUnavailable(response, 'Authentication is unavailable right now; try again')
    else sendUnauthenticated(response, identified)
    return null
  }

  async findDownloader(exchange: Exchange): Promise<Viewer | null> {
    const peerRefusal = await this.findCallerPeerRefusal(exchange.request)
    if (peerRefusal === null) return this.findViewer(exchange)
    sendPlain(exchange.response, 403, peerRefusal)
    return null
  }

  /** Finds the caller of /metrics. A loopback peer needs a token as well, because it may be a proxy. */
  async findMetricsReader(exchange: Exchange): Promise<Viewer | null> {
    const viewer = await this.findDownloader(exchange)
    if (viewer === null || (viewer !== anonymous && viewer.run === null)) return viewer
    sendUnauthenticated(exchange.response, 'absent')
    return null
  }

  async #identify({ headers: { authorization } }: IncomingMessage) {
    const { authenticate, log } = this.#options
    const { id: requestId, ip } = currentRequest()
    try {
      return await authenticate({ authorization, ip, requestId })
    } catch (error) {
      if (!(error instanceof Unavailable) && !isUnavailable(error)) throw error
      log.warn({ err: error, requestId }, 'authentication is unavailable')
      return 'unavailable'
    }
  }
}

const tokenProblems = {
  unknown: 'The token is unknown or revoked, or its run is over',
  expired: 'The token has expired; get a new one',
  absent: 'Send the token of a user: Authorization: Bearer TOKEN',
} as const

function sendUnauthenticated(response: ServerResponse, why: keyof typeof tokenProblems) {
  response.setHeader('www-authenticate', why === 'absent' ? 'Bearer' : 'Bearer error="invalid_token"')
  response.setHeader('cache-control', 'no-store')
  sendError(response, 401, 'UNAUTHENTICATED', tokenProblems[why])
}
