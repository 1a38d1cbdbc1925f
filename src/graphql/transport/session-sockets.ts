import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { frameBytesMax, sessionProtocol } from '../../client/channel/frames.ts'
import { parseTicket } from '../../domain/control/sessions.ts'
import type { Log } from '../../platform/log.ts'
import type { Line } from '../../sessions/line.ts'
import type { LiveSession } from '../../sessions/live-session.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import { limits } from '../caller-limits.ts'
import type { AccessExpiry } from '../callers/access-expiry.ts'
import type { Authenticator } from '../callers/authenticate.ts'
import { KeyedLimit } from '../keyed-limit.ts'
import { sessionPath } from '../rows/session-path.ts'
import type { FindAddress } from './client-address.ts'
import { pingPeer } from './slow-readers.ts'

interface SessionSocketsOptions {
  sessions: Sessions
  authenticate: Authenticator
  accessExpiry: AccessExpiry
  findAddress: FindAddress
  keepAliveMs: number
  log: Log
}

const normalClosure = 1000
/** An option of ws that its types lack. */
const closing = { closeTimeout: 1_000 }
/** Maximum unsent bytes. Only a client that does not read frames outside of the window, such as pongs, can exceed it. */
const unsentBytesMax = 1_048_576
const numberMax = 2 ** 31

/**
 * The WebSockets of sessions, at /session/<ticket>. The ticket permits one connection. The server then sends a secret, with
 * which the client reconnects (`?line=N&received=N`) or opens another line at the same URL.
 * Secrets are in the header Sec-WebSocket-Protocol, which servers and proxies do not log.
 */
export class SessionSockets {
  readonly #options: SessionSocketsOptions
  readonly #server = new WebSocketServer({
    noServer: true,
    ...closing,
    maxPayload: frameBytesMax,
    handleProtocols: (protocols) => (protocols.has(sessionProtocol) ? sessionProtocol : false),
  })

  readonly #beginning = new KeyedLimit(limits.unauthenticatedSocketsPerAddressMax)

  constructor(options: SessionSocketsOptions) {
    this.#options = options
  }

  /** Returns a refusal: status and reason; null: the WebSocket was accepted. */
  async accept(
    request: IncomingMessage,
    socket: Duplex,
    { head, requestId }: { head: Buffer; requestId: string },
  ): Promise<[status: string, reason: string] | null> {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const ticket = url.pathname.slice(sessionPath.length)
    const [named, secret] = (request.headers['sec-websocket-protocol'] ?? '').split(/ *, */)
    const [line, received] = ['line', 'received'].map((name) => Number(url.searchParams.get(name) ?? 0))
    if (named !== sessionProtocol || !isCount(line) || !isCount(received))
      return ['400 Bad Request', `The subprotocol must be ${sessionProtocol}, and line and received numbers`]
    const live = secret === undefined ? await this.#tryBegin(ticket, request, requestId) : this.#find(ticket, secret)
    if (live === 'BUSY') return ['429 Too Many Requests', 'Too many sessions begin from your address; try again']
    if (live === null) return ['403 Forbidden', 'The ticket is used, late or of another user; open another session']
    const found = live.findLine(line)
    if (!found) return ['409 Conflict', 'This line is over, or the session has too many']
    this.#server.handleUpgrade(request, socket, head, (accepted) =>
      this.#open(accepted, request, { line: found, received }),
    )
    return null
  }

  get count(): number {
    return this.#server.clients.size
  }

  /** Ends connections whose clients do not complete the closing handshake. */
  terminate(): void {
    for (const client of this.#server.clients) client.terminate()
  }

  #find(ticket: string, secret: string): LiveSession | null {
    const live = this.#options.sessions.find(parseTicket(ticket)?.sessionId ?? '')
    return live && isSameSecret(live.secret, secret) ? live : null
  }

  /** Begins a session if the ticket is valid. Limited, because callers without credentials cause this database read. */
  async #tryBegin(ticket: string, request: IncomingMessage, requestId: string): Promise<LiveSession | null | 'BUSY'> {
    const release = this.#beginning.tryAcquire(String(this.#options.findAddress(request)))
    return release ? this.#begin(ticket, request, requestId).finally(release) : 'BUSY'
  }

  async #begin(ticket: string, request: IncomingMessage, requestId: string): Promise<LiveSession | null> {
    const { sessions, accessExpiry, findAddress, authenticate } = this.#options
    const { authorization } = request.headers
    const ip = findAddress(request)
    const caller = authorization === undefined ? null : await authenticate({ authorization, ip, requestId })
    if (typeof caller === 'string') return null
    const live = await sessions.begin({ ticket, ip, userId: caller?.viewer.userId ?? null })
    if (!live) return null
    const unwatch = accessExpiry.watch(live.session.viewer, () => live.end('Your access has ended or changed'))
    void live.over.then(unwatch)
    return live
  }

  #open(socket: WebSocket, request: IncomingMessage, { line, received }: { line: Line; received: number }): void {
    const { log, keepAliveMs } = this.#options
    const peer = {
      send(bytes: Uint8Array<ArrayBuffer>) {
        if (socket.bufferedAmount > unsentBytesMax) socket.terminate()
        else socket.send(bytes)
      },
      close: (code: number, reason: string) => socket.close(code, reason),
    }
    socket.on('error', (error) => log.debug({ err: error }, 'the socket of a session broke'))
    socket.on('message', (data: Buffer) => line.receive(peer, data))
    const stopPinging = pingPeer(socket, request.socket, keepAliveMs)
    socket.once('close', (code) => {
      stopPinging()
      line.disconnect(peer, code === normalClosure)
    })
    line.connect(peer, received)
  }
}

/** Compares secrets in constant time. The caller's text may have any characters and length. */
export function isSameSecret(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isInteger(value) && value >= 0 && value < numberMax
