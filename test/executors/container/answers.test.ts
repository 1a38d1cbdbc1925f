import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Executor } from '../../../src/executors/executor.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { fastClock } from '../cluster-server.ts'
import { makeRun, observe } from '../runs.ts'
import { listenAsEngine, openOverEngine } from './fake-engine.ts'

/** Responses of a proxy, or of an engine with a fault. */

let directory: string
let engine: Awaited<ReturnType<typeof startEngine>>
let executor: Executor

beforeEach(async () => {
  directory = makeDirectory()
  engine = await startEngine()
  executor = await openOverEngine(directory, { image: 'i', clock: fastClock(100) })
})

const run = makeRun({ command: ['true'] })
const handle = `berth-${run.runId}`
/** Labels of a container that the executor made. */
const ownConfig = {
  get Labels() {
    return { 'berth.owner': join(directory, 'stops') }
  },
}
const started = {
  Id: 'abc',
  Created: '2026-01-01T00:00:00Z',
  State: { Status: 'running', Pid: 0, ExitCode: 0, OOMKilled: false, Error: '', StartedAt: '2026-01-01T00:00:00Z' },
  Config: ownConfig,
  NetworkSettings: {},
}

const created = { ...started, State: { ...started.State, Status: 'created', StartedAt: '0001-01-01T00:00:00Z' } }

type Answer = (response: ServerResponse) => void

/** Starts the container, and then responds with `breaks`. */
async function startEngine() {
  const state = {
    isStarted: false,
    made: 0,
    broken: null as Answer | null,
    breaks: null as Answer | null,
    refuses: null as Answer | null,
    told: {} as Record<string, unknown>,
  }
  const networks = ['berth', 'berth-in'].map((Name) => ({ Id: Name, Name, Created: '2026-01-01T00:00:00Z' }))
  const always: Record<string, unknown> = {
    'GET /_ping': 'OK',
    'GET /info': { SystemTime: '2026-01-01T00:00:02Z' },
    'GET /version': { Version: '20' },
    'GET /networks': networks,
    'GET /images/i/json': { Id: 'sha256:0', Config: {} },
    'GET /containers/json': [],
  }
  const once: Record<string, unknown> = {
    'GET /containers/json': [{ Names: [`/${handle}`], State: 'running', Labels: { 'berth.run': run.runId } }],
    [`GET /containers/${handle}/json`]: started,
  }
  function act(asked: string, name: string | null): unknown {
    if (name === handle) state.made++
    if (asked === 'POST /containers/create') return { Id: 'abc' }
    if (asked.includes('berth-look')) return {}
    if (state.refuses && state.made > 0 && asked === `GET /containers/${handle}/json`) return created
    return (state.isStarted ? once[asked] : undefined) ?? always[asked]
  }
  const server = await listenAsEngine(directory, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://engine')
    const asked = `${request.method} ${pathname.replace(/^\/v[\d.]+/, '')}`
    const isRefused = state.refuses && (asked.endsWith('abc/start') || request.method === 'DELETE')
    if (state.refuses && isRefused) return state.refuses(response)
    const told = state.told[asked.slice('GET '.length)]
    if (told) return void response.end(JSON.stringify(told))
    if (asked === 'POST /containers/abc/start') {
      Object.assign(state, { isStarted: true, broken: state.breaks })
      if (!state.broken) return void response.writeHead(204).end()
    }
    if (state.broken) return state.broken(response)
    const answer = act(asked, searchParams.get('name'))
    response.statusCode = answer === undefined ? 404 : 200
    response.end(JSON.stringify(answer ?? { message: 'No such thing' }))
  })
  return Object.assign(state, server)
}

const giving = (status: number, body: string) => (response: ServerResponse) =>
  void response.writeHead(status, { 'content-length': Buffer.byteLength(body) }).end(body)

