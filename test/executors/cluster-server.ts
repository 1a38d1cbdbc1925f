import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Clock } from '../../src/platform/clock.ts'

/**
 * A fake API server of Kubernetes: objects and lists from `items`, which patches and deletions change, and watches,
 * which `watches` answers one after the other and which then get no events. A test can also make it misbehave.
 */
export interface ClusterServer {
  kubeconfig: string
  /** Handles WebSockets. */
  readonly http: Server
  /** By the last word of the path: `pods`, `nodes`, `secrets`, `events`. */
  readonly items: Record<string, readonly object[]>
  version: number
  readonly watches: ((response: ServerResponse) => void)[]
  /** Versions from which the client requested watches. */
  readonly watchedFrom: string[]
  /** Requested paths of lists. */
  readonly listed: string[]
  readonly patches: { path: string; body: unknown }[]
  /** Returns true for requests that it handles instead of the server. */
  answers: (request: IncomingMessage, response: ServerResponse) => boolean
  /** Number of open connections. */
  connections(): Promise<number>
  close(): Promise<void>
}

export async function startClusterServer(directory: string): Promise<ClusterServer> {
  const server = createServer((request, response) => void answer(request, response))
  const it = { http: server, items: {}, version: 1, watches: [], watchedFrom: [], listed: [], patches: [] }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const kubeconfig = `${directory}/kubeconfig`
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: url } }],
    users: [{ name: 'u', user: {} }],
  }
  await writeFile(kubeconfig, JSON.stringify(config))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (cluster.answers(request, response)) return
    const { pathname, searchParams } = new URL(request.url ?? '', url)
    const kind = pathname.split('/').at(-1) ?? ''
    if (searchParams.has('watch')) {
      cluster.watchedFrom.push(searchParams.get('resourceVersion') ?? '')
      response.writeHead(200).flushHeaders()
      cluster.watches.shift()?.(response)
    } else if (request.method === 'PATCH') {
      const body = JSON.parse(await text(request))
      cluster.patches.push({ path: pathname, body })
      tell(
        response,
        change(pathname, (item) => merged(item, body)),
      )
    } else if (request.method === 'DELETE') {
      response.end(JSON.stringify(change(pathname, () => null) ?? {}))
    } else if (cluster.items[kind] === undefined && named(pathname)) {
      response.end(JSON.stringify(named(pathname)))
    } else {
      cluster.listed.push(kind)
      const items = (cluster.items[kind] ?? []).filter(isSelected(searchParams.get('labelSelector')))
      response.end(JSON.stringify({ metadata: { resourceVersion: String(cluster.version) }, items }))
    }
  }

  const kindOf = (path: string) => path.split('/').at(-2) ?? ''
  const isNamed = (path: string) => (item: object) => nameOf(item) === path.split('/').at(-1)
  const named = (path: string) => cluster.items[kindOf(path)]?.find(isNamed(path))

  /** Returns the changed object; null removes it. */
  function change(path: string, to: (item: object) => object | null): object | undefined {
    const before = named(path)
    const after = before && to(before)
    const rest = cluster.items[kindOf(path)]?.flatMap((item) => (item === before ? (after ?? []) : item))
    if (rest) cluster.items[kindOf(path)] = rest
    return after ?? before
  }

  const cluster: ClusterServer = {
    ...it,
    kubeconfig,
    answers: () => false,
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return cluster
}

/** Returns undefined if the object does not exist. */
function tell(response: ServerResponse, object: object | undefined): void {
  if (!object) response.statusCode = 404
  response.end(JSON.stringify(object ?? { kind: 'Status', reason: 'NotFound' }))
}

/** Supports only `label in (one,other)` in selectors. */
function isSelected(selector: string | null): (item: { metadata?: { labels?: Record<string, string> } }) => boolean {
  const [, label = '', values] = selector?.match(/^(\S+) in \((.*)\)$/) ?? []
  return (item) => values === undefined || values.split(',').includes(item.metadata?.labels?.[label] ?? '')
}

const nameOf = (item: { metadata?: { name?: string } }) => item.metadata?.name

/** Applies a JSON merge patch. */
function merged(item: object, patch: object): object {
  const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
  const fields = Object.entries(patch).map(([key, value]) => {
    const before: unknown = Object.getOwnPropertyDescriptor(item, key)?.value
    return [key, isObject(value) ? merged(isObject(before) ? before : {}, value) : value]
  })
  return { ...item, ...Object.fromEntries(fields) }
}

/** A clock whose waits end `rate` times sooner. */
export const fastClock = (rate: number): Clock => ({
  monotonicMs: () => performance.now() * rate,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms / rate)
      const end = () => {
        clearTimeout(timer)
        resolve()
      }
      if (signal?.aborted) end()
      signal?.addEventListener('abort', end, { once: true })
    }),
})
