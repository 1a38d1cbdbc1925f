import { readdir } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeDisplayBody } from '../../../src/executors/container/display.ts'
import type { Executor } from '../../../src/executors/executor.ts'
import { makeDirectory } from '../../support/directory.ts'
import { fastClock } from '../cluster-server.ts'
import { makeRun, observe } from '../runs.ts'
import { listenAsEngine, openOverEngine } from './fake-engine.ts'

/** Requests for a job with an X11 display, and displays that do not start. */

interface Container {
  status: 'created' | 'running' | 'exited'
  exitCode: number
  isOom: boolean
  /** Seconds. */
  finished?: number
  body: { Labels?: Record<string, string>; Image: string; HostConfig: object; Env?: string[]; Cmd: string[] }
}

let directory: string
let engine: Awaited<ReturnType<typeof startEngine>>
let executor: Executor

beforeEach(async () => {
  directory = makeDirectory()
  engine = await startEngine()
  executor = await open('x:1')
})

const open = (x11Image?: string) => openOverEngine(directory, { image: 'i:1', x11Image, clock: fastClock(100) })

const words = '/bin/sh: Xvfb: not found\n'
const frame = Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 0, 0, words.length]), Buffer.from(words)])

/** An engine with two images. `display` sets what its displays do. */
async function startEngine() {
  const state = {
    containers: new Map<string, Container>(),
    asked: [] as string[],
    hasShell: true,
    display: 'answers' as 'answers' | 'exits' | 'is silent' | 'cannot start',
  }
  const inspected = ({ status, exitCode, isOom, finished = 3, body }: Container) => ({
    Id: 'abc',
    Created: '2026-01-01T00:00:00Z',
    State: {
      Status: status,
      Pid: 0,
      ExitCode: exitCode,
      OOMKilled: isOom,
      Error: '',
      StartedAt: '2026-01-01T00:00:00Z',
      FinishedAt: `2026-01-01T00:00:0${finished}Z`,
    },
    Config: { Labels: body.Labels ?? null },
    NetworkSettings: {},
  })
  const fixed: Record<string, unknown> = {
    'GET /_ping': 'OK',
    'GET /info': { SystemTime: '2026-01-01T00:00:02Z' },
    'GET /version': { Version: '23' },
    'GET /networks': ['berth', 'berth-in'].map((Name) => ({ Id: Name, Name, Created: '2026-01-01T00:00:00Z' })),
    'GET /images/i:1/json': { Id: 'job', Config: {} },
    'GET /images/x:1/json': { Id: 'display', Config: {} },
  }

  async function create(request: IncomingMessage, name: string): Promise<number> {
    if (state.containers.has(name)) return 409
    const body = (await json(request)) as Container['body']
    state.containers.set(name, { status: 'created', exitCode: 0, isOom: false, body })
    return 201
  }

  function start(name: string, container: Container): number {
    const isDisplay = name.endsWith('.x11')
    if (isDisplay && state.display === 'cannot start') return 500
    const fails = isDisplay && state.display === 'exits'
    Object.assign(container, fails ? { status: 'exited', exitCode: 127 } : { status: 'running' })
    return 204
  }

  function listed(filters: string): object[] {
    const { label } = JSON.parse(filters) as { label: string[] }
    const has = ({ body: { Labels: labels = {} } }: Container) =>
      label.every((each) => Object.entries(labels).some(([name, value]) => each === `${name}=${value}`))
    const found = [...state.containers].filter(([, container]) => has(container))
    return found.map(([name, { status }]) => ({ Id: name, Names: [`/${name}`], State: status }))
  }

  const hasFile = (name: string, query: string) =>
    name.endsWith('.x11') ? state.display === 'answers' : !query.endsWith('bash') && state.hasShell

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://engine')
    const asked = `${request.method} ${url.pathname.replace(/^\/v[\d.]+/, '')}`
    state.asked.push(asked)
    const say = (status: number, body: unknown = {}) => response.writeHead(status).end(JSON.stringify(body))
    if (asked in fixed) return void say(200, fixed[asked])
    if (asked === 'POST /containers/create') {
      const name = url.searchParams.get('name') ?? ''
      return void say(await create(request, name), { Id: name })
    }
    if (asked === 'GET /containers/json') return void say(200, listed(url.searchParams.get('filters') ?? ''))
    await answerOf(asked, url, response)
  }

  async function answerOf(asked: string, url: URL, response: ServerResponse): Promise<void> {
    const [, method, name = '', verb] = asked.match(/^(\w+) \/containers\/([^/]+)\/?(\w*)$/) ?? []
    const container = state.containers.get(name)
    const say = (status: number, body: unknown = {}) => response.writeHead(status).end(JSON.stringify(body))
    if (!container) say(404, { message: `No such container: ${name}` })
    else if (method === 'DELETE') say(state.containers.delete(name) ? 204 : 404)
    else if (verb === 'logs') response.end(frame)
    else if (verb === 'archive') response.writeHead(hasFile(name, url.search) ? 200 : 404).end()
    else if (verb === 'start') say(start(name, container), { message: 'no runtime' })
    else say(200, inspected(container))
  }

  const server = await listenAsEngine(directory, (request, response) => void answer(request, response))
  return Object.assign(state, server)
}

