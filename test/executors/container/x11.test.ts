import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createContainerExecutor } from '../../../src/executors/container/container.ts'
import { Containers } from '../../../src/executors/container/containers.ts'
import { Engine } from '../../../src/executors/container/engine.ts'
import type { Executor } from '../../../src/executors/executor.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { until } from '../../support/until.ts'
import { clearExecutor, finishRun, machineParts, makeResources, makeRun, read, untilEnded } from '../runs.ts'

/** Real displays, if the environment names an engine and the test image has an X server. */
const address = process.env['BERTH_TEST_ENGINE']
const image = 'localhost/bb:1'
const hasServer = ['Xvfb', 'xkbcomp', 'xdpyinfo'].every((name) => existsSync(`/usr/bin/${name}`))

type Spec = Parameters<typeof makeRun>[0]
const asksForIt = "xdpyinfo | grep -c 'dimensions: *1280x960'"
const small = makeResources({ memoryBytes: 64 * 2 ** 20 })
const sh = (text: string, spec: Spec = {}): Spec => ({
  command: ['/bin/sh', '-c', text],
  resources: small,
  x11: { gpu: false },
  ...spec,
})

describe.skipIf(address === undefined || !hasServer)(`an X11 display with ${address}`, () => {
  let engine: Engine
  let directory: string
  let executor: Executor

  const open = (x11Image: string | null = image) =>
    createContainerExecutor({
      engine: address,
      directory: join(directory, 'stops'),
      environment: {},
      image,
      x11Image: x11Image ?? undefined,
      dataRoots: {},
      ...machineParts,
    })
  beforeAll(async () => {
    engine = new Engine(address ?? '', systemClock)
    directory = await mkdtemp(join(tmpdir(), 'berth-x11-'))
    executor = await open()
  })
  afterAll(async () => {
    await clearExecutor(executor)
    engine.close()
    await rm(directory, { recursive: true })
  })

  const display = (handle: string) => new Containers(engine, '', systemClock).inspect(`${handle}.x11`)
  const volumes = async () => (await engine.get<{ Volumes: unknown[] | null }>('/volumes')).Volumes?.length ?? 0
  const finish = (spec: Spec, run: Parameters<typeof makeRun>[1] = {}) => finishRun(executor, makeRun(spec, run))

  it.each([null, 'IN', 'OUT', 'ALL'] as const)(
    'of 1280×960 is ready when the command begins, with isolation %s',
    async (networkIsolation) => {
      const ended = await finish(sh("xdpyinfo | grep -E 'dimensions|MIT-SHM'; exit 7", { networkIsolation }))
      expect(ended.out).toMatch(/^ *dimensions: +1280x960 pixels .*\n$/)
      expect(ended).toMatchObject({ exitCode: 7, err: '' })
      expect(ended).not.toHaveProperty('info')
    },
  )

  it('is accessible to every account, also without the environment of the image', async () => {
    const spec = sh(`id -u; ${asksForIt}`, { inheritEnvironment: false })
    const { out } = await finish(spec, { unixUser: 'nobody' })
    expect(out).toBe(process.getuid?.() === 0 ? '65534\n1\n' : '0\n1\n')
  })

  it('is reachable only from its job, and not over a network', async () => {
    const owner = await executor.start(makeRun(sh('echo up; sleep 1000')))
    await read(executor, owner, { enough: ({ out }) => out === 'up\n' })
    const [other, without] = await Promise.all([
      finish(sh('ls /tmp/.X11-unix; grep -c X11-unix /proc/net/unix')),
      finish(sh('ls /tmp/.X11-unix 2>&1; echo "$DISPLAY"; DISPLAY=:0 xdpyinfo 2>&1 | head -1', { x11: null })),
    ])
    expect(other.out).toBe('X0\nberth\n0\n')
    expect(without.out).toBe(
      'ls: /tmp/.X11-unix: No such file or directory\n\nxdpyinfo:  unable to open display ":0".\n',
    )
    const found = await display(owner)
    // Docker has a network of this name, Podman none.
    expect(Object.keys(found?.NetworkSettings.Networks ?? {}).filter((name) => name !== 'none')).toEqual([])
    await executor.stop(owner, 0)
  })

  it.each<[string, string, (handle: string) => Promise<void>]>([
    ['ends by itself', 'true', async () => undefined],
    ['is stopped', 'sleep 1000', (handle) => executor.stop(handle, 5_000)],
    [
      'is killed',
      'sleep 1000',
      (handle) => engine.post(`/containers/${handle}/kill`, { signal: 'KILL' }).then(() => undefined),
    ],
    ['is removed', 'sleep 1000', (handle) => engine.delete(`/containers/${handle}`, { force: true })],
  ])('ends with its job without the server when the job %s, and is removed with it', async (_, command, end) => {
    const before = await volumes()
    const handle = await executor.start(makeRun(sh(command)))
    await end(handle)
    await until(async () => (await display(handle))?.State.Status === 'exited', { what: 'the display has ended' })
    expect((await display(handle))?.State.ExitCode).toBe(0)
    await executor.forget?.(handle)
    expect(await display(handle)).toBeNull()
    expect(await volumes()).toBe(before)
  })

  it('that dies does not end its job, and the job reports the loss at its end', async () => {
    const handle = await executor.start(
      // Podman notices the end of a container a moment after its clients do.
      makeRun(sh('echo up; until ! xdpyinfo >/dev/null 2>&1; do sleep 0.1; done; sleep 2; exit 3')),
    )
    await read(executor, handle, { enough: ({ out }) => out === 'up\n' })
    await engine.post(`/containers/${handle}.x11/kill`, { signal: 'KILL' })
    const told = { exitCode: 3, info: 'The X11 display ended before the job: exit code 137' }
    expect(await untilEnded(executor, handle)).toMatchObject(told)
    expect(await untilEnded(executor, handle)).not.toHaveProperty('cause')
  })

  it('is started once for a run that several servers start at the same time', async () => {
    const run = makeRun(sh(asksForIt))
    const handles = await Promise.all([1, 2, 3].map(() => executor.start(run)))
    expect(new Set(handles).size).toBe(1)
    expect((await read(executor, handles[0] ?? '')).out).toBe('1\n')
  })

  it('without its job is used by the next start, or removed by a search for the run', async () => {
    const left = async () => {
      const run = makeRun(sh(asksForIt))
      const unwanted = new AbortController()
      const started = executor.start(run, unwanted.signal, () => unwanted.abort())
      await expect(started).rejects.toThrow(/abort/)
      const handle = `berth-${run.runId}`
      expect((await display(handle))?.State.Status).toBe('running')
      return { run, handle }
    }
    const taken = await left()
    const { Id: id } = (await display(taken.handle)) ?? {}
    expect(await executor.start(taken.run)).toBe(taken.handle)
    expect((await read(executor, taken.handle)).out).toBe('1\n')
    expect((await display(taken.handle))?.Id).toBe(id)
    const found = await left()
    expect(await executor.find(found.run.runId)).toBeNull()
    expect(await display(found.handle)).toBeNull()
  })

  async function demandRefused(x11Image: string | null, failure: object) {
    const other = await open(x11Image)
    const run = makeRun(sh('true'))
    await expect(other.start(run)).rejects.toMatchObject(failure)
    expect(await display(`berth-${run.runId}`)).toBeNull()
    expect((await readdir(join(directory, 'stops'))).filter((name) => name.includes(run.runId))).toEqual([])
    await other.close()
  }

  it('without a configured image fails the start, and leaves no container', () =>
    demandRefused(null, { reason: 'BAD_SPEC', message: expect.stringContaining('container.x11Image') }))

  it('whose image cannot be pulled fails the start, and leaves no container', async () => {
    const registry = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1')
    await once(registry, 'listening')
    const refused = `127.0.0.1:${(registry.address() as AddressInfo).port}/none:1`
    const message = expect.stringMatching(new RegExp(`display.*${refused}`))
    await demandRefused(refused, { reason: 'START_FAILED', message }).finally(() => registry.close())
  })
})
