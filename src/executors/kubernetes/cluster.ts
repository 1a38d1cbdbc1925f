import { Agent as HttpAgent, type IncomingMessage, request as openHttp } from 'node:http'
import { Agent as HttpsAgent, request as openHttps } from 'node:https'
import type { Duplex } from 'node:stream'
import { createWebSocketStream, WebSocket } from 'ws'
import type { Clock, Time } from '../../platform/clock.ts'
import { HttpClient, type HttpRequest, type HttpServer, parseJson, type Query } from '../backend/http-client.ts'
import { BackendRefused, BackendUnreachable, shorten } from '../backend/unreachable.ts'
import { type Access, type AccessOptions, readAccess } from './kubeconfig.ts'

/** The path of an object: `pods/name` in the namespace of the runs, or `/api/v1/nodes`, which may contain `{namespace}`. */
export type Path = string

export interface Listed<T> {
  items: readonly T[]
  version: string
}

interface DeleteOptions {
  gracePeriodSeconds?: number
  propagationPolicy?: 'Background'
  preconditions?: { uid?: string; resourceVersion?: string }
}

export const clusterUnreachable = 'The cluster is unreachable'

const json = 'application/json'
/** Messages of a WebSocket begin with the number of a channel. */
const channelProtocol = 'v4.channel.k8s.io'
const openMsMax = 30_000
/** Interval of probes on a WebSocket, which keep proxies from closing it and detect a lost peer. */
const probeMs = 15_000
const pageItems = 500
/** Clock differences below this are ignored: the `date` header has whole seconds, and a response takes time. */
const clockToleranceMs = 5_000
/**
 * Minimum time between reads of the credentials after failures: the API server may have moved or have a new
 * certificate.
 */
const accessMsMin = 30_000
/** The only path whose object has no metadata. */
export const versionPath = '/version'
/** The Accept header for reading Secrets without their data. */
const metadataOnly = (kind: string) => `application/json;as=${kind};g=meta.k8s.io;v=v1`
/**
 * Status codes that are retried. 401: the credentials expired and are read again. 410: the requested version is too
 * old, and the list is read again.
 */
const retried: readonly number[] = [401, 410, 429, 500, 502, 503, 504]

const groups: Readonly<Record<string, string>> = { networkpolicies: '/apis/networking.k8s.io/v1' }

interface Page<T> {
  metadata: { resourceVersion: string; continue?: string }
  items: readonly T[] | null
}

interface Connection {
  access: Access
  readMs: number
  server: HttpServer
  agent: HttpAgent
}

type ClusterRequest = Omit<HttpRequest, 'body' | 'headers'> & { body?: unknown; type?: string; accept?: string }

export class ClusterApi {
  /** Server and namespace, for messages. */
  address: string
  /** How far the cluster's clock is ahead of the database's; 0 if the difference is within the tolerance. */
  aheadMs = 0
  readonly #options: AccessOptions
  readonly #clock: Clock
  readonly #time: Time
  readonly #http: HttpClient
  #connection: Promise<Connection> | null = null

  constructor(options: AccessOptions, { clock, time }: { clock: Clock; time: Time }) {
    this.#options = options
    this.#clock = clock
    this.#time = time
    this.#http = new HttpClient('Kubernetes API', clock)
    this.address = options.kubeconfig ?? 'the cluster'
  }

  async get<T>(path: Path, query?: Query): Promise<T> {
    const { access } = await this.#connect()
    this.address = `${access.server}, namespace ${access.namespace}`
    return this.#requestObject<T>({ method: 'GET', path, query, ...withoutData(path, 'PartialObjectMetadata') })
  }

