import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createContainerExecutor } from '../../src/executors/container/container.ts'
import type { Executor } from '../../src/executors/executor.ts'
import { createLog } from '../../src/platform/log.ts'
import { machineTime } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { fastClock } from './cluster-server.ts'
import { observe } from './runs.ts'

/** A container that runs, over a disk that takes nothing and an engine that stops in the middle of an answer. */

let directory: string
let engine: Awaited<ReturnType<typeof startEngine>>
let executor: Executor

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'berth-container-troubles-'))
  engine = await startEngine(join(directory, 'engine.sock'))
  executor = await createContainerExecutor({
    engine: `unix://${directory}/engine.sock`,
    directory: join(directory, 'stops'),
    environment: {},
    image: 'i',
    dataRoots: {},
    clock: fastClock(100),
    time: machineTime,
    log: createLog('silent'),
  })
})
afterEach(async () => {
  await executor.close()
  await engine.close()
  await rm(directory, { recursive: true })
})

const handle = 'berth-one'

async function startEngine(path: string) {
  const state = { signals: [] as string[], breaksOff: false, ignoresTerm: false }
  const runs = () => !state.signals.includes(state.ignoresTerm ? 'KILL' : 'TERM')
  const inspected = () => ({
    Id: 'abc',
    Created: '2026-01-01T00:00:00Z',
    State: {
      Status: runs() ? 'running' : 'exited',
      Pid: 0,
      ExitCode: runs() ? 0 : 143,
      OOMKilled: false,
      Error: '',
      StartedAt: '2026-01-01T00:00:00Z',
      FinishedAt: '2026-01-01T00:00:01Z',
    },
    Config: { Labels: null },
    NetworkSettings: {},
  })
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://engine')
    response.setHeader('api-version', '1.41')
    if (url.pathname.endsWith('/containers/json')) {
      if (state.breaksOff) return void response.write('[')
      return void response.end(JSON.stringify([{ Names: [`/${handle}`], State: inspected().State.Status }]))
    }
    if (url.pathname.endsWith('/kill')) state.signals.push(url.searchParams.get('signal') ?? '')
    if (url.pathname.endsWith('/info')) return void response.end('{"SystemTime":"2026-01-01T00:00:02Z"}')
    response.end(url.pathname.endsWith(`${handle}/json`) ? JSON.stringify(inspected()) : '')
  })
  server.listen(path)
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return Object.assign(state, { close })
}

test('it is stopped though the stop cannot be recorded, and the caller is told to try again', async () => {
  await mkdir(join(directory, 'stops', `one.${process.pid}`))
  await expect(executor.stop(handle, 600_000)).rejects.toThrow(/EISDIR/)
  expect(engine.signals).toEqual(['TERM'])
  expect(await observe(executor, handle)).toMatchObject({ state: 'ended', exitCode: 143, stopped: true })
})

test('it is killed in time though the record of its stop can be neither read nor written', async () => {
  await mkdir(join(directory, 'stops', 'one'))
  engine.ignoresTerm = true
  await expect(executor.stop(handle, 100)).rejects.toThrow(/EISDIR/)
  await until(() => engine.signals.includes('KILL'), { what: 'it is killed' })
  expect(engine.signals).toEqual(['TERM', 'KILL'])
})

test('an answer that stops in its middle is given up, and concludes nothing', async () => {
  engine.breaksOff = true
  expect(await observe(executor, handle)).toMatchObject({
    state: 'starting',
    info: expect.stringContaining('does not answer'),
  })
  engine.breaksOff = false
  expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
})
