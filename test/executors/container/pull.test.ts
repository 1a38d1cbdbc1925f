import { readdir, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Executor, StartFailed } from '../../../src/executors/executor.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { fastClock } from '../cluster-server.ts'
import { makeRun } from '../runs.ts'
import { listenAsEngine, openOverEngine } from './fake-engine.ts'

/** Failing starts over an engine that pulls forever or freezes, and the notes of their orders. */

let directory: string
let engine: Awaited<ReturnType<typeof startEngine>>
let executor: Executor

beforeEach(async () => {
  directory = makeDirectory()
  engine = await startEngine()
  executor = await open('stops')
})

const open = (name: string) => openOverEngine(directory, { name, image: 'slow:1', clock: systemClock })

/** An engine without images; it has a container of an earlier run. */
async function startEngine() {
  const state = {
    frozen: false,
    hasImage: false,
    /** Responds to a request to create a container. */
    create(_response: ServerResponse): void {
      state.frozen = true
    },
    networks: ['berth', 'berth-in'],
    containers: [{ Names: ['/berth-earlier'], State: 'running' }],
    /** Bodies of requests for containers that inspect images. */
    looks: [] as { Labels?: object }[],
    /** true: another program removed the containers that inspect images. */
    looksAreRemoved: false,
    pulls: new Set<ServerResponse>(),
    asked: [] as string[],
    /** Credentials of pull requests. */
    auths: [] as unknown[],
  }
  async function look(request: IncomingMessage, response: ServerResponse) {
    const isOrder = request.method === 'POST'
    if (isOrder) state.looks.push(JSON.parse(await text(request)))
    response.writeHead(state.looksAreRemoved && !isOrder ? 404 : 200).end('{}')
  }
  const server = await listenAsEngine(directory, (request, response) => {
    const asked = `${request.method} ${request.url?.replace(/^\/v[\d.]+|\?.*/g, '')}`
    state.asked.push(asked)
    if (state.frozen) return
    if (asked === 'POST /images/create') {
      state.auths.push(request.headers['x-registry-auth'] ?? null)
      state.pulls.add(response)
      response.once('close', () => state.pulls.delete(response))
      return void response.write('{"status":"Pulling"}\n')
    }
    if (asked === 'POST /networks/create') return void response.writeHead(404).end('{"message":"no address pool"}')
    const networks = state.networks.map((Name) => ({ Id: Name, Name, Created: '2026-01-01T00:00:00Z' }))
    const answers: Record<string, unknown> = {
      'GET /_ping': 'OK',
      'GET /info': {},
      'GET /version': { Version: '20' },
      'GET /containers/json': state.containers,
      'GET /networks': networks,
    }
    if (state.hasImage) answers['GET /images/slow:1/json'] = { Id: 'sha256:0', Config: {} }
    if (request.url?.includes('berth-look')) return void look(request, response)
    if (asked === 'POST /containers/create') return state.create(response)
    const answer = asked.startsWith('POST') ? {} : answers[asked]
    response.statusCode = answer === undefined ? 404 : 200
    response.end(JSON.stringify(answer ?? { message: 'No such thing' }))
  })
  return Object.assign(state, server)
}

it('with pull: ALWAYS an image is pulled even if it is present', async () => {
  engine.hasImage = true
  const unwanted = new AbortController()
  const run = makeRun({ command: ['true'], pull: 'ALWAYS' })
  const started = executor.start(run, unwanted.signal).catch((error: unknown) => error)
  await pulls(1)
  unwanted.abort()
  await started
})

it('a pull uses the credentials of the registry of its image', async () => {
  const registryAuth = join(directory, 'config.json')
  const withAuths = await openOverEngine(directory, {
    name: 'auths',
    image: 'slow:1',
    clock: systemClock,
    registryAuth,
  })
  const pull = async (image: string) => {
    const before = engine.auths.length
    const unwanted = new AbortController()
    const started = withAuths
      .start(makeRun({ command: ['true'], image }), unwanted.signal)
      .catch((error: unknown) => error)
    const asked = until(() => engine.auths.length > before, { what: 'the pull' })
    const failure = await Promise.race([asked.then(() => null), started])
    unwanted.abort()
    await started
    const sent = engine.auths[before]
    return failure ?? (sent === null ? null : JSON.parse(Buffer.from(String(sent), 'base64url').toString()))
  }
  expect(await pull('slow:1')).toMatchObject({
    message: expect.stringContaining('config.json cannot be read (ENOENT)'),
  })
  const auth = Buffer.from('ann:pass:word').toString('base64')
  const auths = { 'https://index.docker.io/v1/': { auth }, '192.0.2.1:5000': { identitytoken: 'token' } }
  await writeFile(registryAuth, JSON.stringify({ auths }))
  const server = 'https://index.docker.io/v1/'
  expect(await pull('slow:1')).toEqual({ username: 'ann', password: 'pass:word', serveraddress: server })
  expect(await pull('192.0.2.1:5000/a:1')).toMatchObject({ identitytoken: 'token', serveraddress: '192.0.2.1:5000' })
  expect(await pull('192.0.2.1/a:1')).toBeNull()
  await withAuths.close()
})

