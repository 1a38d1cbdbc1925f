import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createContainerExecutor } from '../../src/executors/container/container.ts'
import { type Executor, StartFailed } from '../../src/executors/executor.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { machineTime } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { runOf } from './runs.ts'

/** Starts that are given up, over an engine that pulls forever or answers nothing any more. */

let directory: string
let engine: Awaited<ReturnType<typeof startEngine>>
let executor: Executor

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'berth-container-pull-'))
  engine = await startEngine(join(directory, 'engine.sock'))
  executor = await createContainerExecutor({
    engine: `unix://${directory}/engine.sock`,
    directory: join(directory, 'stops'),
    environment: {},
    image: 'slow:1',
    dataRoots: {},
    clock: systemClock,
    time: machineTime,
    log: createLog('silent'),
  })
})
afterEach(async () => {
  await executor.close()
  await engine.close()
  await rm(directory, { recursive: true })
})

/** An engine without images and containers. */
async function startEngine(path: string) {
  const state = { frozen: false, hasImage: false, pulls: new Set<ServerResponse>(), asked: [] as string[] }
  const server = createServer((request, response) => {
    const asked = `${request.method} ${request.url?.replace(/^\/v[\d.]+|\?.*/g, '')}`
    state.asked.push(asked)
    response.setHeader('api-version', '1.41')
    if (state.frozen) return
    if (asked === 'POST /images/create') {
      state.pulls.add(response)
      response.once('close', () => state.pulls.delete(response))
      return void response.write('{"status":"Pulling"}\n')
    }
    const answers: Record<string, unknown> = { 'GET /_ping': 'OK', 'GET /info': {} }
    if (state.hasImage) answers['GET /images/slow:1/json'] = { Id: 'sha256:0', Config: {} }
    if (/^(HEAD|DELETE) .*berth-look/.test(asked)) return void response.end()
    if (asked === 'POST /containers/create' && !request.url?.includes('look')) {
      state.frozen = true
      return
    }
    const answer = asked.startsWith('POST') || asked.includes('/networks/') ? {} : answers[asked]
    response.statusCode = answer === undefined ? 404 : 200
    response.end(JSON.stringify(answer ?? { message: 'No such thing' }))
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

const begin = (unwanted: AbortController) =>
  executor.start(runOf({ command: ['true'] }), unwanted.signal).catch((error: unknown) => error)
const pulls = (count: number) => until(() => engine.pulls.size === count, { what: `${count} pulls` })

describe('a start that is given up', () => {
  it('ends the pull of its image', async () => {
    const unwanted = new AbortController()
    const starting = begin(unwanted)
    await pulls(1)
    unwanted.abort()
    expect(await starting).toBeInstanceOf(StartFailed)
    await pulls(0)
  })

  it('leaves the pull to the other runs that wait for it', async () => {
    const [one, other] = [new AbortController(), new AbortController()]
    const first = begin(one)
    const second = begin(other)
    await pulls(1)
    one.abort()
    expect(await first).toBeInstanceOf(StartFailed)
    expect(engine.pulls.size).toBe(1)
    other.abort()
    expect(await second).toBeInstanceOf(StartFailed)
    await pulls(0)
  })

  it('does not wait for an engine that is frozen', async () => {
    engine.frozen = true
    const unwanted = new AbortController()
    const starting = begin(unwanted)
    await until(() => engine.asked.length > 0, { what: 'the engine is asked' })
    unwanted.abort()
    expect(await starting).toBeInstanceOf(StartFailed)
  })

  it('is not over while a frozen engine may have its container', async () => {
    engine.hasImage = true
    const unwanted = new AbortController()
    let isOver = false
    const starting = begin(unwanted).finally(() => {
      isOver = true
    })
    await until(() => engine.frozen, { what: 'the engine has the order' })
    unwanted.abort()
    await new Promise(setImmediate)
    expect(isOver).toBe(false)
    await engine.close()
    expect(await starting).not.toBeInstanceOf(StartFailed)
    expect(await readdir(join(directory, 'stops'))).toHaveLength(1)
    engine = await startEngine(join(directory, 'engine.sock'))
  })
})

describe('a pull that the engine leaves', () => {
  it('is begun again', async () => {
    const unwanted = new AbortController()
    const starting = begin(unwanted)
    await pulls(1)
    for (const pull of engine.pulls) pull.destroy()
    await until(() => engine.asked.filter((each) => each === 'POST /images/create').length === 2, {
      what: 'a second pull',
    })
    unwanted.abort()
    expect(await starting).toBeInstanceOf(StartFailed)
  })
})