const withDisplay = (gpu = false, gpuIds: number[] = []) => makeRun({ command: ['true'], x11: { gpu } }, { gpuIds })
const kept = async () => (await readdir(join(directory, 'stops'))).filter((name) => name !== '.orders')

describe('a job with a display', () => {
  it('shares with it only the socket of the display, which is closed before the job ends', async () => {
    const handle = await executor.start(withDisplay())
    expect([...engine.containers.keys()]).toEqual([`${handle}.x11`, handle])
    const [display, job] = [...engine.containers.values()].map(({ body }) => body)
    expect(display).toMatchObject({
      Image: 'display',
      Env: ['NVIDIA_VISIBLE_DEVICES=void'],
      Volumes: { '/tmp/.X11-unix': {} },
      HostConfig: {
        NetworkMode: 'none',
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        NanoCpus: 1e9,
        Memory: 512 * 2 ** 20,
        MemorySwap: 512 * 2 ** 20,
        PidsLimit: 256,
      },
    })
    expect(display?.Cmd.at(-1)).toBe('')
    expect(display?.Labels).toEqual({ 'berth.owner': join(directory, 'stops'), 'berth.job': expect.any(String) })
    expect(job).toMatchObject({
      Labels: { 'berth.display': `${handle}.x11` },
      Env: expect.arrayContaining(['DISPLAY=:0']),
      HostConfig: { VolumesFrom: [`${handle}.x11:ro`] },
    })
    expect(job?.Cmd).toContain('/tmp/.X11-unix/berth')
    await executor.forget?.(handle)
    expect(engine.containers.size).toBe(0)
  })

  it('lets a display on a GPU use the first GPU of the job', () => {
    expect(makeDisplayBody(withDisplay(true, [5, 2]), 'display', {})).toMatchObject({
      Cmd: expect.arrayContaining(['0']),
      Env: [],
      HostConfig: { DeviceRequests: [{ DeviceIDs: ['5'], Capabilities: [['gpu', 'graphics', 'display', 'utility']] }] },
    })
    expect(makeDisplayBody(withDisplay(true, [5]), 'display', {})).not.toHaveProperty('HostConfig.CapDrop')
  })

  it('needs a shell in its image, whose first process holds the pipe of the display', async () => {
    engine.hasShell = false
    const message = expect.stringContaining('/bin/sh, which x11 needs')
    await expect(executor.start(withDisplay())).rejects.toMatchObject({ reason: 'BAD_SPEC', message })
    expect(engine.containers.size).toBe(0)
  })

  it('reports at its end that the display was lost before', async () => {
    const handle = await executor.start(withDisplay())
    const display = engine.containers.get(`${handle}.x11`)
    Object.assign(engine.containers.get(handle) ?? {}, { status: 'exited', exitCode: 1 })
    Object.assign(display ?? {}, { status: 'exited', exitCode: 137, isOom: true, finished: 2 })
    expect(await observe(executor, handle)).toMatchObject({
      exitCode: 1,
      info: 'The X11 display ended before the job: it needed more than 512 MiB',
    })
  })

  it.each([
    [0, 2, undefined],
    [143, 4, undefined],
    [1, 2, 'The X11 display ended before the job: exit code 1'],
  ])(
    'whose display exits with %i at second %i, and which itself ends at second 3, reports: %s',
    async (exitCode, finished, info) => {
      const handle = await executor.start(withDisplay())
      Object.assign(engine.containers.get(handle) ?? {}, { status: 'exited' })
      Object.assign(engine.containers.get(`${handle}.x11`) ?? {}, { status: 'exited', exitCode, finished })
      expect((await observe(executor, handle)) as object).toEqual(
        expect.objectContaining({ exitCode: 0, ...(info && { info }) }),
      )
      if (info === undefined) expect(await observe(executor, handle)).not.toHaveProperty('info')
    },
  )
})

