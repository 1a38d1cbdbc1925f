import { Agent as HttpAgent, type IncomingMessage, request as openHttp } from 'node:http'
import { Agent as HttpsAgent, request as openHttps } from 'node:https'
import { text as textOf } from 'node:stream/consumers'
import type { Clock, Time } from '../../platform/clock.ts'
import { beginningOf, parsedJson } from '../backend/json-answer.ts'
import { type Access, type AccessOptions, readAccess } from './kubeconfig.ts'

/**
 * The Kubernetes API over HTTP: only requests and answers; the other files of this folder say what an object means to
 * Berth.
 *
 * The API server may be away, frozen or overloaded, and a proxy may answer in its place: every answer is waited for
 * `answerMsMax`. Such a failure is a `ClusterAway`, which says nothing about an object, not even whether the request had an
 * effect; a `ClusterError` is a refusal.
 */

export interface ClusterApi {
  /** Where it is and the namespace of the runs, for people. */
  address(): string
  /** How far its clock is ahead of the database's; 0 if that is less than the header of an answer can tell. */
  aheadMs(): number
  get<T>(path: Path, query?: ClusterQuery): Promise<T>
  /** All items of a list, page by page, and the version of the whole list. */
  list<T>(path: Path, query?: ClusterQuery): Promise<Listed<T>>
  create<T>(path: Path, body: unknown): Promise<T>
  /** A JSON merge patch. */
  patch<T>(path: Path, body: unknown): Promise<T>
  delete(path: Path, options: DeleteOptions): Promise<void>
  /** A continuous answer, read piece by piece; throws if it is cut off in the middle. */
  stream(path: Path, signal: AbortSignal, query?: ClusterQuery): Promise<IncomingMessage>
  close(): void
}

/** Inside the namespace of the runs (`pods/name`), or of the whole cluster (`/api/v1/nodes`). */
export type Path = string
export type ClusterQuery = Readonly<Record<string, string | number | boolean>>

export interface Listed<T> {
  items: readonly T[]
  version: string
}

export interface DeleteOptions {
  gracePeriodSeconds?: number
  propagationPolicy?: 'Background'
  preconditions?: { uid?: string; resourceVersion?: string }
}

/** The API server refused the request. */
export class ClusterError extends Error {
  override name = 'ClusterError'
  readonly status: number
  /** `AlreadyExists`, `Conflict`, `NotFound`, … */
  readonly reason: string
  constructor(status: number, reason: string, message: string) {
    super(message)
    this.status = status
    this.reason = reason
  }
}

/** For people. */
export const clusterAway = 'The cluster does not answer'

/** The API server did not answer, or could not serve. */
export class ClusterAway extends Error {
  override name = 'ClusterAway'
}

const json = 'application/json'
/** For a whole answer; for the beginning of a continuous one. */
const answerMsMax = 30_000
const pageItems = 500
/** The header has whole seconds, and an answer takes its time. */
const headerMs = 5_000
/** Where requests fail, the access is read again that often: the API server may have moved, or have a new certificate. */
const accessMsMin = 30_000
/** A connection without any byte is probed, so that a vanished peer is noticed. */
const keepAliveMs = 15_000
/** Its answer is no object with metadata. */
export const versionPath = '/version'
/** Secrets are read without their data. */
const metadataOnly = (kind: string) => `application/json;as=${kind};g=meta.k8s.io;v=v1`
/**
 * Answers that say: not now. 401: the credentials are not valid any more, and are read again. 410: what was being read
 * changed too long ago, and is to be read again from the beginning.
 */
const notNow: readonly number[] = [401, 410, 429, 500, 502, 503, 504]

const groups: Readonly<Record<string, string>> = { networkpolicies: '/apis/networking.k8s.io/v1' }

interface Page<T> {
  metadata: { resourceVersion: string; continue?: string }
  items: readonly T[] | null
}

interface Connection {
  access: Access
  readMs: number
  base: URL
  open: typeof openHttp
  agent: HttpAgent
}

interface Sent {
  method: string
  path: Path
  query?: ClusterQuery | undefined
  body?: unknown
  type?: string
  accept?: string
  /** Of a continuous answer. */
  signal?: AbortSignal
}

