import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Executor } from '../../src/executors/executor.ts'
import { createSlurmExecutor, type SlurmOptions } from '../../src/executors/slurm/slurm.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { machineTime } from '../support/clock.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { commandOf, contract, startsAt } from './contract.ts'
import { observe, read, resourcesOf, runOf, untilEnded, untilState } from './runs.ts'

/**
 * A real Slurm, where the environment names its slurm.conf: `npm run test:executors` starts one of two nodes with four
 * processors each. Elsewhere this file is skipped, and says so.
 */
const conf = process.env['BERTH_TEST_SLURM']
if (conf === undefined)
  process.stderr.write('SKIPPED: the executor slurm; "npm run test:executors" runs it with a real cluster\n')

/** Slurm gives each job a cgroup. */
const hasCgroups = conf !== undefined && existsSync(join(dirname(conf), 'cgroup.conf'))

const open = (directory: string, more: Partial<SlurmOptions> = {}) =>
  createSlurmExecutor({
    sharedDir: join(directory, 'shared'),
    pool: 'cluster',
    environment: { ...process.env, SLURM_CONF: conf },
    clock: systemClock,
    time: machineTime,
    log: createLog('warn'),
    ...more,
  })

const small = resourcesOf({ memoryBytes: 16 * 2 ** 20 })
const onMain = { queueNative: { partition: 'main' } }

