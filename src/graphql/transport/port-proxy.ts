import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  STATUS_CODES,
  request as sendRequest,
} from 'node:http'
import { type Duplex, pipeline, type Readable } from 'node:stream'
import type { Log } from '../../platform/log.ts'
import { PortRefused, type PortSession } from '../../sessions/port-session.ts'
import { sendPlain } from './refused-bodies.ts'

/** Maximum concurrent requests to a port, as many as a browser sends to a host. Further requests wait. */
const requestsMax = 6
/** Maximum concurrent WebSockets to a port. Further ones are refused. */
const socketsMax = 32
/** Maximum idle time of a connection, shorter than that of servers in jobs, which would close it. */
const idleMsMax = 1_000

interface Target {
  session: PortSession
  agent: PortAgent
}

interface Facts {
  request: IncomingMessage
  cookieName: string
  isSecure: boolean
  ip: string | null
  log: Log
}

/** Keeps connections through the executor for further requests of the same session, because each may be a process. */
export class PortAgent extends Agent {
  readonly #session: PortSession
  readonly #wakes = new WeakMap<Duplex, () => void>()
  readonly #waiting: (() => void)[] = []
  #busy = 0

  constructor(session: PortSession) {
    super({ keepAlive: true })
    this.#session = session
  }

  /** Waits until fewer than `requestsMax` requests run. Node's own limit ignores connections that are being opened. */
  async enter(): Promise<void> {
    if (this.#busy < requestsMax) this.#busy++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#busy--
  }

  override createConnection(...[, callback]: Parameters<Agent['createConnection']>): undefined {
    connect(this.#session, callback as Give)
  }

  override keepSocketAlive(stream: Duplex): boolean {
    const drop = () => stream.destroy()
    const timer = setTimeout(drop, idleMsMax).unref()
    this.#wakes.set(stream, () => {
      clearTimeout(timer)
      stream.off('end', drop).off('data', drop)
    })
    // Drops a connection with unrequested data, which Node would take for the next response.
    stream.once('end', drop).once('data', drop)
    const keeps = super.keepSocketAlive(stream) as unknown
    return keeps === true && !stream.readableEnded
  }

  override reuseSocket(stream: Duplex, request: ClientRequest): void {
    this.#wakes.get(stream)?.()
    super.reuseSocket(stream, request)
  }
}

type Give = (error: Error | null, stream?: Duplex) => void

function connect(session: PortSession, give: Give): undefined {
  session.connect().then(
    (stream) => {
      try {
        give(null, completeStream(stream))
      } catch (error) {
        stream.destroy(error as Error)
      }
    },
    (error: Error) => give(error),
  )
}

/** Adds methods of a socket to the pipe of a process, because Node's agent calls them. */
function completeStream(stream: Duplex): Duplex {
  for (const name of ['ref', 'unref', 'setKeepAlive', 'setTimeout'])
    if (!(name in stream)) Object.assign(stream, { [name]: () => stream })
  return stream
}

type Exchange = Facts & { response: ServerResponse }

export async function proxyRequest(target: Target, facts: Exchange): Promise<void> {
  await target.agent.enter()
  try {
    if (!facts.response.closed) await exchange(target, facts)
  } finally {
    target.agent.leave()
  }
}

function exchange(target: Target, facts: Exchange): Promise<void> {
  const { request, response } = facts
  const upstream = begin(target, facts, false)
  return new Promise((resolve) => {
    response.once('close', () => {
      upstream.destroy()
      resolve()
    })
    const fail = (error: Error) => {
      facts.log.debug({ err: error }, 'a request to a port failed')
      if (response.headersSent || response.closed) return response.destroy()
      for (const name of response.getHeaderNames()) response.removeHeader(name)
      response.setHeader('x-content-type-options', 'nosniff')
      return sendPlain(response, 502, explain(error))
    }
    upstream.on('error', fail)
    // Node closes the request after a 101 response if it was not an upgrade.
    upstream.on('close', () => response.headersSent || fail(new Error('no answer')))
    upstream.on('response', (answer) => {
      response.removeHeader('x-content-type-options')
      // A cache in front of Berth must not serve the response to clients without the cookie.
      response.setHeader('cache-control', 'private')
      try {
        for (const [name, values] of listHeaders(answer, facts.cookieName)) response.setHeader(name, values)
        response.writeHead(answer.statusCode ?? 502)
      } catch (error) {
        upstream.destroy()
        return fail(error as Error)
      }
      countBytes(target.session, answer, 'OUT')
      return pipeline(answer, response, () => undefined)
    })
    countBytes(target.session, request, 'IN')
    pipeline(request, upstream, () => undefined)
  })
}

interface Upgrade extends Facts {
  socket: Duplex
  head: Buffer
  refuse: (status: string, reason: string) => void
}