  async list<T>(path: Path, query: Query = {}): Promise<Listed<T>> {
    const items: T[] = []
    for (let next = ''; ; ) {
      const page = await this.#requestJson<Partial<Page<T>>>({
        method: 'GET',
        path,
        query: { ...query, limit: pageItems, ...(next && { continue: next }) },
        ...withoutData(path, 'PartialObjectMetadataList'),
      })
      const hasItems = page.items === null || Array.isArray(page.items)
      if (!page.metadata || !hasItems) throw this.#http.foreign(path, page)
      items.push(...(page.items ?? []))
      next = page.metadata.continue ?? ''
      if (next === '') return { items, version: page.metadata.resourceVersion }
    }
  }

  create<T>(path: Path, body: unknown): Promise<T> {
    return this.#requestObject({ method: 'POST', path, body })
  }

  patch<T>(path: Path, body: unknown): Promise<T> {
    return this.#requestObject({ method: 'PATCH', path, body, type: 'application/merge-patch+json' })
  }

  async delete(path: Path, body: DeleteOptions): Promise<void> {
    await this.#requestJson({ method: 'DELETE', path, body })
  }

  /** Returns a streamed response. The stream throws if the connection breaks. */
  getStream(path: Path, signal: AbortSignal, query?: Query): Promise<IncomingMessage> {
    return this.#request({ method: 'GET', path, query, signal })
  }

  /** Opens a WebSocket as a stream: each read and each write is a message. */
  async openSocket(path: Path, query: URLSearchParams): Promise<Duplex> {
    const { access } = await this.#connect()
    const url = new URL(expandPath(path, access.namespace), access.server.replace(/^http/, 'ws'))
    url.search = query.toString()
    const { authorization, tls } = access
    const socket = new WebSocket(url, channelProtocol, {
      ...tls,
      handshakeTimeout: openMsMax,
      perMessageDeflate: false,
      headers: authorization === null ? {} : { authorization },
    })
    const stream = createWebSocketStream(socket, { readableObjectMode: true })
    stream.on('error', () => undefined)
    socket.on('upgrade', ({ socket: line }) => line.setKeepAlive(true, probeMs))
    return new Promise((resolve, reject) => {
      socket.on('open', () => resolve(stream))
      socket.on('error', (cause) => reject(new BackendUnreachable(`${access.server}: ${cause.message}`, { cause })))
      socket.on('unexpected-response', (_request, response) => {
        const refused = this.#readRefusal(response, `GET ${path}`)
        void refused.then(reject, reject).finally(() => socket.terminate())
      })
    })
  }

  close(): void {
    this.#http.close()
    void this.#connection?.then(({ agent }) => agent.destroy()).catch(() => undefined)
  }

  async #connect(): Promise<Connection> {
    this.#connection ??= connect(this.#options, this.#clock.monotonicMs())
    try {
      return await this.#connection
    } catch (cause) {
      this.#connection = null
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new BackendUnreachable(`Cannot read the credentials of the cluster: ${why}`, { cause })
    }
  }

  async #send({ body, type = json, accept = json, ...request }: ClusterRequest): Promise<IncomingMessage> {
    const { access, readMs, server } = await this.#connect()
    const headers = {
      accept,
      ...(access.authorization && { authorization: access.authorization }),
      ...(body !== undefined && { 'content-type': type }),
    }
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const path = expandPath(request.path, access.namespace)
    try {
      const response = await this.#http.send(server, { ...request, path, headers, body: sent })
      const aheadMs = Date.parse(response.headers.date ?? '') - this.#time.nowMs()
      if (Math.abs(aheadMs - this.aheadMs) > clockToleranceMs) this.aheadMs = aheadMs
      return response
    } catch (error) {
      const isOld = this.#clock.monotonicMs() - readMs > accessMsMin
      if (isOld && !request.signal?.aborted) this.#connection = null
      throw error
    }
  }

  async #request(request: ClusterRequest): Promise<IncomingMessage> {
    const response = await this.#send(request)
    // The API server does not redirect.
    if ((response.statusCode ?? 0) < 300) return response
    throw await this.#readRefusal(response, `${request.method} ${request.path}`)
  }

  async #readRefusal(response: IncomingMessage, what: string): Promise<Error> {
    const status = response.statusCode ?? 0
    if (status === 401) this.#connection = null
    const refused = parseRefusal(status, await this.#http.readText(response), what)
    return isInconclusive(refused) ? new BackendUnreachable(refused.message, { cause: refused }) : refused
  }

  async #requestJson<T>(request: ClusterRequest): Promise<T> {
    const answer = await this.#http.readJson<T>(await this.#request(request), request.path)
    if (typeof answer === 'object') return answer
    throw this.#http.foreign(request.path, answer)
  }

  async #requestObject<T>(request: ClusterRequest): Promise<T> {
    const answer = await this.#requestJson<object>(request)
    if ((request.path === versionPath ? 'gitVersion' : 'metadata') in answer) return answer as T
    throw this.#http.foreign(request.path, answer)
  }
}

async function connect(options: AccessOptions, readMs: number): Promise<Connection> {
  const access = await readAccess(options)
  const { protocol, hostname, port } = new URL(access.server)
  const isPlain = protocol === 'http:'
  const agent = new (isPlain ? HttpAgent : HttpsAgent)({ keepAlive: true, ...access.tls })
  // In a URL an IPv6 address has brackets, which the options of a request must not have.
  const to = { protocol, hostname: hostname.replaceAll(/^\[|\]$/g, ''), port, agent, ...access.tls }
  const server = { address: access.server, open: isPlain ? openHttp : openHttps, options: to }
  return { access, readMs, server, agent }
}

/**
 * true: the rejection is not about the object, because it comes from a proxy or is temporary. A 404 of the API server
 * always has a reason.
 */
const isInconclusive = ({ status, reason }: BackendRefused) =>
  retried.includes(status) || status < 400 || (status === 404 && reason === '')

const withoutData = (path: Path, kind: string) => (path.startsWith('secrets') ? { accept: metadataOnly(kind) } : {})

function expandPath(path: Path, namespace: string): string {
  if (path.startsWith('/')) return path.replace('{namespace}', namespace)
  const group = groups[path.split('/')[0] ?? ''] ?? '/api/v1'
  return `${group}/namespaces/${namespace}/${path}`
}

/** The body is a `Status` object, or the text of a proxy. */
function parseRefusal(status: number, body: string, what: string): BackendRefused {
  const { reason = '', message = `${what}: ${status} ${shorten(body)}` } =
    (parseJson(body) as { reason?: string; message?: string } | null | undefined) ?? {}
  return new BackendRefused(status, message, reason)
}

export const isAlreadyThere = (error: unknown) => error instanceof BackendRefused && error.reason === 'AlreadyExists'
export const isConflict = (error: unknown) => error instanceof BackendRefused && error.reason === 'Conflict'