describe.skipIf(conf === undefined)(`with ${conf}`, () => {
  contract('slurm', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'berth-slurm-'))
    await mkdir(join(directory, 'marks'))
    return {
      open: () => open(directory),
      run(behaviour) {
        const run = runOf({ resources: small }, onMain)
        return { ...run, spec: { ...run.spec, command: commandOf(behaviour, join(directory, 'marks', run.runId)) } }
      },
      starts: ({ runId }) => startsAt(join(directory, 'marks', runId)),
      remove: () => rm(directory, { recursive: true }),
    }
  })

  describe('a job of Slurm', () => {
    let directory: string
    let executor: Executor

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'berth-slurm-'))
      await chmod(directory, 0o711)
      executor = await open(directory)
    })
    afterAll(async () => {
      await executor.close()
      await rm(directory, { recursive: true })
    })

    type Spec = Parameters<typeof runOf>[0]
    type Run = Parameters<typeof runOf>[1]
    const start = (spec: Spec, run: Run = {}, on = executor) =>
      on.start(runOf({ resources: small, workdir: '/', ...spec }, { ...onMain, ...run }))
    async function finish(spec: Spec, run: Run = {}) {
      const handle = await start(spec, run)
      const output = await read(executor, handle)
      return { handle, ...output, ...(await untilEnded(executor, handle)) }
    }
    const sh = (text: string, spec: Spec = {}): Spec => ({ command: ['/bin/sh', '-c', text], ...spec })
    const refusalOf = (spec: Spec, run: Run = {}) => start(spec, run).catch((error: unknown) => error)
    const tasks = (amounts: Parameters<typeof resourcesOf>[0]) => resourcesOf({ ...small, ...amounts })
    const lines = (text: string) => text.trimEnd().split('\n').toSorted()
    /** Scripts in place of the commands of Slurm with these names. */
    async function openWith(commands: Readonly<Record<string, string>>): Promise<Executor> {
      const bin = await mkdtemp(join(directory, 'bin-'))
      for (const [name, text] of Object.entries(commands))
        await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
      return open(directory, { environment: { SLURM_CONF: conf, PATH: `${bin}:${process.env['PATH']}` } })
    }

    it.each([
      ['a missing command', { command: ['no-such-command'] }, 127],
      ['a file that cannot be executed', { command: ['/etc/passwd'] }, 126],
      ['TERM to itself', sh('kill -TERM $$'), 143],
      ['KILL to itself', sh('kill -KILL $$'), 137],
    ])('%s ends with %s', async (_, spec, exitCode) => {
      expect(await finish(spec)).toMatchObject({ exitCode, stopped: false })
    })

    it('tells its Slurm job and its node', async () => {
      const { nativeId, placements } = await finish(sh('true'))
      expect(nativeId).toMatch(/^\d+$/)
      expect(placements).toEqual([{ node: expect.stringMatching(/^n[12]$/), gpuIds: [] }])
    })

    it('has GPUs of the type that it asks for, and tells which they are', async () => {
      const resources = tasks({ gpu: 1, gpuModel: ['v100'] })
      const first = await start(sh('echo up; sleep 60', { resources }))
      await read(executor, first, { enough: ({ out }) => out === 'up\n' })
      const { out, placements } = await finish(sh('echo $CUDA_VISIBLE_DEVICES $NVIDIA_VISIBLE_DEVICES', { resources }))
      await executor.stop(first, 0)
      expect(out).toBe('1 1\n')
      expect(placements).toEqual([{ node: 'n2', gpuIds: [1] }])
    })

    it('tells the GPUs of its nodes', async () => {
      const nodes = await executor.capacity?.()
      expect(nodes?.map(({ name, gpus }) => [name, gpus.map(({ model }) => model)])).toEqual([
        ['n1', ['a100', 'a100']],
        ['n2', ['v100', 'v100']],
      ])
    })

    it('tells the processor time of its processes, on several nodes not', async () => {
      const busy = 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'
      const { usage } = await finish(sh(`sh -c '${busy}'; true`))
      expect(usage?.cpuSeconds).toBeGreaterThan(0.05)
      expect(usage?.cpuSeconds).toBeLessThan(10)
      const gang = await finish(sh(busy, { launcher: 'srun', resources: tasks({ nodeCount: 2 }) }))
      expect(gang.usage).toEqual({})
    })

    it('keeps bytes of any kind', async () => {
      const bytes = sh("printf '\\000\\001\\377'; head -c 300000 /dev/zero; echo x >/dev/stdout; echo e >/dev/stderr")
      const { out, err } = await finish(bytes)
      expect(out === `\0\x01\xff${'\0'.repeat(300_000)}x\n`).toBe(true)
      expect(err).toBe('e\n')
    })

    it('has the environment of the account, of the job and of Berth, and no other', async () => {
      const environment = [
        { name: 'BOTH', value: `\${HOME}/\${BERTH_RUN}` },
        { name: 'A.B', value: "it's $HOME" },
      ]
      const { out } = await finish({ command: ['/usr/bin/env'], environment }, { injected: { BERTH_RUN: '1' } })
      expect(out).toContain(`BOTH=${process.env['HOME']}/1\n`)
      expect(out).toContain("A.B=it's $HOME\n")
      expect(out).toMatch(/^SLURM_JOB_ID=\d+$/m)
      expect(out).not.toMatch(/^(_\d+|X_TEST|SLURM_EXPORT_ENV)=/m)
    })

    it('finds the closure of its job', async () => {
      const { out } = await finish(sh('cat "$BERTH_CLOSURE"'), { closure: '{"step":3}' })
      expect(out).toBe('{"step":3}')
    })

    it('without inheritance has what Slurm and Berth set alone', async () => {
      const { out } = await finish(
        { command: ['/usr/bin/env'], inheritEnvironment: false },
        { injected: { BERTH_RUN: '1' } },
      )
      const names = lines(out).flatMap((line) => line.match(/^([A-Z_0-9]+)=/)?.[1] ?? [])
      expect(names.filter((name) => !/^(SLURM|SLURMD|BERTH)_/.test(name))).toEqual(['MASTER_ADDR'])
    })

    it('of two nodes with two processes each has four ranks and two host names', async () => {
      const resources = tasks({ nodeCount: 2, processesPerNode: 2 })
      const command = sh('echo rank $SLURM_PROCID on $(hostname) $GREETING; sort -u $PSIJ_NODEFILE', {
        resources,
        launcher: 'srun',
        environment: [{ name: 'GREETING', value: 'hello' }],
      })
      const { out, placements } = await finish(command)
      expect(lines(out).filter((line) => line.startsWith('rank'))).toEqual([
        expect.stringMatching(/^rank 0 on n1 hello/),
        'rank 1 on n1 hello',
        'rank 2 on n2 hello',
        'rank 3 on n2 hello',
      ])
      expect(lines(out).filter((line) => line === 'n2')).toHaveLength(4)
      expect(placements?.map(({ node }) => node)).toEqual(['n1', 'n2'])
    })

    it('runs multiple processes on one node and on several', async () => {
      for (const amounts of [{ processCount: 2 }, { nodeCount: 2 }]) {
        const ranks = sh('cat; echo $BERTH_RANK of $BERTH_RANKS; exit $BERTH_RANK', {
          launcher: 'multiple',
          resources: tasks(amounts),
          stdinPath: '/etc/hostname',
        })
        const { out, exitCode } = await finish(ranks)
        expect(lines(out).filter((line) => line.includes(' of '))).toEqual(['0 of 2', '1 of 2'])
        expect(exitCode).toBe(1)
      }
    })

    it('reads scripts around srun, and its ranks see their variables', async () => {
      await writeFile(join(directory, 'pre'), 'GREETING=hello\n')
      await writeFile(join(directory, 'post'), 'echo bye\n')
      const scripts = { preLaunch: join(directory, 'pre'), postLaunch: join(directory, 'post') }
      const resources = tasks({ nodeCount: 2 })
      const { out } = await finish(sh('echo $GREETING', { ...scripts, launcher: 'srun', resources }))
      expect(out).toBe('hello\nhello\nbye\n')
    })

    it('reads and writes its files', async () => {
      await writeFile(join(directory, 'in'), 'given\n')
      const files = { workdir: directory, stdinPath: 'in', stdoutPath: 'out', stderrPath: 'err' }
      expect(await finish(sh('cat; echo no >&2', files))).toMatchObject({ out: 'given\n', err: 'no\n' })
      expect(await readFile(join(directory, 'out'), 'utf8')).toBe('given\n')
    })

    it.each([
      ['a workdir', { workdir: '/nowhere' }, 'WORKDIR_NOT_FOUND', /no directory \/nowhere on n/],
      ['an input', { stdinPath: '/nowhere' }, 'BAD_SPEC', /Cannot read stdinPath \/nowhere/],
    ])('without %s did not run', async (_, missing, reason, message) => {
      const handle = await start(sh('true', missing))
      expect((await read(executor, handle)).out).toBe('')
      const failed = await untilState(executor, handle, 'failed')
      expect(failed).toMatchObject({ reason, message: expect.stringMatching(message) })
    })

    it.each([
      ['a partition that is not there', {}, { queueNative: { partition: 'none' } }, /Invalid partition/],
      ['more than a node has', { resources: resourcesOf({ memoryBytes: 2 ** 40 }) }, {}, /Memory specification/],
      ['an option that is not its own', { customAttributes: { 'slurm.uid': '0' } }, {}, /slurm.uid: uid is no option/],
    ])('with %s is refused', async (_, spec, run, message) => {
      const error = await refusalOf(sh('true', spec), run)
      expect(error).toMatchObject({ reason: 'BAD_SPEC', message: expect.stringMatching(message) })
    })

    it('takes custom attributes as options', async () => {
      const handle = await start(sh('true', { customAttributes: { 'slurm.hold': true, 'other.x': 1 } }))
      expect(await observe(executor, handle)).toMatchObject({ state: 'starting', info: 'Slurm: JobHeldUser' })
      await executor.stop(handle, 60_000)
      expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 143, stopped: true })
    })

    it('dies by KILL with its children when it ignores TERM', async () => {
      const child = `${directory}/child`
      const handle = await start(
        sh(`trap '' TERM; (trap '' TERM; echo $$ >${child}; sleep 4242) & echo up; wait; wait`),
      )
      await read(executor, handle, { enough: ({ out }) => out === 'up\n' })
      await executor.stop(handle, 300)
      expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 137, signal: 9, stopped: true })
      const alive = await promisify(execFile)('pgrep', ['-f', 'sleep 4242']).catch(() => null)
      expect(alive).toBeNull()
    })

    it('runs as the account of its user, whose directory others cannot enter', async () => {
      const handle = await start(sh('id -u; id -g'), { unixUser: 'nobody' })
      expect((await read(executor, handle)).out).toBe('65534\n65534\n')
      expect(await stat(join(directory, 'shared', 'cluster', 'runs', handle))).toMatchObject({
        uid: 65534,
        mode: 0o40700,
      })
      await executor.forget?.(handle)
      expect(await executor.find(handle)).toBeNull()
    })

    it('is found when the answer of its submission was lost', async () => {
      const marks = join(directory, 'lost')
      const losing = await openWith({
        sbatch: `/usr/bin/sbatch "$@" >/dev/null; echo 'Unable to contact slurm controller' >&2; exit 1`,
      })
      const handle = await start(sh(`echo x >>${marks}; echo done`), {}, losing)
      expect((await read(losing, handle)).out).toBe('done\n')
      expect(await readFile(marks, 'utf8')).toBe('x\n')
      await losing.close()
    })

    it('waits while the shared folder is full, and leaves nothing there', async (test) => {
      await using disk = (await mountSmallDisk(1)) ?? test.skip()
      const full = await open(disk.path)
      await disk.fill()
      const run = runOf(
        { resources: small, command: ['true'], environment: [{ name: 'A', value: 'a'.repeat(9000) }] },
        onMain,
      )
      await expect(full.start(run)).rejects.toMatchObject({
        reason: 'NODE_TROUBLE',
        message: expect.stringContaining('ENOSPC'),
      })
      expect(await readdir(join(disk.path, 'shared', 'cluster', 'server'))).toEqual([])
      await disk.free()
      expect(await untilEnded(full, await full.start(run))).toMatchObject({ exitCode: 0 })
      await full.close()
    })

    it('that was submitted twice runs once', async () => {
      const marks = join(directory, 'twice')
      const twice = await openWith({
        sbatch: 'cat >$$.tmp; /usr/bin/sbatch "$@" <$$.tmp; exec /usr/bin/sbatch "$@" <$$.tmp'.replaceAll(
          '$$.tmp',
          `${directory}/input`,
        ),
      })
      const handle = await start(sh(`echo x >>${marks}; sleep 1; echo done`), {}, twice)
      expect((await read(twice, handle)).out).toBe('done\n')
      expect(await untilEnded(twice, handle)).toMatchObject({ exitCode: 0 })
      expect(await readFile(marks, 'utf8')).toBe('x\n')
      await twice.close()
    })

    it('goes on while Slurm does not answer, and its end is told without it', async () => {
      const silent = await openWith({
        squeue: `echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1`,
      })
      const seen = join(directory, 'seen')
      const handle = await start(sh(`echo up; until [ -e ${seen} ]; do sleep 0.1; done; exit 5`), {}, silent)
      await read(silent, handle, { enough: ({ out }) => out === 'up\n' })
      expect((await observe(silent, handle)).state).toBe('running')
      await writeFile(seen, '')
      await read(silent, handle)
      expect(await untilEnded(silent, handle)).toMatchObject({ exitCode: 5 })
      await silent.close()
    })

    it('is told from another end when Slurm takes its node for a job of a higher partition', async () => {
      const resources = tasks({ exclusiveNodeUse: true })
      const customAttributes = { 'slurm.nodelist': 'n1' }
      const low = await start(sh('echo up; sleep 60', { resources, customAttributes }))
      await read(executor, low, { enough: ({ out }) => out === 'up\n' })
      const high = await start(sh('true', { resources, customAttributes }), { queueNative: { partition: 'urgent' } })
      expect(await untilState(executor, low, 'gone')).toMatchObject({ cause: 'PREEMPTED' })
      expect(await untilEnded(executor, high)).toMatchObject({ exitCode: 0 })
    })

    it.skipIf(!hasCgroups)('with too much memory ends for that, and tells how much it had', async () => {
      const memory = 32 * 2 ** 20
      const fill = sh('head -c 200000000 /dev/zero | tail -c 200000000 >/dev/null', {
        resources: tasks({ memoryBytes: memory }),
      })
      const ended = await finish(fill)
      expect(ended).toMatchObject({ exitCode: 137, cause: 'OOM_KILLED' })
      expect(ended.usage?.maxMemoryBytes).toBeGreaterThan(memory / 2)
      expect(ended.usage?.maxMemoryBytes).toBeLessThanOrEqual(memory)
    })

    it('that Slurm has forgotten keeps its end', async () => {
      const { handle } = await finish(sh('exit 6'))
      const forgetful = await openWith({ squeue: 'exit 0' })
      expect(await observe(forgetful, handle)).toMatchObject({ state: 'ended', exitCode: 6 })
      await forgetful.close()
    })

    it('is not signalled by an id that is of another job now', async () => {
      const called = join(directory, 'called')
      const handle = await start(sh('echo up; sleep 60'))
      await read(executor, handle, { enough: ({ out }) => out === 'up\n' })
      const other = await openWith({ squeue: 'exit 0', scancel: `echo "$@" >>${called}` })
      await other.stop(handle, 60_000)
      await other.close()
      expect(existsSync(called)).toBe(false)
      await executor.stop(handle, 0)
      expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 137, stopped: true })
    })

    it('whose node is lost is gone', async () => {
      const handle = await start(sh('echo up; sleep 60', { customAttributes: { 'slurm.nodelist': 'n2' } }))
      await read(executor, handle, { enough: ({ out }) => out === 'up\n' })
      const scontrol = (state: string) =>
        promisify(execFile)('scontrol', ['update', 'nodename=n2', `state=${state}`, 'reason=test'], {
          env: { ...process.env, SLURM_CONF: conf },
        })
      await scontrol('down')
      try {
        expect(await untilState(executor, handle, 'gone')).toMatchObject({ info: expect.stringContaining('n2') })
      } finally {
        // Refused when the node has returned by itself.
        await scontrol('resume').catch(() => null)
      }
    })
  })
})
