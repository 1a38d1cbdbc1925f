import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as open,
  type RequestOptions,
} from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Clock } from '../../platform/clock.ts'
import { beginningOf, parsedJson } from '../backend/json-answer.ts'

/**
 * The Docker Engine API of dockerd and `podman system service`: HTTP over a Unix socket, or TCP. Only requests and
 * answers; the other files of this folder say what a container means to Berth.
 *
 * An engine may be away or frozen, and another program may answer in its place: the beginning of every answer, and all of
 * an answer that is read whole, are waited for `answerMsMax`. A failure is an `EngineAway`, which says nothing about a
 * container; an `EngineError` is a refusal by the engine.
 */

export interface Engine {
  /** Its address, for people. */
  readonly address: string
  get<T>(path: string, query?: Query): Promise<T>
  /** null: the answer was empty. */
  post<T>(path: string, query?: Query, body?: unknown): Promise<T | null>
  /** Sends an archive. */
  put(path: string, query: Query, archive: Uint8Array): Promise<void>
  delete(path: string, query?: Query): Promise<void>
  /** Whether there is such an object. */
  has(path: string, query?: Query): Promise<boolean>
  /** The headers of an answer; null: there is no such object. */
  head(path: string, query?: Query): Promise<IncomingHttpHeaders | null>
  /** The first bytes of an answer. */
  beginning(path: string, query: Query, bytes: number): Promise<Buffer>
  /** A continuous answer, read piece by piece; throws if the engine closes it in the middle. */
  stream(path: string, signal: AbortSignal, query?: Query): Promise<IncomingMessage>
  /** Like `stream`, for a request with an effect. */
  work(path: string, signal: AbortSignal, query?: Query): Promise<IncomingMessage>
  /** An answer of Podman's own API; null: this version has none. */
  podman<T>(path: string): Promise<T | null>
  close(): void
}

export type Query = Readonly<Record<string, string | number | boolean>>

/** The engine refused the request. */
export class EngineError extends Error {
  override name = 'EngineError'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The engine did not answer, or not in a way that says anything about a container. */
export class EngineAway extends Error {
  override name = 'EngineAway'
}

type Environment = Readonly<Record<string, string | undefined>>

/** Sockets of engines on a machine, in the order in which they are tried. */
const sockets = ({ XDG_RUNTIME_DIR: runtime }: Environment) => [
  '/var/run/docker.sock',
  '/run/podman/podman.sock',
  ...(runtime ? [`${runtime}/podman/podman.sock`] : []),
]

/**
 * The engine that the environment names, or else the first one whose socket exists. Where an engine may have containers
 * of runs, it stays the one, because its socket is away while it is restarted, and another engine would say that the
 * containers are gone. A file in the directory of the orders names it.
 */
export async function findEngine(environment: Environment, orders: string): Promise<string> {
  if (environment['DOCKER_HOST']) return environment['DOCKER_HOST']
  const path = join(orders, '.engine')
  const hasOrders = (await readdir(orders)).some((name) => name.endsWith('.order'))
  const earlier = hasOrders ? await readFile(path, 'utf8').catch(() => '') : ''
  if (earlier !== '') return earlier
  const [first = '', ...others] = sockets(environment)
  const address = `unix://${[first, ...others].find((each) => existsSync(each)) ?? first}`
  // Without the file, as on a full disk, the next server chooses by itself.
  await writeFile(path, address, { mode: 0o600 }).catch(() => null)
  return address
}

const noAddress = 'is no address of a container engine; set container.engine, for example to unix:///run/docker.sock'
const answerMsMax = 30_000
const requestPathMax = 8_192
/** Of a proxy before the engine, or of an engine that starts. (500 is also what engines say of a job that is wrong.) */
const cannotServe: ReadonlySet<number> = new Set([502, 503, 504])

const podmanPrefix = '/v4.0.0/libpod'

type Target = Pick<RequestOptions, 'socketPath' | 'host' | 'port'>

/** `unix:///run/docker.sock`, or `tcp://127.0.0.1:2375`. null: neither; DOCKER_HOST may have `ssh://…`, for example. */
function targetOf(address: string): Target | null {
  const [, socketPath] = address.match(/^unix:\/\/(\/.+)$/) ?? []
  if (socketPath !== undefined) return { socketPath }
  const url = URL.canParse(address) ? new URL(address) : null
  return url?.protocol === 'tcp:' && url.hostname ? { host: url.hostname, port: url.port || 2375 } : null
}

interface Sent {
  method: string
  path: string
  query?: Query | undefined
  body?: unknown
  signal?: AbortSignal
}

export function createEngine(address: string, clock: Clock): Engine {
  const target = targetOf(address)
  const closing = new AbortController()
  let version: string | null = null

  /** The newest API version of the engine; asked again after a failure, because the engine may be updated meanwhile. */
  async function prefix(): Promise<string> {
    if (version === null) {
      const answer = await send('', { method: 'GET', path: '/_ping' })
      answer.resume()
      version = String(answer.headers['api-version'] ?? '1.41')
    }
    return `/v${version}`
  }

  function send(versioned: string, { method, path, query = {}, body, signal }: Sent): Promise<IncomingMessage> {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString()
    if (target === null) return Promise.reject(new EngineAway(`${address} ${noAddress}`))
    const full = `${versioned}${path}${search && `?${search}`}`
    if (full.length > requestPathMax) throw new Error(`A request to the container engine is too long: ${full.length}`)
    const isArchive = body instanceof Uint8Array
    const sent = isArchive || body === undefined ? body : JSON.stringify(body)
    const type = isArchive ? 'application/x-tar' : 'application/json'
    const headers = sent === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(sent) }
    const signals = AbortSignal.any(signal ? [signal, closing.signal] : [closing.signal])
    return new Promise((resolve, reject) => {
      const away = (cause: Error) => reject(new EngineAway(`${address}: ${cause.message}`, { cause }))
      const request = open({ ...target, method, path: full, headers, signal: signals, agent: false })
      const answered = new AbortController()
      void limit(request, clock, answered.signal)
      request.on('error', (error) => {
        answered.abort()
        away(error)
      })
      request.on('response', (response) => {
        answered.abort()
        resolve(response)
      })
      request.end(sent)
    })
  }