const begin = (unwanted: AbortController, tell?: (info: string) => void) =>
  executor.start(makeRun({ command: ['true'] }), unwanted.signal, tell).catch((error: unknown) => error)
const pulls = (count: number) => until(() => engine.pulls.size === count, { what: `${count} pulls` })

const ordersIn = async (name: string) =>
  (await readdir(join(directory, name))).filter((file) => file.endsWith('.order'))

it('a job waits while the engine has no addresses for its network', async () => {
  Object.assign(engine, { hasImage: true, networks: [] })
  await expect(executor.start(makeRun({ command: ['true'] }))).rejects.toMatchObject({
    reason: 'NODE_TROUBLE',
    message: 'The container engine cannot make the network berth: no address pool',
  })
})

describe('the name of an image', () => {
  it.each(['get?names=slow:1&x=', '../events?x=', 'a/../b', 'x#y', '.', ''])(
    'is refused if it would change the request to the engine: %s',
    async (image) => {
      const error = await executor.start(makeRun({ command: ['true'], image })).catch((cause: unknown) => cause)
      expect(error).toMatchObject({ name: 'StartFailed', reason: 'BAD_SPEC' })
      expect(engine.asked.filter((asked) => asked.includes('images'))).toEqual([])
    },
  )
})

describe('a registry', () => {
  const answerPulls = (error: string) => {
    for (const response of engine.pulls) response.end(`${JSON.stringify({ error })}\n`)
  }
  const unreachable = 'Get "https://r.test/v2/": dial tcp 192.0.2.1:443: connect: connection refused'

  it('is retried with growing pauses while it is unreachable, and all waiting runs report that', async () => {
    await executor.close()
    executor = await openOverEngine(directory, { image: 'slow:1', clock: fastClock(100) })
    const told: string[] = []
    const unwanted = new AbortController()
    const runs = [begin(unwanted, (info) => told.push(info)), begin(unwanted, (info) => told.push(info))]
    for (const seconds of [1, 2, 4]) {
      await pulls(1)
      answerPulls(unreachable)
      const message = `The image slow:1 cannot be pulled: ${unreachable}; the next try is in ${seconds} s`
      await until(() => told.filter((info) => info === message).length === 2, { what: 'both say why' })
    }
    await pulls(1)
    answerPulls('manifest for slow:1 not found: manifest unknown')
    const message = 'The image slow:1 cannot be pulled: manifest for slow:1 not found: manifest unknown'
    for (const run of runs) expect(await run).toMatchObject({ reason: 'START_FAILED', message })
    expect(engine.asked.filter((asked) => asked === 'POST /images/create')).toHaveLength(4)
  })

  it('fails the start if it stays unreachable', async () => {
    await executor.close()
    executor = await openOverEngine(directory, { image: 'slow:1', clock: fastClock(100) })
    const starting = begin(new AbortController())
    const answering = setInterval(() => answerPulls(unreachable), 1)
    const failure = await starting.finally(() => clearInterval(answering))
    expect(failure).toMatchObject({ reason: 'START_FAILED', message: expect.stringContaining(unreachable) })
  })

  it.each(['denied', 'an image of 429 timeouts was not found', 'no basic auth credentials'])(
    'fails the start at once if it responds with "%s"',
    async (error) => {
      const starting = begin(new AbortController())
      await pulls(1)
      answerPulls(error)
      expect(await starting).toMatchObject({ reason: 'START_FAILED', message: expect.stringContaining(error) })
    },
  )

  it.each([
    '127.0.0.1:9/x',
    'localhost:9/x:1',
    'localhost/x',
    'a.localhost/x',
    '169.254.169.254/x',
    '0.0.0.0:9/x',
    '127.1:9/x',
  ])('on this machine is refused: %s', async (image) => {
    const error = await executor.start(makeRun({ command: ['true'], image })).catch((cause: unknown) => cause)
    expect(error).toMatchObject({ reason: 'START_FAILED', message: expect.stringContaining('container.registries') })
    expect(engine.asked).not.toContain('POST /images/create')
  })

  it('on this machine is used if the configuration names the registry or the image', async () => {
    for (const options of [{ image: 'slow:1', registries: ['127.0.0.1:9'] }, { image: '127.0.0.1:9/x' }]) {
      await executor.close()
      executor = await openOverEngine(directory, { ...options, clock: systemClock })
      const unwanted = new AbortController()
      const starting = executor.start(makeRun({ command: ['true'], image: '127.0.0.1:9/x' }), unwanted.signal)
      await pulls(1)
      unwanted.abort()
      await expect(starting).rejects.toBeInstanceOf(StartFailed)
      await pulls(0)
    }
  })
})

it('a pull reports every few seconds how many bytes have arrived', async () => {
  const unwanted = new AbortController()
  const told: string[] = []
  const starting = begin(unwanted, (info) => told.push(info))
  await pulls(1)
  for (const current of [3.1e9, 5e9])
    for (const response of engine.pulls)
      response.write(`{"id":"a","status":"Downloading","progressDetail":{"current":${current},"total":8.4e9}}\n`)
  await until(() => told.length === 2, { what: 'the bytes are known' })
  expect(told).toEqual(['Pulling the image slow:1', 'Pulling the image slow:1 (3.1 of 8.4 GB)'])
  unwanted.abort()
  await starting
})