const upgrades = new WeakMap<PortSession, number>()

export function proxyUpgrade(target: Target, facts: Upgrade) {
  const { session } = target
  const { socket, head, refuse, log } = facts
  const open = upgrades.get(session) ?? 0
  if (open >= socketsMax) return refuse('503 Service Unavailable', `The port has ${open} WebSockets, the maximum`)
  upgrades.set(session, open + 1)
  const upstream = begin(target, facts, true)
  let isAnswered = false
  socket.once('close', () => {
    upgrades.set(session, (upgrades.get(session) ?? 1) - 1)
    upstream.destroy()
  })
  upstream.on('error', (error) => {
    log.debug({ err: error }, 'a WebSocket to a port failed')
    if (isAnswered) socket.destroy()
    else if (!socket.destroyed) refuse('502 Bad Gateway', explain(error))
  })
  upstream.on('response', (answer) => {
    isAnswered = true
    socket.write(formatHead(answer, facts.cookieName, 'close'))
    countBytes(session, answer, 'OUT')
    pipeline(answer, socket, () => undefined)
  })
  upstream.on('upgrade', (answer, port, rest) => {
    isAnswered = true
    socket.write(formatHead(answer, facts.cookieName, 'Upgrade'))
    if (rest.length > 0) socket.write(rest)
    if (head.length > 0) port.write(head)
    countBytes(session, socket, 'IN')
    countBytes(session, port, 'OUT')
    pipeline(socket, port, () => undefined)
    pipeline(port, socket, () => undefined)
  })
  upstream.end()
}

/** Sends the request to the port. A WebSocket gets its own connection. */
function begin({ agent, session }: Target, facts: Facts, isUpgrade: boolean): ClientRequest {
  const { method = 'GET', url = '/' } = facts.request
  const headers = toJobHeaders(facts, isUpgrade)
  const createConnection = (_options: unknown, give: Give) => connect(session, give)
  const by = isUpgrade ? { createConnection: createConnection as never } : { agent }
  return sendRequest({ ...by, method, path: url, headers, setHost: false })
}

const countBytes = (session: PortSession, stream: Readable, direction: 'IN' | 'OUT') =>
  stream.on('data', (chunk: Buffer) => session.count(direction, chunk.length))

const explain = (error: Error) =>
  error instanceof PortRefused ? error.message : 'The port of the job broke the connection'

/** Matches headers that belong to a connection, and headers that Berth sets itself. */
const ofConnection = /^(connection|keep-alive|proxy-.*|te|trailer|upgrade|expect|x-forwarded-.*|forwarded)$/
/** Matches headers that a job must not send: they clear cookies of the whole site, or control a proxy. */
const notFromJobs =
  /^(connection|keep-alive|proxy-.*|transfer-encoding|trailer|upgrade|clear-site-data|x-accel-.*|x-sendfile)$/

function toJobHeaders({ request, cookieName, isSecure, ip }: Facts, isUpgrade: boolean): OutgoingHttpHeaders {
  const { host } = request.headers
  const kept = Object.entries(request.headersDistinct).filter(([name]) => !ofConnection.test(name) && name !== 'cookie')
  const cookies = (request.headers.cookie ?? '').split(/; */).filter((pair) => !pair.startsWith(`${cookieName}=`))
  return {
    ...Object.fromEntries(kept),
    ...(cookies.some(Boolean) && { cookie: cookies.join('; ') }),
    ...(isUpgrade && { connection: 'Upgrade', upgrade: 'websocket' }),
    host,
    'x-forwarded-host': host,
    'x-forwarded-proto': isSecure ? 'https' : 'http',
    ...(ip !== null && { 'x-forwarded-for': ip }),
  }
}

/** Lists the headers of a response. Restricts cookies to the host of the port, and removes Berth's own cookie. */
function listHeaders(answer: IncomingMessage, cookieName: string): [name: string, values: string[]][] {
  return Object.entries(answer.headersDistinct).flatMap(([name, values = []]) => {
    if (notFromJobs.test(name)) return []
    if (name !== 'set-cookie') return [[name, values] as [string, string[]]]
    const own = values.filter((value) => value.split('=')[0]?.trim() !== cookieName)
    return own.length === 0 ? [] : [[name, own.map((value) => value.replace(/;\s*domain\s*=[^;]*/gi, ''))]]
  })
}

function formatHead(answer: IncomingMessage, cookieName: string, connection: 'Upgrade' | 'close'): string {
  const lines = listHeaders(answer, cookieName).flatMap(([name, values]) => values.map((value) => `${name}: ${value}`))
  const own = [`connection: ${connection}`, ...(connection === 'Upgrade' ? ['upgrade: websocket'] : [])]
  const { statusCode = 502 } = answer
  return [`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`, ...own, ...lines, '', ''].join('\r\n')
}