  async function answerOf(sent: Sent): Promise<IncomingMessage> {
    const response = await send(await prefix(), sent)
    const status = response.statusCode ?? 0
    if (status < 400) return response
    if (status === 400) version = null
    const body = await bodyOf(response)
    // Another program has its own pages for what it does not have.
    if (status === 404 && body !== '' && parsedJson(body) === undefined) throw foreign(sent.path, body)
    const message = messageOf(body) || `${sent.method} ${sent.path}: ${status}`
    throw cannotServe.has(status) ? new EngineAway(`${address}: ${message}`) : new EngineError(status, message)
  }

  async function bodyOf(response: IncomingMessage): Promise<string> {
    const read = new AbortController()
    void limit(response, clock, read.signal)
    try {
      return await text(response)
    } catch (cause) {
      throw new EngineAway(`${address} left in the middle of an answer`, { cause })
    } finally {
      read.abort()
    }
  }

  async function head(path: string, query?: Query): Promise<IncomingHttpHeaders | null> {
    try {
      const answer = await answerOf({ method: 'HEAD', path, query })
      answer.resume()
      return answer.headers
    } catch (error) {
      if (isNotFound(error)) return null
      throw error
    }
  }

  async function beginning(path: string, query: Query, bytes: number): Promise<Buffer> {
    const response = await answerOf({ method: 'GET', path, query })
    const read = new AbortController()
    void limit(response, clock, read.signal)
    const pieces: Buffer[] = []
    try {
      for await (const piece of response as AsyncIterable<Buffer>) {
        pieces.push(piece)
        if (pieces.reduce((total, each) => total + each.length, 0) >= bytes) break
      }
      return Buffer.concat(pieces).subarray(0, bytes)
    } catch (cause) {
      throw new EngineAway(`${address} left in the middle of an answer`, { cause })
    } finally {
      read.abort()
    }
  }

  async function json<T>(sent: Sent): Promise<T | null> {
    const body = await bodyOf(await answerOf(sent))
    if (body.trim() === '') return null
    const answer = parsedJson(body)
    if (answer === undefined) throw foreign(sent.path, body)
    return answer as T
  }

  return {
    address,
    async get<T>(path: string, query?: Query) {
      const answer = await json<T>({ method: 'GET', path, query })
      if (answer === null) throw foreign(path, '')
      return answer
    },
    post: (path, query, body) => json({ method: 'POST', path, query, body }),
    async put(path, query, archive) {
      await json({ method: 'PUT', path, query, body: archive })
    },
    async delete(path, query) {
      await json({ method: 'DELETE', path, query })
    },
    has: async (path, query) => (await head(path, query)) !== null,
    head,
    beginning,
    stream: (path, signal, query) => answerOf({ method: 'GET', path, query, signal }),
    work: (path, signal, query) => answerOf({ method: 'POST', path, query, signal }),
    async podman<T>(path: string) {
      const response = await send(podmanPrefix, { method: 'GET', path })
      const body = await bodyOf(response)
      return (response.statusCode ?? 0) < 400 ? ((parsedJson(body) ?? null) as T | null) : null
    },
    close: () => closing.abort(),
  }
}

/** Ends a request that is not answered, or an answer that stops in its middle. */
async function limit(message: ClientRequest | IncomingMessage, clock: Clock, answered: AbortSignal): Promise<void> {
  await clock.sleep(answerMsMax, answered)
  if (!answered.aborted) message.destroy(new Error(`no answer within ${answerMsMax / 1000} s`))
}

/** `{"message": "…"}` of Docker, `{"message": …, "cause": …}` of Podman. */
function messageOf(body: string): string {
  const { message = body.trim() } = (parsedJson(body) as { message?: unknown } | null | undefined) ?? {}
  return String(message)
}

const foreign = (path: string, body: string) =>
  new EngineAway(`The answer to ${path} did not come from a container engine: ${beginningOf(body)}`)

/** Throws EngineAway unless the answer has what each answer to this path has. */
export function demandWhole(isWhole: boolean, path: string): void {
  if (!isWhole) throw foreign(path, '')
}

export const isNotFound = (error: unknown) => error instanceof EngineError && error.status === 404
/** Something is there already, or is not in the state that the request needs. */
export const isEngineConflict = (error: unknown) => error instanceof EngineError && error.status === 409

export interface EngineVersion {
  Version: string
  /** By the names of Go: amd64, arm64. */
  Arch: string
  Components?: readonly { Name: string }[] | null
}

export const isOfPodman = ({ Components: components }: EngineVersion): boolean =>
  components?.some(({ Name: name }) => name.startsWith('Podman')) ?? false

export const isPodman = async (engine: Engine): Promise<boolean> =>
  isOfPodman(await engine.get<EngineVersion>('/version'))