describe('a display', () => {
  it.each([
    ['exits', 'The X11 display did not start: exit code 127: /bin/sh: Xvfb: not found'],
    ['is silent', 'The X11 display did not start: it is not ready within 60 s: /bin/sh: Xvfb: not found'],
    ['cannot start', 'The X11 display did not start: no runtime'],
  ] as const)('that %s fails the start with START_FAILED, and its container is removed', async (what, message) => {
    engine.display = what
    await expect(executor.start(withDisplay())).rejects.toMatchObject({ reason: 'START_FAILED', message })
    expect(engine.containers.size).toBe(0)
    expect(await kept()).toEqual([])
  })

  it('without a configured image is refused in the description and at the start', async () => {
    const other = await open()
    expect(await other.describe()).toMatchObject({ displays: false })
    expect(await executor.describe()).toMatchObject({ displays: true })
    const message = 'x11: the configuration names no image for displays (container.x11Image)'
    await expect(other.start(withDisplay())).rejects.toMatchObject({ reason: 'BAD_SPEC', message })
  })

  it('whose image has an invalid name fails the start with START_FAILED', async () => {
    const other = await open('../events?x=')
    await expect(other.start(withDisplay())).rejects.toMatchObject({ reason: 'START_FAILED' })
  })

  it('is kept after an aborted start, then used by the next start or removed by a search for the run', async () => {
    const unwanted = new AbortController()
    const run = withDisplay()
    const handle = `berth-${run.runId}`
    engine.display = 'is silent'
    const started = executor.start(run, unwanted.signal, () => unwanted.abort())
    await expect(started).rejects.toMatchObject({ name: 'AbortError' })
    expect([...engine.containers.keys()]).toEqual([`${handle}.x11`])
    engine.display = 'answers'
    const display = engine.containers.get(`${handle}.x11`)
    expect(await executor.start(run)).toBe(handle)
    expect(engine.containers.get(`${handle}.x11`)).toBe(display)
    engine.containers.delete(handle)
    expect(await executor.find(run.runId)).toBeNull()
    expect(engine.containers.size).toBe(0)
    expect(await kept()).toEqual([])
  })

  it('without its job is listed with its run, and is removed with it', async () => {
    const handle = await executor.start(withDisplay())
    engine.containers.delete(handle)
    expect(await executor.list?.()).toEqual([{ runId: handle.slice('berth-'.length), handle }])
    expect(await observe(executor, handle)).toMatchObject({ state: 'gone' })
    await executor.forget?.(handle)
    expect(engine.containers.size).toBe(0)
  })

  it('that ended under an earlier server is created again', async () => {
    const run = withDisplay()
    const name = `berth-${run.runId}.x11`
    const left: Container = {
      status: 'exited',
      exitCode: 1,
      isOom: false,
      body: { Image: 'old', HostConfig: {}, Cmd: [] },
    }
    engine.containers.set(name, left)
    await executor.start(run)
    expect(engine.containers.get(name)?.body.Image).toBe('display')
  })
})
