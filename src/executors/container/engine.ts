import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { type IncomingHttpHeaders, type IncomingMessage, request as openHttp, type RequestOptions } from 'node:http'
import { request as openHttps } from 'node:https'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../platform/clock.ts'
import { HttpClient, type HttpRequest, parseJson, pathWithQuery, type Query } from '../backend/http-client.ts'
import { BackendRefused, BackendUnreachable } from '../backend/unreachable.ts'

/** Client of the Docker Engine API of dockerd and Podman: HTTP over a Unix socket or TCP, or HTTPS. */

type Environment = Readonly<Record<string, string | undefined>>

const sockets = ({ XDG_RUNTIME_DIR: runtime }: Environment) => [
  '/var/run/docker.sock',
  '/run/podman/podman.sock',
  ...(runtime ? [`${runtime}/podman/podman.sock`] : []),
]

/**
 * Finds the engine: that of DOCKER_HOST, or the first one whose socket exists. A pool that has containers keeps its
 * engine (file `.engine`): while its socket is missing, another engine would report the containers as gone.
 */
export async function findEngine(environment: Environment, orders: string): Promise<string> {
  if (environment['DOCKER_HOST']) return environment['DOCKER_HOST']
  const path = join(orders, '.engine')
  const hasOrders = (await readdir(orders)).some((name) => name.endsWith('.order'))
  const earlier = hasOrders ? await readFile(path, 'utf8').catch(() => '') : ''
  if (earlier !== '') return earlier
  const [first = '', ...others] = sockets(environment)
  const address = `unix://${[first, ...others].find((each) => existsSync(each)) ?? first}`
  // Without the file, for example on a full disk, the next server chooses again.
  await writeFile(path, address, { mode: 0o600 }).catch(() => null)
  return address
}

const noAddress =
  'is not the address of a container engine; set container.engine, for example to unix:///run/docker.sock'
const requestPathMax = 8_192
/**
 * Responses of a proxy, or of an engine that is starting. (Status 500 is missing: engines also send it for an invalid
 * request of a job.)
 */
const unavailable: ReadonlySet<number> = new Set([502, 503, 504])
const podmanPrefix = '/v4.0.0/libpod'
const versionDefault = '1.41'

/** Parses `unix:///run/docker.sock` or `tcp://127.0.0.1:2375`. null: another form, such as `ssh://…` in DOCKER_HOST. */
function parseAddress(address: string): RequestOptions | null {
  const [, socketPath] = address.match(/^unix:\/\/(\/.+)$/) ?? []
  if (socketPath !== undefined) return { socketPath }
  const url = URL.canParse(address) ? new URL(address) : null
  return url?.protocol === 'tcp:' && url.hostname ? { host: url.hostname, port: url.port || 2375 } : null
}

type ArchiveBody = Uint8Array | AsyncIterable<Uint8Array>
const isArchive = (body: unknown): body is ArchiveBody =>
  body instanceof Uint8Array || (typeof body === 'object' && body !== null && Symbol.asyncIterator in body)

type EngineRequest = Omit<HttpRequest, 'body'> & { body?: unknown }

/** How to reach an engine whose address is not sufficient. */
export interface EngineConnection {
  /** The engine runs on another machine: its accounts, files and devices are not those of the server. */
  isRemote?: boolean
  /** The Unix socket of a tunnel to the engine. */
  socketPath?: string
  tls?: { ca: string; cert: string; key: string } | undefined
  /** Why the engine does not answer; null: unknown. */
  explain?(): string | null
  /** Connects to a port of an address that the machine of the engine reaches. Throws SessionRefused. */
  openPort?(address: string, port: number): Promise<Duplex>
}

export class Engine {
  readonly address: string
  readonly isRemote: boolean
  readonly #connection: EngineConnection
  readonly #target: RequestOptions | null
  readonly #http: HttpClient
  /** The newest API version of the engine. Read again after a failure, because the engine may have been updated. */
  #version: string | null = null

