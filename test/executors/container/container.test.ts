import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createContainerExecutor } from '../../../src/executors/container/container.ts'
import { Engine, isPodman } from '../../../src/executors/container/engine.ts'
import { hasNames } from '../../../src/executors/container/network.ts'
import { type Executor, SessionRefused, type SnapshotTarget } from '../../../src/executors/executor.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { startFreezingProxy } from '../../support/proxy.ts'
import { until } from '../../support/until.ts'
import { contract, makeCommand, startsAt } from '../contract.ts'
import {
  clearExecutor,
  finishRun,
  machineParts,
  makeResources,
  makeRun,
  observe,
  read,
  untilEnded,
  untilState,
} from '../runs.ts'
import { makeOpener } from '../snapshot-files.ts'

/**
 * Real containers, if the environment names an engine that has the image `localhost/bb:1` (busybox): `npm run
 * test:executors` starts some. Otherwise this file is skipped, and prints that.
 */
const engine = process.env['BERTH_TEST_ENGINE']
const image = 'localhost/bb:1'
if (engine === undefined)
  process.stderr.write('SKIPPED: the executor container; "npm run test:executors" runs it with real engines\n')

const asked = () => new Engine(engine ?? '', systemClock)

const open = (directory: string, through = engine) =>
  createContainerExecutor({
    engine: through,
    directory: join(directory, 'stops'),
    environment: { PASSED: 'yes', SECRET: 'no' },
    inheritNames: ['PASSED'],
    deadlineSlackSeconds: 0,
    image,
    dataRoots: { data: directory },
    ...machineParts,
  })

async function clear(directory: string): Promise<void> {
  const executor = await open(directory)
  await clearExecutor(executor)
}

const small = makeResources({ memoryBytes: 64 * 2 ** 20 })

