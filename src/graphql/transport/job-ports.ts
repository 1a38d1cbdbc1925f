import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { PortOfJob } from '../../domain/control/sessions.ts'
import type { Log } from '../../platform/log.ts'
import type { PortSession } from '../../sessions/port-session.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import { limits } from '../caller-limits.ts'
import type { AccessExpiry } from '../callers/access-expiry.ts'
import { KeyedLimit } from '../keyed-limit.ts'
import type { FindAddress } from './client-address.ts'
import { findGateRefusal } from './gate.ts'
import { PortAgent, proxyRequest, proxyUpgrade } from './port-proxy.ts'
import { sendPlain } from './refused-bodies.ts'
import { isSameSecret } from './session-sockets.ts'
import { refuseUpgrade } from './upgrade.ts'

interface JobPortsOptions {
  sessions: Sessions
  accessExpiry: AccessExpiry
  findAddress: FindAddress
  /** Parent domain of the host names of ports; null: ports have no host names. */
  jobsHost: string | null
  isSecure: boolean
  publicUrl: string | null
  log: Log
}

interface Held extends PortOfJob {
  session: PortSession
  agent: PortAgent
}

/** Prefix of the only path that is not passed to the job. A ticket follows. */
const openPath = '/.berth/'
const nothingText = 'No port of a job has this name'

/**
 * Ports of running jobs for browsers, at `<job without job_>-<port>.<jobsHost>`. The console opens `/.berth/<ticket>`
 * there, which sets a cookie of this one host. Each job has an origin of its own, and nothing else of the server is
 * served there.
 */
export class JobPorts {
  readonly #options: JobPortsOptions
  readonly #cookieName: string
  readonly #held = new Map<string, Held>()
  readonly #beginning = new KeyedLimit(limits.unauthenticatedSocketsPerAddressMax)

  constructor(options: JobPortsOptions) {
    this.#options = options
    this.#cookieName = options.isSecure ? '__Host-berth-port' : 'berth-port'
  }

  /** true: the Host of the request is below `jobsHost`, whether or not a port has this name. */
  owns({ headers: { host = '' } }: IncomingMessage): boolean {
    const { jobsHost } = this.#options
    const name = readName(host)
    return jobsHost !== null && (name === jobsHost || name.endsWith(`.${jobsHost}`))
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refuse = (status: number, text: string) => {
      response.setHeader('cache-control', 'no-store')
      sendPlain(response, status, text)
    }
    const at = this.#readPort(request)
    if (!at) return refuse(404, nothingText)
    const isRead = /^(GET|HEAD)$/.test(request.method ?? '')
    const reason = this.#findRefusal(request, isRead)
    if (reason !== null) return refuse(403, reason)
    const { url = '/' } = request
    if (url.startsWith(openPath)) {
      if (request.method !== 'GET') return refuse(405, 'Use GET')
      return this.#open(request, response, at)
    }
    const held = this.#find(request, at)
    if (!held) return refuse(403, this.#explain(at))
    await proxyRequest(held, { request, response, ...this.#facts(request) })
  }

  upgrade(request: IncomingMessage, socket: Duplex, { head, requestId }: { head: Buffer; requestId: string }) {
    const refuse = (status: string, reason: string) => refuseUpgrade(socket, { requestId, status, reason })
    const at = this.#readPort(request)
    if (!at) return refuse('404 Not Found', nothingText)
    const reason = this.#findRefusal(request, false)
    if (reason !== null) return refuse('403 Forbidden', reason)
    const held = this.#find(request, at)
    if (!held) return refuse('403 Forbidden', this.#explain(at))
    proxyUpgrade(held, { request, socket, head, refuse, ...this.#facts(request) })
  }

  #readPort({ headers: { host = '' } }: IncomingMessage): PortOfJob | null {
    const label = readName(host).slice(0, -(this.#options.jobsHost ?? '').length - 1)
    const [, id, port] = /^([0-9a-z]{26})-([1-9]\d{0,4})$/.exec(label) ?? []
    return id === undefined || Number(port) > 65_535 ? null : { jobId: `job_${id}`, port: Number(port) }
  }

  /** Returns why a request is refused, or null. Pages of other jobs are same-site, so their requests carry the cookie. */
  #findRefusal({ headers }: IncomingMessage, mayNavigate: boolean): string | null {
    const rules = { singleUser: true, allowedHosts: [headers.host ?? ''], allowedOrigins: [], publicUrl: null }
    return findGateRefusal(headers, rules, mayNavigate)
  }

  #find(request: IncomingMessage, at: PortOfJob): Held | null {
    for (const value of readCookies(request, this.#cookieName)) {
      const [id = '', secret = ''] = value.split('.')
      const held = this.#held.get(id)
      if (held && held.jobId === at.jobId && held.port === at.port && isSameSecret(held.session.secret, secret))
        return held
    }
    return null
  }

  async #open(request: IncomingMessage, response: ServerResponse, at: PortOfJob): Promise<void> {
    const { sessions, accessExpiry, findAddress } = this.#options
    const ip = findAddress(request)
    response.setHeader('cache-control', 'no-store').setHeader('referrer-policy', 'no-referrer')
    const release = this.#beginning.tryAcquire(String(ip))
    if (!release) return sendPlain(response, 429, 'Too many sessions begin from your address; try again')
    const ticket = (request.url ?? '').slice(openPath.length)
    const session = await sessions.beginPort({ ticket, ip, userId: null, at }).finally(release)
    if (!session) return sendPlain(response, 403, `The ticket is used, late or of another port. ${this.#explain(at)}`)
    const before = this.#find(request, at)
    this.#held.set(session.session.id, { ...at, session, agent: new PortAgent(session) })
    const unwatch = accessExpiry.watch(session.session.viewer, () => session.end('Your access has ended or changed'))
    void session.over.then(() => {
      unwatch()
      this.#held.delete(session.session.id)
    })
    before?.session.end('The port was opened again')
    const secure = this.#options.isSecure ? '; Secure' : ''
    const cookie = `${this.#cookieName}=${session.session.id}.${session.secret}; Path=/; HttpOnly; SameSite=Lax${secure}`
    response.writeHead(303, { 'set-cookie': cookie, location: '/' }).end()
  }

  #facts(request: IncomingMessage) {
    const { isSecure, findAddress, log } = this.#options
    return { cookieName: this.#cookieName, isSecure, ip: findAddress(request), log }
  }

  #explain({ jobId }: PortOfJob): string {
    const base = this.#options.publicUrl?.replace(/\/+$/, '')
    return `Open the port again from the page of the job in Berth${base === undefined ? '' : `: ${base}/jobs/${jobId}/ports`}`
  }
}

const readName = (host: string) => host.replace(/:\d+$/, '').replace(/\.$/, '').toLowerCase()

/** Returns all cookies with the name, because a page of another job can set one for the whole domain. */
function readCookies({ headers }: IncomingMessage, name: string): string[] {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.flatMap((pair) => (pair.startsWith(`${name}=`) ? [pair.slice(name.length + 1)] : []))
}