describe.each<[string, (response: ServerResponse) => void]>([
  ['a web page', giving(200, '<html>Welcome</html>')],
  ['a web page with status 404', giving(404, '<html>Not found</html>')],
  ['JSON of another program', giving(200, '{"status":"ok"}')],
  ['an empty body', giving(200, '')],
  ['null', giving(200, 'null')],
  ['an empty list', giving(500, '[]')],
  ['500', giving(500, '{"message":"database is locked"}')],
  ['503', giving(503, '{"message":"starting"}')],
  ['half a response', (response) => void response.writeHead(200, { 'content-length': 100 }).end('[{"Id":')],
  ['no HTTP', (response) => void response.socket?.end('garbage\r\n\r\n')],
])('while the engine responds with %s', (_, broken) => {
  it('a known run keeps its state, and an unknown run is reported as starting', async () => {
    await executor.start(run)
    expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
    engine.broken = broken
    expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
    const other = await openOverEngine(directory, { image: 'i', clock: fastClock(100) })
    expect(await observe(other, handle)).toMatchObject({ state: 'starting' })
    await expect(executor.find(run.runId)).rejects.toThrow()
    expect(await executor.describe()).toMatchObject({ available: false })
  })

  it('a start that is under way waits, and succeeds when the engine recovers', async () => {
    engine.breaks = broken
    const starting = executor.start(run)
    await until(() => engine.isStarted, { what: 'the container is started' })
    const waits = new Promise((resolve) => setTimeout(resolve, 300, 'waits'))
    expect(await Promise.race([starting.catch(String), waits])).toBeOneOf(['waits', handle])
    engine.broken = null
    expect(await starting).toBe(handle)
    expect(engine.made).toBe(1)
  })
})

it.each([
  ['its pid here belongs to another container', async () => 'f'.repeat(64), true],
  ['its pid here belongs to the container', async () => (await readFile('/proc/self/cgroup', 'utf8')).trim(), false],
])('the start of a run is read from the engine or from /proc: %s', async (_, readId, isOfEngine) => {
  await executor.start(run)
  const State = { ...started.State, Pid: process.pid, StartedAt: '2025-01-01T00:00:02Z' }
  engine.told[`/containers/${handle}/json`] = { ...started, Id: await readId(), State }
  const observed = await observe(executor, handle)
  const startedMs = Number('startedAt' in observed && observed.startedAt)
  // By the clock of the engine, it started a year ago.
  expect(Date.now() - startedMs > 364 * 86_400_000).toBe(isOfEngine)
})

it.each([502, 503, 504])('a start waits while the engine or its proxy responds with %s', async (status) => {
  engine.broken = giving(status, '<html>Try again</html>')
  const told: string[] = []
  const starting = executor.start(run, undefined, (info) => void told.push(info))
  await Promise.race([starting, until(() => told.length > 0, { what: 'it is told' })])
  engine.broken = null
  expect(await starting).toBe(handle)
  expect(told).toContain('The container engine is unreachable')
})

it('a start waits while the disk of the engine is full', async () => {
  engine.refuses = giving(500, '{"message":"mkdir /var/lib/docker/overlay2/a-init: no space left on device"}')
  await expect(executor.start(run)).rejects.toMatchObject({ reason: 'BACKEND_AWAY' })
})

it.each([
  ['dockerd', {}, { MemoryLimit: true, CpuCfsQuota: false, PidsLimit: true }, ['cpu']],
  ['dockerd that enforces all', {}, { MemoryLimit: true, CpuCfsQuota: true, PidsLimit: true }, []],
  [
    'a rootless Podman',
    { Components: [{ Name: 'Podman Engine' }] },
    { host: { cgroupControllers: ['memory'] } },
    ['cpu', 'pids'],
  ],
  [
    'a Podman under cgroups v1',
    { Components: [{ Name: 'Podman Engine' }] },
    { host: { cgroupControllers: [] } },
    ['memory', 'cpu', 'pids'],
  ],
])('the description of the executor lists the limits that %s ignores', async (_, version, info, unenforced) => {
  engine.told = { '/version': { Version: '20', ...version }, '/info': info, '/libpod/info': info }
  await executor.close()
  executor = await openOverEngine(directory, { image: 'i', clock: systemClock }) // with the fast clock it waits 50 ms for an answer
  const described = await executor.describe()
  expect(described).toMatchObject({ available: true, unenforced })
  if (unenforced.length > 0) expect(described.message).toContain(`${unenforced.join(', ')}: planned with, not enforced`)
})

it('the description of the executor warns if containers cannot reach the server', async () => {
  engine.told = { '/info': {} }
  const warnings = [expect.stringContaining('set server.publicUrl')]
  for (const [reachesServer, expected] of [
    [true, {}],
    [false, { warnings }],
  ] as const) {
    const own = await openOverEngine(directory, { image: 'i', clock: systemClock, reachesServer })
    const { warnings: told, message } = await own.describe()
    expect({ ...(told && { warnings: told }) }).toEqual(expected)
    expect(message?.includes('server.publicUrl') ?? false).toBe(!reachesServer)
  }
})

it('a start that the engine refuses fails with the reason of the engine, even if its container cannot be removed', async () => {
  engine.refuses = giving(500, '{"message":"device or resource busy"}')
  await expect(executor.start(run)).rejects.toThrow('device or resource busy')
})