describe('an aborted start', () => {
  it('ends the pull of its image', async () => {
    const unwanted = new AbortController()
    const told: string[] = []
    const starting = begin(unwanted, (info) => told.push(info))
    await pulls(1)
    expect(told).toEqual(['Pulling the image slow:1'])
    unwanted.abort()
    expect(await starting).toBeInstanceOf(StartFailed)
    await pulls(0)
  })

  it('leaves the pull to the other runs that wait for the image', async () => {
    const [one, other] = [new AbortController(), new AbortController()]
    const told: string[] = []
    const first = begin(one, (info) => told.push(info))
    const second = begin(other, (info) => told.push(info))
    await pulls(1)
    await until(() => told.length === 2, { what: 'both wait for it' })
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

  it('continues while a frozen engine may have created its container', async () => {
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
    expect(await ordersIn('stops')).toHaveLength(1)
    engine = await startEngine()
  })
})

describe('a pull interrupted by the engine', () => {
  it('is retried', async () => {
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

describe('a start that cannot write its files', () => {
  const refused = (spec: Parameters<typeof makeRun>[0], closure: string | null = null) =>
    executor.start(makeRun({ command: ['true'], ...spec }, { closure })).catch((error: unknown) => error)

  beforeEach(async () => {
    engine.hasImage = true
    await rm(join(directory, 'stops'), { recursive: true })
    await writeFile(join(directory, 'stops'), 'a file')
  })

  it('fails with NODE_TROUBLE', async () => {
    expect(await refused({})).toMatchObject({ name: 'StartFailed', reason: 'NODE_TROUBLE' })
    expect(await refused({}, '{}')).toMatchObject({ name: 'StartFailed', reason: 'NODE_TROUBLE' })
  })

  it('still reports an invalid spec', async () => {
    expect(await refused({ data: ['none/x:/d'] })).toMatchObject({ reason: 'BAD_SPEC' })
  })
})

describe('a start that fails', () => {
  const run = makeRun({ command: ['true'] }, { closure: '{}' })

  const refuse = (response: ServerResponse) => void response.writeHead(500).end('{"message":"no space"}')

  it('leaves no files of its run', async () => {
    Object.assign(engine, { hasImage: true, create: refuse })
    await expect(executor.start(run)).rejects.toThrow('no space')
    expect(await readdir(join(directory, 'stops'))).toEqual([])
  })

  it('has the reason START_FAILED if its image or container was just removed by others', async () => {
    Object.assign(engine, { hasImage: true, create: (response: ServerResponse) => void response.writeHead(404).end() })
    await expect(executor.start(run)).rejects.toMatchObject({ reason: 'START_FAILED' })
  })

  it('leaves no files of its run after it was aborted', async () => {
    const unwanted = new AbortController()
    const create = (response: ServerResponse) => {
      unwanted.abort()
      refuse(response)
    }
    Object.assign(engine, { hasImage: true, create })
    await expect(executor.start(run, unwanted.signal)).rejects.toThrow()
    await until(async () => (await readdir(join(directory, 'stops'))).length === 0, { what: 'its order is forgotten' })
    expect(await executor.find(run.runId)).toBeNull()
  })
})

describe('a helper container that inspects an image', () => {
  it('is removed by the next server if the server that created it died', async () => {
    Object.assign(engine, { hasImage: true })
    Object.assign(engine, { create: (response: ServerResponse) => void response.writeHead(500).end() })
    await begin(new AbortController())
    expect(engine.looks).toMatchObject([{ Labels: { 'berth.owner': join(directory, 'stops') } }])
    engine.containers = [{ Names: ['/berth-look-1'], State: 'created' }]
    const left = (await executor.list?.()) ?? []
    expect(left.map(({ handle }) => handle)).toEqual(['berth-look-1'])
    expect(await executor.inspect(['berth-look-1'])).toMatchObject([{ state: 'gone' }])
    await executor.forget?.('berth-look-1')
    expect(engine.asked.at(-1)).toBe('DELETE /containers/berth-look-1')
  })

  it('is created again if it was pruned', async () => {
    Object.assign(engine, { hasImage: true, looksAreRemoved: true })
    const told: string[] = []
    const unwanted = new AbortController()
    const starting = begin(unwanted, (info) => {
      told.push(info)
      engine.looksAreRemoved = false
    })
    await until(() => engine.frozen, { what: 'it is ordered' })
    expect(told).toEqual(['The container engine is unreachable'])
    expect(engine.looks).toHaveLength(2)
    await engine.close()
    unwanted.abort()
    await starting
    engine = await startEngine()
  })
})

describe('an unreachable engine', () => {
  it('has no container of a run for which no order was recorded', async () => {
    await engine.close()
    expect(await executor.find('one')).toBeNull()
    engine = await startEngine()
  })
})
