import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { contract, makeCommand, startsAt } from '../contract.ts'
import { makeResources, makeRun, observe, read, untilEnded, untilState } from '../runs.ts'
import { makeOpener } from '../snapshot-files.ts'
import { conf, hasCgroups, onMain, openSlurm, type Run, type Spec, sh, small, tasks, useSlurm } from './cluster.ts'

describe.skipIf(conf === undefined)(`with ${conf},`, () => {
  contract('slurm', async () => {
    const directory = makeDirectory()
    for (const name of ['marks', 'shared']) await mkdir(join(directory, name))
    return {
      open: () => openSlurm(directory),
      run(behaviour) {
        const run = makeRun({ resources: small }, onMain)
        return { ...run, spec: { ...run.spec, command: makeCommand(behaviour, join(directory, 'marks', run.runId)) } }
      },
      starts: ({ runId }) => startsAt(join(directory, 'marks', runId)),
    }
  })

  describe('a job of Slurm', () => {
    const own = useSlurm()
    const refusalOf = (spec: Spec, run: Run = {}) => own.start(spec, run).catch((error: unknown) => error)
    const lines = (text: string) => text.trimEnd().split('\n').toSorted()

    it.each([
      ['a missing command', { command: ['no-such-command'] }, 127],
      ['a file that cannot be executed', { command: ['/etc/passwd'] }, 126],
      ['TERM to itself', sh('kill -TERM $$'), 143],
      ['KILL to itself', sh('kill -KILL $$'), 137],
    ])('that runs %s ends with exit code %s', async (_, spec, exitCode) => {
      expect(await own.finish(spec)).toMatchObject({ exitCode, stopped: false })
    })

    it('reports its Slurm job id and its node', async () => {
      const { nativeId, placements } = await own.finish(sh('true'))
      expect(nativeId).toMatch(/^\d+$/)
      expect(placements).toEqual([{ node: expect.stringMatching(/^n[12]$/), gpuIds: [] }])
    })

    it('has GPUs of the requested type, and reports their ids', async () => {
      const resources = tasks({ gpu: 1, gpuModel: ['v100'] })
      const first = await own.up(sh('echo up; sleep 60', { resources }))
      const { out, placements } = await own.finish(
        sh('echo $CUDA_VISIBLE_DEVICES $NVIDIA_VISIBLE_DEVICES', { resources }),
      )
      await own.executor.stop(first, 0)
      expect(out).toBe('1 1\n')
      expect(placements).toEqual([{ node: 'n2', gpuIds: [1] }])
    })

    it('reports the GPUs of its nodes', async () => {
      const nodes = await own.executor.capacity?.()
      expect(nodes?.map(({ name, gpus }) => [name, gpus.map(({ model }) => model)])).toEqual([
        ['n1', ['a100', 'a100']],
        ['n2', ['v100', 'v100']],
      ])
    })

    it('reports the processor time of its processes on one node', async () => {
      const busy = 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'
      const { usage } = await own.finish(sh(`sh -c '${busy}'; true`))
      expect(usage?.cpuSeconds).toBeGreaterThan(0.05)
      expect(usage?.cpuSeconds).toBeLessThan(10)
      const gang = await own.finish(sh(busy, { launcher: 'srun', resources: tasks({ nodeCount: 2 }) }))
      expect(gang.usage).toEqual({})
    })

    it('writes output with any bytes, which are stored unchanged', async () => {
      const bytes = sh("printf '\\000\\001\\377'; head -c 300000 /dev/zero; echo x >/dev/stdout; echo e >/dev/stderr")
      const { out, err } = await own.finish(bytes)
      expect(out === `\0\x01\xff${'\0'.repeat(300_000)}x\n`).toBe(true)
      expect(err).toBe('e\n')
    })

    it('has only the environment of the account, of the job and of Berth', async () => {
      const environment = [
        { name: 'BOTH', value: `\${HOME}/\${BERTH_RUN}` },
        { name: 'A.B', value: "it's $HOME" },
      ]
      const { out } = await own.finish({ command: ['/usr/bin/env'], environment }, { injected: { BERTH_RUN: '1' } })
      expect(out).toContain(`BOTH=${process.env['HOME']}/1\n`)
      expect(out).toContain("A.B=it's $HOME\n")
      expect(out).toMatch(/^SLURM_JOB_ID=\d+$/m)
      expect(out).not.toMatch(/^(_\d+|X_TEST|SLURM_EXPORT_ENV)=/m)
    })

    it('can read its closure', async () => {
      const { out } = await own.finish(sh('cat "$BERTH_CLOSURE"'), { closure: '{"step":3}' })
      expect(out).toBe('{"step":3}')
    })

    it('has only the variables of Slurm and Berth without inheritance', async () => {
      const { out } = await own.finish(
        { command: ['/usr/bin/env'], inheritEnvironment: false },
        { injected: { BERTH_RUN: '1' } },
      )
      const names = lines(out).flatMap((line) => line.match(/^([A-Z_0-9]+)=/)?.[1] ?? [])
      expect(names.filter((name) => !/^(SLURM|SLURMD|BERTH)_/.test(name)).sort()).toEqual([
        'MASTER_ADDR',
        'PYTHONUNBUFFERED',
      ])
    })

    it('on two nodes with two processes each has four ranks and two host names', async () => {
      const resources = tasks({ nodeCount: 2, processesPerNode: 2 })
      const command = sh('echo rank $SLURM_PROCID on $(hostname) $GREETING; sort -u $PSIJ_NODEFILE', {
        resources,
        launcher: 'srun',
        environment: [{ name: 'GREETING', value: 'hello' }],
      })
      const { out, placements } = await own.finish(command)
      expect(lines(out).filter((line) => line.startsWith('rank'))).toEqual([
        expect.stringMatching(/^rank 0 on n1 hello/),
        'rank 1 on n1 hello',
        'rank 2 on n2 hello',
        'rank 3 on n2 hello',
      ])
      expect(lines(out).filter((line) => line === 'n2')).toHaveLength(4)
      expect(placements?.map(({ node }) => node)).toEqual(['n1', 'n2'])
    })

    it('runs several processes on one node and on several nodes', async () => {
      for (const amounts of [{ processCount: 2 }, { nodeCount: 2 }]) {
        const ranks = sh('cat; echo $BERTH_RANK of $BERTH_RANKS; exit $BERTH_RANK', {
          launcher: 'multiple',
          resources: tasks(amounts),
          stdinPath: '/etc/hostname',
        })
        const { out, exitCode } = await own.finish(ranks)
        expect(lines(out).filter((line) => line.includes(' of '))).toEqual(['0 of 2', '1 of 2'])
        expect(exitCode).toBe(1)
      }
    })

    it('runs preLaunch and postLaunch around srun, and passes their variables to its ranks', async () => {
      await writeFile(join(own.directory, 'pre'), 'GREETING=hello\n')
      await writeFile(join(own.directory, 'post'), 'echo bye\n')
      const scripts = { preLaunch: join(own.directory, 'pre'), postLaunch: join(own.directory, 'post') }
      const resources = tasks({ nodeCount: 2 })
      const { out } = await own.finish(sh('echo $GREETING', { ...scripts, launcher: 'srun', resources }))
      expect(out).toBe('hello\nhello\nbye\n')
    })

    it('reads its stdin file and writes its output files', async () => {
      await writeFile(join(own.directory, 'in'), 'given\n')
      const files = { workdir: own.directory, stdinPath: 'in', stdoutPath: 'out', stderrPath: 'err' }
      expect(await own.finish(sh('cat; echo no >&2', files))).toMatchObject({ out: 'given\n', err: 'no\n' })
      expect(await readFile(join(own.directory, 'out'), 'utf8')).toBe('given\n')
    })

    it.each([
      ['a workdir', { workdir: '/nowhere' }, 'WORKDIR_NOT_FOUND', /no directory \/nowhere on n/],
      ['an input', { stdinPath: '/nowhere' }, 'BAD_SPEC', /Cannot read stdinPath \/nowhere/],
    ])('without %s fails to start', async (_, missing, reason, message) => {
      const handle = await own.start(sh('true', missing))
      expect((await read(own.executor, handle)).out).toBe('')
      const failed = await untilState(own.executor, handle, 'failed')
      expect(failed).toMatchObject({ reason, message: expect.stringMatching(message) })
    })

    it.each([
      ['a partition that does not exist', {}, { queueNative: { partition: 'none' } }, /Invalid partition/],
      ['more than a node has', { resources: makeResources({ memoryBytes: 2 ** 40 }) }, {}, /Memory specification/],
      ['a feature that no node has', { customAttributes: { 'slurm.constraint': 'none' } }, {}, /feature specification/],
      ['a forbidden option', { customAttributes: { 'slurm.uid': '0' } }, {}, /slurm.uid is not an option/],
    ])('with %s is refused', async (_, spec, run, message) => {
      const error = await refusalOf(sh('true', spec), run)
      expect(error).toMatchObject({ reason: 'BAD_SPEC', message: expect.stringMatching(message) })
    })

    it('waits while an option of its queue holds it in Slurm, and can be stopped there', async () => {
      const queueNative = { ...onMain.queueNative, begin: 'now+1hour' }
      const handle = await own.start(sh('true', { customAttributes: { 'other.x': 1 } }), { queueNative })
      const isTold = async () => JSON.stringify(await observe(own.executor, handle)).includes('"Slurm: BeginTime"')
      await until(isTold, { what: 'Slurm tells why it waits' })
      await own.executor.stop(handle, 60_000)
      expect(await untilEnded(own.executor, handle)).toMatchObject({ exitCode: 143, stopped: true })
    })

    it('is killed with its children if it ignores TERM', async () => {
      const child = `${own.directory}/child`
      const handle = await own.start(
        sh(`trap '' TERM; (trap '' TERM; echo $$ >${child}; sleep 4242) & echo up; wait; wait`),
      )
      await read(own.executor, handle, { enough: ({ out }) => out === 'up\n' })
      await own.executor.stop(handle, 300)
      expect(await untilEnded(own.executor, handle)).toMatchObject({ exitCode: 137, signal: 9, stopped: true })
      const alive = await promisify(execFile)('pgrep', ['-f', 'sleep 4242']).catch(() => null)
      expect(alive).toBeNull()
    })

    it('runs under the account of its user, and its directory is closed to other accounts', async () => {
      const handle = await own.start(sh('id -u; id -g'), { unixUser: 'nobody' })
      expect((await read(own.executor, handle)).out).toBe('65534\n65534\n')
      expect(await stat(join(own.directory, 'shared', 'cluster', 'runs', handle))).toMatchObject({
        uid: 65534,
        mode: 0o40700,
      })
      await own.executor.forget?.(handle)
      expect(await own.executor.find(handle)).toBeNull()
    })

    it('has one copy of its snapshot for two nodes, which belongs to its account and is deleted with the run', async () => {
      const openSnapshot = makeOpener({ 'src/in': { text: 'as it was\n' }, latest: { link: 'src/in' } })
      const resources = tasks({ nodeCount: 2 })
      const { handle, out } = await own.finish(
        sh('stat -c %u ../latest .; cat in; mkdir "made.$SLURM_PROCID"; chmod 0 made*; sleep 1; ls', {
          ...{ resources, launcher: 'srun', workdir: 'src', stdoutPath: 'out' },
        }),
        { unixUser: 'nobody', openSnapshot },
      )
      expect(lines(out)).toEqual(
        ['65534', '65534', 'as it was', 'in', 'made.0', 'made.1', 'out'].flatMap((line) => [line, line]).toSorted(),
      )
      await own.executor.forget?.(handle)
      expect(await readdir(join(own.directory, 'shared', 'cluster', 'runs'))).not.toContain(handle)
    })

    it('returns the output files of a working directory behind a link, but not of a folder that replaced it', async () => {
      const link = join(own.directory, 'work')
      for (const name of ['node', 'server']) await mkdir(join(own.directory, name), { mode: 0o777 })
      await chmod(join(own.directory, 'node'), 0o777)
      await symlink('node', link)
      const spec = sh('echo x >f; (umask 077; echo y >g)', { workdir: link, outputs: ['*'] })
      const { handle } = await own.finish(spec, { unixUser: 'nobody' })
      const readNames = async () => {
        const names: string[] = []
        for await (const one of own.executor.outputs?.(handle, () => true, new AbortController().signal) ?? [])
          names.push('unread' in one ? one.unread : one.path)
        return names.toSorted()
      }
      expect(await readNames()).toEqual(['f', 'g'])
      await chmod(join(own.directory, 'node'), 0)
      expect((await readNames()).join()).toContain('Permission denied')
      await rm(link)
      await symlink('server', link)
      expect(await readNames()).toEqual([`the folder "${link}" of the node is not visible to the server`])
      await rm(link)
      expect((await readNames()).join()).toContain('No such file or directory')
      await own.executor.forget?.(handle)
    })

    it('leaves no files of a snapshot that cannot be unpacked', async () => {
      const openSnapshot = async function* () {
        yield Buffer.alloc(1_024, 'x')
      }
      const shared = join(own.directory, 'shared', 'cluster')
      expect(await refusalOf(sh('true'), { openSnapshot, runId: 'run_broken' })).toMatchObject({
        reason: 'START_FAILED',
        message: expect.stringContaining('The snapshot could not be unpacked: tar: This does not look'),
      })
      expect([...(await readdir(join(shared, 'server'))), ...(await readdir(join(shared, 'runs')))]).not.toContainEqual(
        expect.stringContaining('run_broken'),
      )
    })

    it('enters its working directory with the rights of its account, and reveals no directory that it cannot reach', async () => {
      const closed = makeDirectory()
      await mkdir(join(closed, 'in'), { mode: 0o777 })
      const messages = await Promise.all(
        ['in', 'no'].map(async (name) => {
          const handle = await own.start(sh('true', { workdir: join(closed, name) }), { unixUser: 'nobody' })
          const failed = await untilState(own.executor, handle, 'failed')
          expect(failed).toMatchObject({ reason: 'WORKDIR_NOT_FOUND' })
          return JSON.stringify(failed)
            .replace(join(closed, name), 'PATH')
            .replace(/ on n\d/, '')
        }),
      )
      expect(messages[0]).toBe(messages[1])
    })

    it.skipIf(!hasCgroups)('above its memory limit ends as OOM_KILLED, and reports the limit', async () => {
      const memory = 32 * 2 ** 20
      const fill = sh('head -c 200000000 /dev/zero | tail -c 200000000 >/dev/null', {
        resources: tasks({ memoryBytes: memory }),
      })
      const ended = await own.finish(fill)
      expect(ended).toMatchObject({ exitCode: 137, cause: 'OOM_KILLED' })
      expect(ended.usage?.maxMemoryBytes).toBeGreaterThan(memory / 2)
      expect(ended.usage?.maxMemoryBytes).toBeLessThanOrEqual(memory)
    })
  })
})