  constructor(address: string, clock: Clock, connection: EngineConnection = {}) {
    const { socketPath, tls } = connection
    this.address = address
    this.isRemote = connection.isRemote ?? false
    this.#connection = connection
    this.#target = socketPath === undefined ? parseAddress(address) : { socketPath }
    if (this.#target && tls) Object.assign(this.#target, tls)
    this.#http = new HttpClient('container engine', clock)
  }

  /** Absent: nothing connects to ports on the machine of the engine. */
  get openPort(): EngineConnection['openPort'] {
    return this.#connection.openPort
  }

  /** Throws BackendUnreachable unless the engine answers. */
  async ping(): Promise<void> {
    const answer = await this.#send('', { method: 'GET', path: '/_ping' })
    answer.resume()
  }

  async get<T>(path: string, query?: Query): Promise<T> {
    return this.#http.readJson<T>(await this.#request({ method: 'GET', path, query }), path)
  }

  async post<T>(path: string, query?: Query, body?: unknown): Promise<T | null> {
    return this.#requestJson<T>({ method: 'POST', path, query, body })
  }

  async putArchive(path: string, query: Query, archive: ArchiveBody, signal?: AbortSignal): Promise<void> {
    await this.#requestJson({ method: 'PUT', path, query, body: archive, signal })
  }

  async delete(path: string, query?: Query): Promise<void> {
    await this.#requestJson({ method: 'DELETE', path, query })
  }

  async readHeaders(path: string, query?: Query): Promise<IncomingHttpHeaders> {
    const answer = await this.#request({ method: 'HEAD', path, query })
    answer.resume()
    return answer.headers
  }

  async readBeginning(path: string, query: Query, bytes: number): Promise<Buffer> {
    const response = await this.#request({ method: 'GET', path, query })
    return this.#http.limited(response, async () => {
      let read = Buffer.alloc(0)
      for await (const piece of response as AsyncIterable<Buffer>) {
        read = Buffer.concat([read, piece])
        if (read.length >= bytes) break
      }
      return read.subarray(0, bytes)
    })
  }

  /** A streamed response; throws if the engine closes it early. */
  getStream(path: string, signal: AbortSignal, query?: Query): Promise<IncomingMessage> {
    return this.#request({ method: 'GET', path, query, signal })
  }

  postStream(
    path: string,
    signal: AbortSignal,
    sent: Pick<EngineRequest, 'query' | 'headers'>,
  ): Promise<IncomingMessage> {
    return this.#request({ method: 'POST', path, signal, ...sent })
  }

  /** Sends a request that turns its connection into a stream of bytes. */
  async hijack(path: string, body: object): Promise<Duplex> {
    const headers = { connection: 'Upgrade', upgrade: 'tcp' }
    const response = await this.#request({ method: 'POST', path, body, headers })
    if (response.statusCode !== 101) throw this.#http.foreign(path, '')
    return response.socket
  }

  /** A response of Podman's own API; null: this version does not have the path. */
  async getFromPodman<T>(path: string): Promise<T | null> {
    const response = await this.#send(podmanPrefix, { method: 'GET', path })
    const body = await this.#http.readText(response)
    return (response.statusCode ?? 0) < 400 ? ((parseJson(body) ?? null) as T | null) : null
  }

  /** Throws BackendUnreachable if a response lacks the fields that every valid response has. */
  checkAnswer(isWhole: boolean, path: string): void {
    if (!isWhole) throw this.#http.foreign(path, '')
  }

  close(): void {
    this.#http.close()
  }

  async #prefix(): Promise<string> {
    if (this.#version === null) {
      const answer = await this.#send('', { method: 'GET', path: '/_ping' })
      answer.resume()
      this.#version = String(answer.headers['api-version'] ?? versionDefault)
    }
    return `/v${this.#version}`
  }

  async #send(prefix: string, { body, ...request }: EngineRequest): Promise<IncomingMessage> {
    if (this.#target === null) throw new BackendUnreachable(`${this.address} ${noAddress}`)
    const path = prefix + request.path
    const { length } = pathWithQuery({ ...request, path })
    if (length > requestPathMax) throw new Error(`A request to the container engine is too long: ${length}`)
    const isTar = isArchive(body)
    const sent = isTar || body === undefined ? body : JSON.stringify(body)
    const type = isTar ? 'application/x-tar' : 'application/json'
    const headers = { ...request.headers, ...(sent !== undefined && { 'content-type': type }) }
    const open = this.#connection.tls ? (openHttps as typeof openHttp) : openHttp
    const server = { address: this.address, open, options: { ...this.#target, agent: false } }
    return this.#http.send(server, { ...request, path, headers, body: sent }).catch((error: unknown) => {
      const why = request.signal?.aborted ? null : this.#connection.explain?.()
      throw why == null ? error : new BackendUnreachable(`${this.address}: ${why}`, { cause: error })
    })
  }

  async #request(request: EngineRequest): Promise<IncomingMessage> {
    const response = await this.#send(await this.#prefix(), request)
    const status = response.statusCode ?? 0
    if (status < 400) return response
    if (status === 400) this.#version = null
    const body = await this.#http.readText(response)
    // A proxy answers 404 with its own page.
    if (status === 404 && body !== '' && parseJson(body) === undefined) throw this.#http.foreign(request.path, body)
    const message = readMessage(body) || `${request.method} ${request.path}: ${status}`
    if (unavailable.has(status)) throw new BackendUnreachable(`${this.address}: ${message}`)
    throw new BackendRefused(status, message)
  }

  async #requestJson<T>(request: EngineRequest): Promise<T | null> {
    const body = await this.#http.readText(await this.#request(request))
    const answer = parseJson(body)
    if (answer === undefined && body.trim() !== '') throw this.#http.foreign(request.path, body)
    return (answer ?? null) as T | null
  }
}

/** Reads the message: `{"message": "…"}` from Docker, `{"message": …, "cause": …}` from Podman. */
function readMessage(body: string): string {
  const { message = body.trim() } = (parseJson(body) as { message?: unknown } | null | undefined) ?? {}
  return String(message)
}

/** The name is taken, or the object is not in the state that the request needs. */
export const isEngineConflict = (error: unknown) => error instanceof BackendRefused && error.status === 409

export interface EngineVersion {
  Version: string
  /** Architecture as Go names it, such as amd64 or arm64. */
  Arch: string
  Components?: readonly { Name: string }[] | null
}

export const isPodmanVersion = ({ Components: components }: EngineVersion): boolean =>
  components?.some(({ Name: name }) => name.startsWith('Podman')) ?? false

export const isPodman = async (engine: Engine): Promise<boolean> =>
  isPodmanVersion(await engine.get<EngineVersion>('/version'))
