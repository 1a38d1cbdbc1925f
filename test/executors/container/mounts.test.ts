import { chmod, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createContainerExecutor } from '../../../src/executors/container/container.ts'
import { Engine } from '../../../src/executors/container/engine.ts'
import type { Executor } from '../../../src/executors/executor.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { until } from '../../support/until.ts'
import { clearExecutor, machineParts, makeResources, makeRun, observe, read } from '../runs.ts'
import { makeOpener } from '../snapshot-files.ts'

/**
 * Data mounts of a real engine while a folder is replaced: `npm run test:executors` starts engines. Otherwise this file
 * is skipped. The executor uses the engine through a proxy, which lets a test act right before a start.
 */
const address = process.env['BERTH_TEST_ENGINE'] ?? ''
const small = makeResources({ memoryBytes: 64 * 2 ** 20 })

type Spec = Parameters<typeof makeRun>[0]

describe.skipIf(address === '')(`data mounts with ${address}`, () => {
  let directory: string
  /** The data root, and a folder that no job may see. */
  let root: string
  let outside: string
  let executor: Executor
  let engine: Engine
  let beforeStart: () => Promise<void> = async () => undefined
  const socketOfEngine = address.replace('unix://', '')
  const proxy = createServer(async (asked, answer) => {
    if (asked.url?.endsWith('/start')) await beforeStart()
    const { method, url: path, headers } = asked
    const forwarded = request({ socketPath: socketOfEngine, method, path, headers, agent: false }, (response) => {
      answer.writeHead(response.statusCode ?? 0, response.headers)
      response.pipe(answer)
    })
    forwarded.on('error', () => answer.destroy())
    answer.on('close', () => forwarded.destroy())
    asked.pipe(forwarded)
  })

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'berth-mounts-'))
    await chmod(directory, 0o755)
    root = join(directory, 'root')
    outside = join(directory, 'outside')
    for (const folder of [root, outside, join(root, 'x')]) await mkdir(folder)
    await writeFile(join(outside, 'secret'), 'secret')
    await writeFile(join(root, 'x', 'own'), 'own')
    await symlink(outside, join(root, 'link'))
    await new Promise<void>((resolve) => proxy.listen(join(directory, 'proxy.sock'), resolve))
    engine = new Engine(address, systemClock)
    executor = await createContainerExecutor({
      engine: `unix://${join(directory, 'proxy.sock')}`,
      directory: join(directory, 'stops'),
      environment: {},
      image: 'localhost/bb:1',
      dataRoots: { data: root },
      ...machineParts,
    })
  })
  afterAll(async () => {
    await clearExecutor(executor)
    engine.close()
    proxy.closeAllConnections()
    proxy.close()
    await rm(directory, { recursive: true })
  })

  const start = (spec: Spec, run: Parameters<typeof makeRun>[1] = {}) =>
    executor.start(makeRun({ command: ['/bin/ls', '/d'], resources: small, ...spec }, run))
  /** The last observation of the run, and its output. */
  async function finish(spec: Spec, run: Parameters<typeof makeRun>[1] = {}) {
    const handle = await start(spec, run)
    const what = 'the run is over'
    const isOver = async () => {
      const seen = await observe(executor, handle)
      return (seen.state === 'ended' || seen.state === 'failed') && seen
    }
    const end = await until(isOver, { what })
    const { out } = await read(executor, handle)
    await executor.forget?.(handle)
    return { end, out }
  }
  const replaced = {
    state: 'failed',
    reason: 'START_FAILED',
    message: 'data: a folder was replaced during the start, or a target is a symbolic link in the image',
  }
  /** Makes an image from a container with these files. Returns its name. */
  async function makeImage(prepare: string, changes: string): Promise<string> {
    const handle = await start({ command: ['/bin/sh', '-c', prepare] })
    await until(async () => (await observe(executor, handle)).state === 'ended', { what: 'the files are made' })
    const name = `localhost/berth-mounts-${handle}`.toLowerCase()
    await engine.post('/commit', { container: handle, repo: name, tag: '1', changes }, {})
    await executor.forget?.(handle)
    return `${name}:1`
  }

  it('follow no link that replaces the folder immediately before the start', async () => {
    beforeStart = async () => {
      beforeStart = async () => undefined
      await rename(join(root, 'x'), join(root, 'away'))
      await rename(join(root, 'link'), join(root, 'x'))
    }
    const { end, out } = await finish({ data: ['data/x:/d'] })
    await rename(join(root, 'x'), join(root, 'link'))
    await rename(join(root, 'away'), join(root, 'x'))
    expect(end).toEqual(replaced)
    expect(out).toBe('')
    expect(await finish({ data: ['data/x:/d'] })).toMatchObject({ end: { state: 'ended', exitCode: 0 }, out: 'own\n' })
  })

  it('give out no output files through a link that the job created', async () => {
    await mkdir(join(root, 'y', 'private'), { recursive: true })
    await writeFile(join(root, 'y', 'private', 'secret'), 'secret', { mode: 0o600 })
    const openSnapshot = makeOpener({ 'sub/private/f': { text: 'x' } })
    async function collect(script: string): Promise<string[]> {
      const command = ['/bin/sh', '-c', script]
      const spec = { workdir: 'sub/private', data: ['data/y:/d'], command, outputs: ['*'] }
      const handle = await start(spec, { openSnapshot })
      await until(async () => (await observe(executor, handle)).state === 'ended', { what: 'the run is over' })
      const read: string[] = []
      for await (const one of executor.outputs?.(handle, () => true, new AbortController().signal) ?? [])
        read.push('unread' in one ? one.unread : one.path)
      await executor.forget?.(handle)
      return read
    }
    expect(await collect('cd /; rm -r /berth-work/sub; ln -s /d /berth-work/sub')).toEqual([
      expect.stringContaining('/berth-work/sub is a symbolic link'),
    ])
    expect(await collect('true')).toEqual(['f'])
  })

  it('follow no link of the image to print the message of a refusal', async () => {
    const image = await makeImage('ln -s /d/written /.berth-note', 'LABEL a=b')
    beforeStart = async () => {
      beforeStart = async () => undefined
      await rename(join(root, 'x'), join(root, 'away'))
      await rename(join(root, 'link'), join(root, 'x'))
    }
    const { end } = await finish({ image, data: ['data/x:/d'] })
    await rename(join(root, 'x'), join(root, 'link'))
    await rename(join(root, 'away'), join(root, 'x'))
    await engine.delete(`/images/${image}`)
    expect(end).toEqual(replaced)
    expect(await readdir(outside)).toEqual(['secret'])
  })

  it('follow no link of the image to read a closure', async () => {
    const image = await makeImage('ln -s /d/written /.berth-closure.json', 'LABEL a=b')
    const command = ['/bin/sh', '-c', 'cat "$BERTH_CLOSURE"; ls /d']
    const { out } = await finish({ image, command, data: ['data/x:/d'] }, { closure: '{"step":3}' })
    await engine.delete(`/images/${image}`)
    expect(out).toBe('{"step":3}own\n')
  })

  it('never show a folder outside the roots while a job replaces the folder, in 60 tries', {
    timeout: 600_000,
  }, async () => {
    const loop = `cd /root && echo begun && until [ -e stop ]; do
      mv -T x r0; mv -T link x; usleep 150000; mv -T x link; mv -T r0 x; usleep 150000
    done`
    const attacker = await start({ command: ['/bin/sh', '-c', loop], data: ['data:/root'] })
    await read(executor, attacker, { enough: ({ out }) => out === 'begun\n' })
    const tries = Array.from({ length: 4 }, async () => {
      const outputs: string[] = []
      while (outputs.length < 15) outputs.push(await finish({ data: ['data/x:/d'] }).then(({ out }) => out, String))
      return outputs
    })
    const outputs = (await Promise.all(tries)).flat()
    await writeFile(join(root, 'stop'), '')
    await until(async () => (await observe(executor, attacker)).state === 'ended', { what: 'the attack is over' })
    expect(outputs).toContain('own\n')
    expect(outputs.join('')).not.toContain('secret')
  })

  it('are not reached through a link of the image', async () => {
    const image = await makeImage('ln -s /e /d', 'LABEL a=b')
    const { end, out } = await finish({ image, data: ['data/x:/d'], command: ['/bin/ls', '/e'] })
    await engine.delete(`/images/${image}`)
    expect(end).toEqual(replaced)
    expect(out).toBe('')
  })

  it('may not contain the folder of a volume of the image', async () => {
    const image = await makeImage('true', 'VOLUME /d/made')
    const error = await start({ image, data: ['data/x:/d'] }).catch((cause: unknown) => cause)
    await engine.delete(`/images/${image}`)
    expect(error).toMatchObject({ reason: 'BAD_SPEC', message: expect.stringContaining('/d/made is mounted too') })
    expect(await readdir(join(root, 'x'))).toEqual(['own'])
  })

  it('may not contain the working directory of the image', async () => {
    const image = await makeImage('true', 'WORKDIR /d/made')
    const { end } = await finish({ image, data: ['data/x:/d'] })
    await engine.delete(`/images/${image}`)
    expect(end).toMatchObject({ state: 'failed', reason: 'WORKDIR_NOT_FOUND' })
    expect(await readdir(join(root, 'x'))).toEqual(['own'])
  })

  it('may contain the working directory of the job, which must exist', async () => {
    const command = ['/bin/sh', '-c', 'pwd; ls']
    expect(await finish({ command, data: ['data:/d'], workdir: '/d/x' })).toMatchObject({ out: '/d/x\nown\n' })
    const { end } = await finish({ data: ['data:/d'], workdir: '/d/none' })
    expect(end).toMatchObject({ state: 'failed', reason: 'WORKDIR_NOT_FOUND' })
  })

  it('are checked in an image without a shell, and for an account that is not root', async () => {
    const spec = { data: ['data/x:/d'], command: ['busybox', 'ls', '/d'] }
    const image = await makeImage('cp -L /bin/busybox /usr/bin/; rm /bin/sh', 'LABEL a=b')
    const ends = [await finish({ ...spec, image }), await finish(spec, { unixUser: 'nobody' })]
    await engine.delete(`/images/${image}`)
    for (const each of ends) expect(each).toMatchObject({ end: { exitCode: 0 }, out: 'own\n' })
  })

  it('do not change an exit code 125 of the command', async () => {
    const { end } = await finish({ command: ['/bin/sh', '-c', 'exit 125'], data: ['data/x:/d'] })
    expect(end).toMatchObject({ state: 'ended', exitCode: 125 })
  })
})