describe.skipIf(engine === undefined)(`with ${engine},`, () => {
  contract('container', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'berth-container-'))
    const proxy = await startFreezingProxy(new URL(engine ?? '').pathname, join(directory, 'engine.sock'))
    return {
      open: () => open(directory, `unix://${join(directory, 'engine.sock')}`),
      freeze: proxy.freeze,
      run(behaviour) {
        const run = makeRun({ data: ['data:/marks'], resources: small })
        return { ...run, spec: { ...run.spec, command: makeCommand(behaviour, `/marks/${run.runId}`) } }
      },
      starts: ({ runId }) => startsAt(join(directory, runId)),
      async remove() {
        await clear(directory)
        proxy.close()
      },
    }
  })

  describe('a container', () => {
    let directory: string
    let executor: Executor

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'berth-container-'))
      executor = await open(directory)
    })
    afterAll(async () => {
      await executor.close()
      await clear(directory)
    })

    type Spec = Parameters<typeof makeRun>[0]
    const start = (spec: Spec, run: Parameters<typeof makeRun>[1] = {}) =>
      executor.start(makeRun({ resources: small, ...spec }, run))
    const finish = (spec: Spec, run: Parameters<typeof makeRun>[1] = {}) =>
      finishRun(executor, makeRun({ resources: small, ...spec }, run))
    const sh = (text: string, spec: Spec = {}): Spec => ({ command: ['/bin/sh', '-c', text], ...spec })
    const refused = (spec: Spec) => start(spec).catch((error: unknown) => error)

    it('reaches its own ports, but no port on which only the machine listens', async () => {
      const handle = await start(sh('while :; do echo hello | nc -l -p 8080; done'))
      await untilState(executor, handle, 'running')
      const fetch = async () => {
        const socket = await executor.connect?.(handle, 8080).catch(() => null)
        return socket ? text(socket) : ''
      }
      await until(async () => (await fetch()) === 'hello\n', { what: 'the job listens' })
      const mine = createServer().listen(0)
      await once(mine, 'listening')
      const { port } = mine.address() as AddressInfo
      await expect(executor.connect?.(handle, port)).rejects.toThrow(SessionRefused)
      mine.close()
      await executor.stop(handle, 0)
    })

    it('without a network has no ports', async () => {
      const handle = await start(sh('exec sleep 600', { networkIsolation: 'ALL' }))
      await untilState(executor, handle, 'running')
      await expect(executor.connect?.(handle, 80)).rejects.toThrow('no address of its own')
      await executor.stop(handle, 0)
    })

    it('has the environment of the image, of the configuration, of the job and of Berth', async () => {
      const environment = [{ name: 'BOTH', value: `\${PASSED}/\${BERTH_RUN}` }]
      const { out } = await finish(sh('echo $PATH; echo $PASSED $SECRET; echo $BOTH', { environment }), {
        injected: { BERTH_RUN: '1' },
      })
      expect(out).toBe('/usr/sbin:/usr/bin:/sbin:/bin\nyes\nyes/1\n')
    })

    it('that inherits no environment has no variables of the image', async () => {
      const { out } = await finish({ command: ['/bin/env'], inheritEnvironment: false })
      expect(out).not.toMatch(/^PASSED=/m)
      expect(out).not.toContain('PATH=/usr/sbin:/usr/bin:/sbin:/bin')
    })

    it.each([
      ['a missing command', { command: ['no-such-command'] }, 127],
      ['a file that cannot be executed', { command: ['/etc/passwd'] }, 126],
      ['TERM to itself', { command: ['/bin/sh', '-c', 'kill -TERM $$'] }, 143],
      ['KILL to itself', { command: ['/bin/sh', '-c', 'kill -KILL $$'] }, 137],
    ])('that runs %s ends with exit code %s', async (_, spec, exitCode) => {
      expect(await finish(spec)).toMatchObject({ exitCode, stopped: false })
    })

    it('above its memory limit is OOM_KILLED, if the engine reports it', async () => {
      const { exitCode, cause } = await finish(sh('x=a; while :; do x=$x$x; done'))
      const isBlind = (await isPodman(asked())) && !existsSync('/sys/fs/cgroup/cgroup.controllers')
      expect([exitCode, cause]).toEqual([137, isBlind ? undefined : 'OOM_KILLED'])
    })

    it('has shared memory of the size of the memory of its job', async () => {
      const resources = makeResources({ memoryBytes: 256 * 2 ** 20 })
      const { out } = await finish(sh('df -m /dev/shm | tail -n 1', { resources }))
      expect(out.split(/\s+/)[1]).toBe('256')
    })

    it('ends after its maximum run time even without a server', async () => {
      const spec = sh("trap '' TERM; while :; do sleep 1; done", { maxRunTimeSeconds: 1 })
      expect(await finish(spec)).toMatchObject({ exitCode: 137, stopped: false, cause: 'MAX_RUN_TIME' })
    })

    it('leaves no child process when it is stopped', async () => {
      const handle = await start(sh('setsid sleep 4242 & setsid sleep 4243 & echo up; wait'))
      await read(executor, handle, { enough: ({ out }) => out === 'up\n' })
      await executor.stop(handle, 5_000)
      expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 143, stopped: true })
    })

    it('logs every byte of its output, including long lines and binary bytes', async () => {
      const long = (size: number, end = '\n') => Buffer.from(`${'y'.repeat(size)}${end}`)
      const printed = Buffer.concat([
        Buffer.from(`x${'é漢😀'.repeat(40_000)}\n\r\n\n\0`),
        randomBytes(300_000),
        ...[16_383, 16_385, 16_384, 3, 40_000].map((size) => long(size)),
        long(5),
        long(10, ''),
      ])
      await writeFile(join(directory, 'printed'), printed)
      const { out } = await finish(sh('cat /d/printed', { data: ['data:/d'] }))
      expect(Buffer.from(out, 'latin1').equals(printed)).toBe(true)
    })

    it('mounts data, and writes copies of its output to files', async () => {
      await mkdir(join(directory, 'sub'))
      await writeFile(join(directory, 'sub', 'in'), 'from the machine\n')
      const spec = { data: ['data/sub:/d'], stdinPath: '/d/in', stdoutPath: 'out', workdir: '/d' }
      expect((await finish(sh('cat; echo done', spec))).out).toBe('from the machine\ndone\n')
      expect(await readFile(join(directory, 'sub', 'out'), 'utf8')).toBe('from the machine\ndone\n')
    })

    it('mounts no path and follows no link to a folder outside the roots', async () => {
      await symlink('/etc', join(directory, 'link'))
      for (const data of ['/etc:/d', 'data/../..:/d', 'data/link:/d', 'other:/d', 'data/none:/d'])
        expect(await refused(sh('true', { data: [data] }))).toMatchObject({ name: 'StartFailed', reason: 'BAD_SPEC' })
    })

    it('runs preLaunch, postLaunch and several ranks', async () => {
      await writeFile(join(directory, 'pre'), 'GREETING=hello\n')
      await writeFile(join(directory, 'post'), 'echo bye\n')
      const { out, exitCode } = await finish(
        sh('echo $GREETING $BERTH_RANK of $BERTH_RANKS', {
          data: ['data:/d'],
          preLaunch: '/d/pre',
          postLaunch: '/d/post',
          launcher: 'multiple',
          resources: { ...small, processCount: 2 },
        }),
      )
      expect(out.split('\n').toSorted()).toEqual(['', 'bye', 'hello 0 of 2', 'hello 1 of 2'])
      expect(exitCode).toBe(0)
    })

    it('does not run if its working directory is missing or is a file', async () => {
      for (const workdir of ['/nowhere', '/etc/passwd', '/bin/sh'])
        expect(await refused(sh('true', { workdir }))).toMatchObject({ reason: 'WORKDIR_NOT_FOUND' })
      expect(await finish(sh('pwd', { workdir: '/tmp/' }))).toMatchObject({ out: '/tmp\n' })
    })

    it('that requests more processors than the machine has gets all of them', async () => {
      expect(await finish(sh('true', { resources: { ...small, cpu: 1_000 } }))).toMatchObject({ exitCode: 0 })
    })

    it.skipIf(existsSync('/dev/nvidiactl'))('that the engine cannot start does not run', async () => {
      const gpu = await start(sh('true'), { gpuIds: [0] }).catch((error: unknown) => error)
      expect(gpu).toMatchObject({ name: 'StartFailed', message: expect.stringMatching(/gpu|device/i) })
    })

    it('whose image cannot be pulled does not run', async () => {
      expect(await refused(sh('true', { image: 'localhost/none:1' }))).toMatchObject({ reason: 'START_FAILED' })
    })

    it('is reached by its internal name unless it is isolated; an engine without DNS refuses the name', async () => {
      const internalDns = { name: 'dns-users-a-web', ports: [{ port: 80, targetPort: 80, protocol: 'TCP' as const }] }
      if (!(await hasNames(asked())))
        return expect(await refused(sh('true', { internalDns }))).toMatchObject({ reason: 'BAD_SPEC' })
      const serve = sh('echo up; while :; do echo it works | nc -l -p 80; done', { internalDns })
      const handle = await start(serve)
      await read(executor, handle, { enough: ({ out }) => out === 'up\n' })
      // A static busybox cannot look up a name by itself.
      const ask = [
        "ip=$(nslookup dns-users-a-web 127.0.0.11 | awk '/^Address/ { ip = $2 } END { print ip }')",
        'nc -w 2 "$ip" 80',
      ].join('\n')
      expect((await finish(sh(ask))).out).toBe('it works\n')
      for (const networkIsolation of ['IN', 'OUT', 'ALL'] as const)
        expect(await finish(sh(ask, { networkIsolation }))).toMatchObject({ out: '' })
      await executor.stop(handle, 0)
    })

    it('is stopped while it is paused', async () => {
      const engine = asked()
      const handle = await start(sh('echo begun; sleep 600'))
      await read(executor, handle, { enough: ({ out }) => out === 'begun\n' })
      await untilState(executor, handle, 'running')
      await engine.post(`/containers/${handle}/pause`)
      expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
      await executor.stop(handle, 60_000)
      expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 143, stopped: true })
      engine.close()
    })

    it('that another program stops ends with the exit code of its command', async () => {
      const engine = asked()
      const handle = await start(sh('trap "exit 5" TERM; echo begun; while :; do sleep 0.1; done'))
      await read(executor, handle, { enough: ({ out }) => out === 'begun\n' })
      await engine.post(`/containers/${handle}/stop`, { t: 10 })
      expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 5, stopped: false })
      engine.close()
    })

    it.runIf(process.getuid?.() === 0)('reads its closure, and writes data as its account on the machine', async () => {
      const shared = join(directory, 'shared')
      await mkdir(shared)
      await chmod(directory, 0o755)
      await chmod(shared, 0o777)
      const command = sh('cat "$BERTH_CLOSURE"; echo >/shared/made', { data: ['data/shared:/shared'] })
      expect(await finish(command, { unixUser: 'nobody', closure: '{"a":1}' })).toMatchObject({ out: '{"a":1}' })
      expect((await stat(join(shared, 'made'))).uid).toBe(65534)
    })

    it.each(['4242', '4242:7', 'root:7'])('gives its snapshot to the user %s of its image', async (user) => {
      const engine = asked()
      const base = await start(sh('true'))
      await untilEnded(executor, base)
      const name = { repo: 'localhost/berth-user', tag: user.replace(':', '-') }
      await engine.post('/commit', { container: base, changes: `USER ${user}`, ...name }, {})
      const tagged = `${name.repo}:${name.tag}`
      const spec = sh('stat -c %u:%g . a a/b; id -u; id -g; touch a/c', { image: tagged })
      const { out, exitCode } = await finish(spec, { openSnapshot: makeOpener({ 'a/b': { text: 'x' } }) })
      const [folder, ...others] = out.trim().split('\n')
      expect([exitCode, ...others]).toEqual([0, folder, folder, ...(folder ?? '').split(':')])
      await engine.delete(`/images/${tagged}`, { force: true })
      engine.close()
    })

    it('whose server is killed while it copies the snapshot never starts, and the next start copies all files', async () => {
      const openSnapshot = makeOpener({ a: { text: 'whole\n' }, b: { text: 'x'.repeat(2 ** 23) } })
      let sent = 0
      const slow = async function* (target?: SnapshotTarget) {
        for await (const part of openSnapshot(target))
          for (; sent * 512 < part.length; sent++)
            yield await setTimeout(1, part.subarray(sent * 512, sent * 512 + 512))
      }
      const run = makeRun({ ...sh('cat a; wc -c b'), resources: small }, { openSnapshot: slow })
      const killed = await open(directory)
      const dead = new AbortController()
      const starting = killed.start(run, dead.signal).catch(() => 'failed')
      await until(() => sent > 100, { what: 'files are sent' })
      await killed.close()
      expect(await executor.find(run.runId)).toBeNull()
      const handle = await executor.start({ ...run, openSnapshot })
      expect((await read(executor, handle)).out).toMatch(/^whole\n8388608 b\n$/)
      await untilEnded(executor, handle)
      dead.abort()
      expect(await starting).toBe('failed')
    })

    it('runs under the account of its user', async () => {
      const { out } = await finish(sh('id -u; id -g'), { unixUser: 'nobody' })
      expect(out).toBe(process.getuid?.() === 0 ? '65534\n65534\n' : '0\n0\n')
    })
  })
})

describe.skipIf(engine === undefined)('a run of several processes', () => {
  it('lists the node of each process in a file, which is removed with the run', async () => {
    const directory = makeDirectory()
    const executor = await open(directory)
    const resources = { ...small, processCount: 3 }
    const handle = await executor.start(makeRun({ command: ['/bin/sh', '-c', 'cat "$PSIJ_NODEFILE"'], resources }))
    expect((await read(executor, handle)).out).toBe('n1\nn1\nn1\n')
    await executor.forget?.(handle)
    await executor.close()
    expect(await readdir(join(directory, 'stops'))).toEqual([])
  })
})

describe.skipIf(engine === undefined)('a closure', () => {
  it('is a file in the container, and is removed with the run', async () => {
    const directory = makeDirectory()
    const executor = await open(directory)
    const run = makeRun(
      { command: ['/bin/sh', '-c', 'cat "$BERTH_CLOSURE"'], resources: small },
      { closure: '{"step":3}' },
    )
    const handle = await executor.start(run)
    expect((await read(executor, handle)).out).toBe('{"step":3}')
    await executor.forget?.(handle)
    await executor.close()
    expect(await readdir(join(directory, 'stops'))).toEqual([])
  })
})
