import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Executor } from '../../../src/executors/executor.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { fastClock } from '../cluster-server.ts'
import { makeRun } from '../runs.ts'
import { makeOpener } from '../snapshot-files.ts'
import { listenAsEngine, openOverEngine } from './fake-engine.ts'

/** The copy of a snapshot into a container, while other servers wait for it or the engine fails. */

let directory: string
let engine: Awaited<ReturnType<typeof startEngine>>
let executor: Executor

beforeEach(async () => {
  directory = makeDirectory()
  engine = await startEngine()
  executor = await openOverEngine(directory, { image: 'i', clock: fastClock(100) })
})

const openSnapshot = makeOpener({ 'a/b': { text: 'x' } })
const newRun = (spec = {}) => makeRun({ command: ['true'], ...spec }, { openSnapshot })

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** An engine with one container, which handles uploaded files by `take`. */
async function startEngine() {
  const state = {
    /** null: no container exists. */
    status: null as string | null,
    created: 0,
    puts: [] as Buffer[],
    take: ((_, response) => void response.end()) as Answer,
    /** Sizes in bytes that the next measurements of the container return. */
    sizes: [] as number[],
    removed: 0,
    user: '',
  }
  const networks = ['berth', 'berth-in'].map((Name) => ({ Id: Name, Name, Created: '2026-01-01T00:00:00Z' }))
  const answers: Record<string, unknown> = {
    'GET /_ping': 'OK',
    'GET /info': {},
    'GET /version': { Version: '20' },
    'GET /networks': networks,
    'GET /containers/json': [],
  }
  const inspected = () => ({
    Id: 'abc',
    Created: '2026-01-01T00:00:00Z',
    State: { Status: state.status, Pid: 0, ExitCode: 0, OOMKilled: false, Error: '', StartedAt: '' },
    Config: { Labels: { 'berth.owner': join(directory, 'stops') } },
    NetworkSettings: {},
  })
  function act(asked: string, query: URLSearchParams): unknown {
    if (asked.includes('berth-look') || query.get('name')?.startsWith('berth-look')) return { Id: 'look' }
    if (asked === 'GET /images/i/json') return { Id: 'sha256:0', Config: { User: state.user } }
    if (asked === 'POST /containers/create') {
      Object.assign(state, { status: 'created', created: state.created + 1 })
      return { Id: 'abc' }
    }
    if (asked === 'POST /containers/abc/start') return Object.assign(state, { status: 'running' })
    if (asked.startsWith('DELETE /containers/'))
      return Object.assign(state, { status: null, removed: state.removed + 1 })
    if (/^GET \/containers\/berth-run.*\/json$/.test(asked) && state.status !== null)
      return { ...inspected(), ...(query.has('size') && { SizeRw: state.sizes.shift() ?? 0 }) }
    return answers[asked]
  }
  const server = await listenAsEngine(directory, async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://engine')
    const asked = `${request.method} ${pathname.replace(/^\/v[\d.]+/, '')}`
    if (asked === 'PUT /containers/abc/archive') return state.take(request, response)
    const answer = act(asked, searchParams)
    response.statusCode = answer === undefined ? 404 : 200
    response.end(JSON.stringify(answer ?? { message: 'No such thing' }))
  })
  return Object.assign(state, server)
}

describe('a container with a snapshot', () => {
  it('that a dead server left behind is removed when its files no longer grow, and is created again', async () => {
    engine.status = 'created'
    // Measured at the start, and at each check for progress.
    engine.sizes = [0, 10, 20, 20]
    await executor.start({ ...newRun(), inherited: true })
    expect(engine).toMatchObject({ status: 'running', created: 1, removed: 1, sizes: [] })
  })

  it('is removed if the engine refuses the files; while the disk of the engine is full, the job waits', async () => {
    engine.take = (_, response) => void response.writeHead(500).end('{"message":"write /a: no space left on device"}')
    await expect(executor.start(newRun())).rejects.toMatchObject({ reason: 'BACKEND_AWAY' })
    expect(engine).toMatchObject({ status: null, removed: 1 })
  })

  it('is removed if the snapshot cannot be read, and the start fails with the reason', async () => {
    engine.take = (request) => void request.on('error', () => undefined).resume()
    const broken = async function* () {
      yield Buffer.alloc(512)
      throw new Error('the database is away')
    }
    await expect(executor.start({ ...newRun(), openSnapshot: broken })).rejects.toThrow('the database is away')
    expect(engine.status).toBeNull()
  })

  it('is removed if its start was aborted', async () => {
    let taken = 0
    engine.take = (request) => void request.on('error', () => undefined).once('data', () => void taken++)
    const endless = async function* () {
      for (;;) yield Buffer.alloc(64 * 1024)
    }
    const unwanted = new AbortController()
    const run = { ...newRun(), openSnapshot: endless }
    const starting = executor.start(run, unwanted.signal).catch((error: unknown) => error)
    await until(() => taken > 0, { what: 'the engine takes files' })
    unwanted.abort(new Error('cancelled'))
    expect(await starting).toMatchObject({ message: 'cancelled' })
    expect(await executor.find(run.runId)).toBeNull()
    expect(engine.status).toBeNull()
  })

  it('mounts nothing in the folder of the snapshot or around it', async () => {
    for (const target of ['/berth-work', '/berth-work/data', '/berth-work/../berth-work/x'])
      await expect(executor.start(newRun({ data: [`/tmp:${target}`] }))).rejects.toMatchObject({ reason: 'BAD_SPEC' })
    expect(engine.created).toBe(0)
  })

  it('is refused if the image does not say which number its user has', async () => {
    engine.user = 'app'
    await expect(executor.start(newRun())).rejects.toMatchObject({
      reason: 'BAD_SPEC',
      message: expect.stringContaining('do not name its user app'),
    })
    expect(engine.status).toBeNull()
  })
})