export function createClusterApi(options: AccessOptions, { clock, time }: { clock: Clock; time: Time }): ClusterApi {
  const closing = new AbortController()
  let connection: Promise<Connection> | null = null
  let aheadMs = 0

  /** Credentials that cannot be read now may be readable later. */
  async function connected(): Promise<Connection> {
    connection ??= connect(options, clock.monotonicMs())
    try {
      return await connection
    } catch (cause) {
      connection = null
      throw new ClusterAway(`Cannot read the access to the cluster: ${messageOf(cause)}`, { cause })
    }
  }

  async function send(sent: Sent): Promise<IncomingMessage> {
    const to = await connected()
    const { method, path, query = {}, body, type = json, accept = json, signal } = sent
    const url = new URL(fullPath(path, to.access.namespace), to.base)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value))
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = {
      accept,
      ...(to.access.authorization && { authorization: to.access.authorization }),
      ...(text !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(text) }),
    }
    const signals = AbortSignal.any(signal ? [signal, closing.signal] : [closing.signal])
    return new Promise((resolve, reject) => {
      const answered = new AbortController()
      const request = to.open(url, { method, headers, agent: to.agent, signal: signals, ...to.access.tls })
      const left = AbortSignal.any([answered.signal, signals])
      void clock
        .sleep(answerMsMax, left)
        .then(() => left.aborted || request.destroy(new Error(`no answer within ${answerMsMax / 1000} s`)))
      request.on('socket', (socket) => socket.setKeepAlive(true, keepAliveMs))
      request.on('error', (cause) => {
        answered.abort()
        const isOld = clock.monotonicMs() - to.readMs > accessMsMin
        if (isOld && !signals.aborted) connection = null
        reject(new ClusterAway(`${to.access.server}: ${cause.message}`, { cause }))
      })
      request.on('response', (response) => {
        if (signal && !isRefusal(response)) answered.abort()
        else response.on('close', () => answered.abort())
        const toldMs = Date.parse(response.headers.date ?? '') - time.nowMs()
        if (Math.abs(toldMs - aheadMs) > headerMs) aheadMs = toldMs
        resolve(response)
      })
      request.end(text)
    })
  }

  async function answerOf(sent: Sent): Promise<IncomingMessage> {
    const response = await send(sent)
    if (!isRefusal(response)) return response
    const status = response.statusCode ?? 0
    if (status === 401) connection = null
    const refused = refusalOf(status, await bodyOf(response), `${sent.method} ${sent.path}`)
    if (saysNothing(refused)) throw new ClusterAway(refused.message, { cause: refused })
    throw refused
  }

  async function ask<T>(sent: Sent): Promise<T> {
    const body = await bodyOf(await answerOf(sent))
    const answer = parsedJson(body)
    if (typeof answer === 'object' && answer !== null) return answer as T
    throw foreign(sent.path, body)
  }

  async function askObject<T>(sent: Sent): Promise<T> {
    const answer = await ask<object>(sent)
    if ((sent.path === versionPath ? 'gitVersion' : 'metadata') in answer) return answer as T
    throw foreign(sent.path, JSON.stringify(answer))
  }

  async function list<T>(path: Path, query: ClusterQuery = {}): Promise<Listed<T>> {
    const items: T[] = []
    for (let next = ''; ; ) {
      const page = await ask<Partial<Page<T>>>({
        method: 'GET',
        path,
        query: { ...query, limit: pageItems, ...(next && { continue: next }) },
        ...withoutData(path, 'PartialObjectMetadataList'),
      })
      const hasItems = page.items === null || Array.isArray(page.items)
      if (!page.metadata || !hasItems) throw foreign(path, JSON.stringify(page))
      items.push(...(page.items ?? []))
      next = page.metadata.continue ?? ''
      if (next === '') return { items, version: page.metadata.resourceVersion }
    }
  }

  let known = options.kubeconfig ?? 'the cluster'
  return {
    address: () => known,
    aheadMs: () => aheadMs,
    async get<T>(path: Path, query?: ClusterQuery) {
      const { access } = await connected()
      known = `${access.server}, namespace ${access.namespace}`
      return askObject<T>({ method: 'GET', path, query, ...withoutData(path, 'PartialObjectMetadata') })
    },
    list,
    create: (path, body) => askObject({ method: 'POST', path, body }),
    patch: (path, body) => askObject({ method: 'PATCH', path, body, type: 'application/merge-patch+json' }),
    async delete(path, body) {
      await ask({ method: 'DELETE', path, body })
    },
    stream: (path, signal, query) => answerOf({ method: 'GET', path, query, signal }),
    close() {
      closing.abort()
      void connection?.then(({ agent }) => agent.destroy()).catch(() => undefined)
    },
  }
}

async function connect(options: AccessOptions, readMs: number): Promise<Connection> {
  const access = await readAccess(options)
  const base = new URL(access.server)
  const isPlain = base.protocol === 'http:'
  return {
    access,
    readMs,
    base,
    open: isPlain ? openHttp : openHttps,
    agent: new (isPlain ? HttpAgent : HttpsAgent)({ keepAlive: true, ...access.tls }),
  }
}

/** The API server does not redirect. */
const isRefusal = ({ statusCode = 0 }: IncomingMessage) => statusCode >= 300

/** A 404 of the API server has a reason. */
const saysNothing = ({ status, reason }: ClusterError) =>
  notNow.includes(status) || status < 400 || (status === 404 && reason === '')

const withoutData = (path: Path, kind: string) => (path.startsWith('secrets') ? { accept: metadataOnly(kind) } : {})

function fullPath(path: Path, namespace: string): string {
  if (path.startsWith('/')) return path
  const group = groups[path.split('/')[0] ?? ''] ?? '/api/v1'
  return `${group}/namespaces/${namespace}/${path}`
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  try {
    return await textOf(response)
  } catch (cause) {
    throw new ClusterAway('The API server left in the middle of an answer', { cause })
  }
}

/** The body is a `Status` object, or the text of a proxy. */
function refusalOf(status: number, body: string, what: string): ClusterError {
  const { reason = '', message = `${what}: ${status} ${beginningOf(body)}` } =
    (parsedJson(body) as { reason?: string; message?: string } | null | undefined) ?? {}
  return new ClusterError(status, reason, message)
}

const foreign = (path: Path, body: string) =>
  new ClusterAway(`The answer to ${path} did not come from Kubernetes: ${beginningOf(body)}`)

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

export const isAbsent = (error: unknown) => error instanceof ClusterError && error.status === 404
export const isAlreadyThere = (error: unknown) => error instanceof ClusterError && error.reason === 'AlreadyExists'
/** The object changed since it was read. */
export const isConflict = (error: unknown) => error instanceof ClusterError && error.reason === 'Conflict'
