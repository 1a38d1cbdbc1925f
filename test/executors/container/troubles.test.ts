import { mkdir, rm, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import type { Executor, LogChunk } from '../../../src/executors/executor.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { fastClock } from '../cluster-server.ts'
import { makeRun, observe, read, untilEnded } from '../runs.ts'
import { listenAsEngine, openOverEngine } from './fake-engine.ts'

/** A running container, with a failing disk and an engine that cuts off responses. */

let directory: string
let engine: Awaited<ReturnType<typeof startEngine>>
let executor: Executor

beforeEach(async () => {
  directory = makeDirectory()
  engine = await startEngine()
  executor = await openOverEngine(directory, { image: 'i', clock: fastClock(100) })
  await writeFile(join(directory, 'stops', `${handle}.order`), '')
})

const handle = 'berth-one'
/** Output as the engine frames it. */
function frame(text: string): Buffer {
  const header = Buffer.from([1, 0, 0, 0, 0, 0, 0, text.length])
  return Buffer.concat([header, Buffer.from(text)])
}

/** Labels of a container that the executor made. */
const ownConfig = {
  get Labels() {
    return { 'berth.owner': join(directory, 'stops') }
  },
}
const inspectedAs = (status: string, exitCode: number) => ({
  Id: 'abc',
  Created: '2026-01-01T00:00:00Z',
  State: {
    Status: status,
    Pid: 0,
    ExitCode: exitCode,
    OOMKilled: false,
    Error: '',
    StartedAt: '2026-01-01T00:00:00Z',
    FinishedAt: '2026-01-01T00:00:01Z',
  },
  Config: ownConfig,
  NetworkSettings: {},
})

async function startEngine() {
  const state = {
    signals: [] as string[],
    breaksOff: false,
    ignoresTerm: false,
    isPaused: false,
    isRemoved: false,
  }
  const isMissing = (path: string) => path.includes(handle) && state.isRemoved
  const runs = () => !state.signals.includes(state.ignoresTerm ? 'KILL' : 'TERM')
  const inspected = () => (runs() ? inspectedAs(state.isPaused ? 'paused' : 'running', 0) : inspectedAs('exited', 143))
  const listed = () => (state.isRemoved ? [] : [{ Names: [`/${handle}`], State: inspected().State.Status }])
  function act({ pathname, searchParams }: URL, response: ServerResponse): void {
    const [verb] = pathname.split('/').slice(-1)
    if (verb === 'unpause') state.isPaused = false
    if (verb === 'kill' && state.isPaused) response.statusCode = 409
    else if (verb === 'kill') state.signals.push(searchParams.get('signal') ?? '')
    if (verb === 'logs') response.write(frame('first\n'))
  }
  const server = await listenAsEngine(directory, (request, response) => {
    const url = new URL(request.url ?? '', 'http://engine')
    if (url.pathname.endsWith('/containers/json')) {
      if (state.breaksOff) return void response.write('[')
      return void response.end(JSON.stringify(listed()))
    }
    if (isMissing(url.pathname)) return void response.writeHead(404).end('{}')
    if (request.method === 'DELETE') state.isRemoved = true
    act(url, response)
    if (url.searchParams.get('follow') === 'true') return
    const answers: Record<string, () => string | Buffer> = {
      logs: () => frame('last\n'),
      version: () => '{}',
      info: () => '{"SystemTime":"2026-01-01T00:00:02Z"}',
      json: () => JSON.stringify(inspected()),
    }
    response.end(answers[url.pathname.split('/').at(-1) ?? '']?.() ?? '')
  })
  return Object.assign(state, server)
}

test('a stop request that cannot be recorded stops the container, and the call fails', async () => {
  await mkdir(join(directory, 'stops', `${handle}.${process.pid}.0`))
  await expect(executor.stop(handle, 600_000)).rejects.toThrow(/EISDIR/)
  expect(engine.signals).toEqual(['TERM'])
  expect(await observe(executor, handle)).toMatchObject({ state: 'ended', exitCode: 143, stopped: true })
})

test('KILL is sent on time even if the stop request can be neither read nor written', async () => {
  await mkdir(join(directory, 'stops', `${handle}.stop`))
  engine.ignoresTerm = true
  await expect(executor.stop(handle, 100)).rejects.toThrow(/EISDIR/)
  await until(() => engine.signals.includes('KILL'), { what: 'it is killed' })
  expect(engine.signals).toEqual(['TERM', 'KILL'])
})

test('a truncated response leaves the state of the run unchanged', async () => {
  engine.breaksOff = true
  expect(await observe(executor, handle)).toMatchObject({
    state: 'starting',
    info: expect.stringContaining('unreachable'),
  })
  engine.breaksOff = false
  expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
})

test('a container without an order file of this pool is not listed', async () => {
  await rm(join(directory, 'stops', `${handle}.order`))
  expect(await executor.list?.()).toEqual([])
})

test('a stop unpauses a paused container', async () => {
  engine.isPaused = true
  await executor.stop(handle, 600_000)
  expect(await observe(executor, handle)).toMatchObject({ state: 'ended', stopped: true })
})

async function chunksOf(from: unknown): Promise<LogChunk[]> {
  const chunks: LogChunk[] = []
  for await (const chunk of executor.logs(handle, from, new AbortController().signal)) chunks.push(chunk)
  return chunks
}

test('the output has a gap if the container is removed before all output was read', async () => {
  engine.isRemoved = true
  expect(await chunksOf({ bytes: 6 })).toEqual([{ gap: 'LOST', bytes: 0, next: { bytes: 6, lost: true } }])
  engine.isRemoved = false
  await executor.stop(handle, 600_000)
  await untilEnded(executor, handle)
  engine.isRemoved = true
  expect(await chunksOf(null)).toEqual([{ gap: 'LOST', bytes: 0, next: { bytes: 0, lost: true } }])
})

test('the output has a gap if the container is removed before any output was read', async () => {
  engine.isRemoved = true
  expect(await chunksOf(null)).toEqual([{ gap: 'LOST', bytes: 0, next: { bytes: 0, lost: true } }])
})

test('the gap of a removed container is reported once by all servers together', async () => {
  engine.isRemoved = true
  const [gap] = await chunksOf({ bytes: 6 })
  expect(gap).toMatchObject({ gap: 'LOST' })
  expect(await chunksOf(gap?.next)).toEqual([])
})

test('the output ends with the container even if the engine keeps the connection open', async () => {
  await observe(executor, handle)
  const reading = read(executor, handle)
  await executor.stop(handle, 600_000)
  await untilEnded(executor, handle)
  expect((await reading).out).toBe('first\nlast\n')
})

test('a container of another pool with the same name is left untouched, and fails the start', async () => {
  const theirs = { ...inspectedAs('running', 0), Config: { Labels: {} } }
  const asked: string[] = []
  await engine.close()
  const other = await listenAsEngine(directory, (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://engine')
    asked.push(`${request.method} ${pathname.replace('/v1.41', '')}`)
    const answers: Record<string, unknown> = {
      [`GET /containers/${handle}/json`]: theirs,
      'GET /containers/json': [],
      'GET /images/i/json': { Id: 'sha256:0', Config: {} },
      'GET /networks': [{ Id: 'n', Name: 'berth', Created: '2026-01-01T00:00:00Z' }],
      'GET /info': {},
      'GET /version': { Version: '28.2.2' },
    }
    const isTaken = pathname.endsWith('/create') && request.url?.includes(`name=${handle}`)
    if (isTaken) response.statusCode = 409
    response.end(JSON.stringify(isTaken ? {} : (answers[asked.at(-1) ?? ''] ?? {})))
  })
  engine = Object.assign(engine, other)
  expect(await observe(executor, handle)).toMatchObject({ state: 'gone' })
  await expect(executor.start(makeRun({ command: ['true'] }, { runId: 'one' }))).rejects.toMatchObject({
    reason: 'START_FAILED',
    message: expect.stringContaining('belongs to another pool'),
  })
  await executor.forget?.(handle)
  expect(asked.filter((each) => each.startsWith('DELETE') && each.endsWith(handle))).toEqual([])
})
