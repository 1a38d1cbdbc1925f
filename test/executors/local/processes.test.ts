import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Executor, type RunSpec, StartFailed } from '../../../src/executors/executor.ts'
import { createLocalExecutor } from '../../../src/executors/local/local.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { machineTime } from '../../support/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { root } from '../../support/sources.ts'
import { until } from '../../support/until.ts'
import { finishRun, makeResources, makeRun, observe, read, untilEnded } from '../runs.ts'

let directory: string
let spoolDir: string
let executor: Executor
const log = createLog('warn')
const environment = {
  PATH: '/usr/bin:/bin',
  HOME: '/',
  LC_ALL: 'C',
  SECRET: 's',
  BERTH_X: 'b',
  PGUSER: 'p',
  ALLOWED: 'yes',
}
const open = (more: { hasGpus?: boolean; deadlineSlackSeconds?: number } = {}) =>
  createLocalExecutor({
    spoolDir,
    environment: { ...environment, HOME: directory },
    inheritNames: ['ALLOWED', 'PGUSER', 'BERTH_X'],
    clock: systemClock,
    time: machineTime,
    log,
    ...more,
  })

beforeEach(async () => {
  directory = makeDirectory()
  spoolDir = join(directory, 'spool')
  executor = await open()
})

afterEach(async () => {
  for (const runId of await readdir(join(spoolDir, 'runs'))) await executor.stop(runId, 0)
  await executor.close()
})

const finish = (run: RunSpec) => finishRun(executor, run)
const sh = (script: string, spec: Parameters<typeof makeRun>[0] = {}) =>
  makeRun({ command: ['/bin/sh', '-c', script], ...spec })
/** `${name}`, for the shell or for Berth. */
const ref = (name: string) => ['$', '{', name, '}'].join('')
/** The arguments of all processes of the machine, which may take megabytes. */
const ps = () => execFileSync('ps', ['-A', '-o', 'args='], { encoding: 'utf8', maxBuffer: 2 ** 28 })
const alive = (pid: number) => {
  try {
    const state = execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
    return !state.startsWith('Z')
  } catch {
    return false
  }
}

describe('the environment of a job', () => {
  const isOwn = (line: string) => !/^(BERTH_RUN_ID|PYTHONUNBUFFERED)=/.test(line)
  const lines = (out: string) => out.trimEnd().split('\n').filter(isOwn).sort()

  it('contains a fixed list of variables of the server and the named ones, never secrets', async () => {
    const { out } = await finish(makeRun({ command: ['/usr/bin/env'] }, { injected: { BERTH_RUN: '1' } }))
    const expected = ['ALLOWED=yes', 'BERTH_RUN=1', `HOME=${directory}`, 'LC_ALL=C', `PATH=${environment.PATH}:${root}`]
    expect(lines(out)).toEqual(expected)
  })

  it('contains only the variables of the spec, without inheritance', async () => {
    const spec = { command: ['env'], inheritEnvironment: false, environment: [{ name: 'A', value: '1' }] }
    expect(lines((await finish(makeRun(spec))).out)).toEqual(['A=1'])
  })

  it('expands variables, and uses the last value of a name', async () => {
    const environment = Object.entries({
      A: 'a',
      B: `${ref('A')}-${ref('NONE')}-$A-${ref('1')}`,
      PATH: `/opt:${ref('PATH')}`,
    }).map(([name, value]) => ({
      name,
      value,
    }))
    const again = { name: 'A', value: 'again' }
    const spec = { command: ['/usr/bin/env'], inheritEnvironment: false, environment: [...environment, again] }
    const { out } = await finish(makeRun(spec, { injected: { A: 'injected', C: 'c' } }))
    expect(lines(out)).toEqual(['A=injected', `B=injected--$A-${ref('1')}`, 'C=c', 'PATH=/opt:'])
  })

  it('may contain any value, also under names that the shell uses itself', async () => {
    const values = {
      IFS: 'x',
      name: 'n',
      code: '$(exit 1)',
      QUOTE: `'"\\\n$HOME \`id\``,
      PWD: 'p',
      run: ' *',
      UNI: 'ü→',
    }
    const spec = Object.entries(values).map(([name, value]) => ({ name, value }))
    const { out } = await finish(
      makeRun({ command: ['/usr/bin/env', '-0'], inheritEnvironment: false, environment: spec }),
    )
    const seen = Buffer.from(out, 'latin1').toString().split('\0').filter(Boolean).filter(isOwn).sort()
    expect(seen).toEqual(
      Object.entries(values)
        .map(([name, value]) => `${name}=${value}`)
        .sort(),
    )
  })

  it.each([
    [[2, 5], true, '2,5'],
    [[], true, ''],
    [[], false, 'unset'],
  ])('shows the GPUs %j of a pool (with GPUs: %s) as %j', async (gpuIds, hasGpus, expected) => {
    await executor.close()
    executor = await open({ hasGpus })
    const script = `echo ${ref('CUDA_VISIBLE_DEVICES-unset')} ${ref('NVIDIA_VISIBLE_DEVICES-unset')}`
    const { out } = await finish(makeRun({ command: ['/bin/sh', '-c', script] }, { gpuIds }))
    expect(out.trim()).toBe(`${expected} ${expected}`.trim())
  })
})

describe('the command of a job', () => {
  it('gets hostile arguments unchanged', async () => {
    const hostile = ['$(touch x)', '`id`', `'"'`, 'a\nb', 'ü → 日本', '', ' ', '-n', '*', '\\', '$HOME', ';exit 9']
    const { out } = await finish(makeRun({ command: ['/usr/bin/printf', '<%s>', ...hostile] }))
    expect(Buffer.from(out, 'latin1').toString()).toBe(hostile.map((each) => `<${each}>`).join(''))
  })

  it('expands variables in its arguments, but not in its name', async () => {
    const environment = [{ name: 'X', value: '$(id) y' }]
    const given = { executable: '/bin/echo', arguments: [ref('X'), '$X', `${ref('NONE')}.`], environment }
    expect((await finish(makeRun(given))).out).toBe('$(id) y $X .\n')
    expect((await finish(makeRun({ command: ['echo', ref('X')], environment }))).out).toBe(`${ref('X')}\n`)
  })

  it('ends with 127 if it is missing, and with 126 if it is not executable', async () => {
    await writeFile(join(directory, 'plain'), 'x', { mode: 0o644 })
    expect(await finish(makeRun({ command: ['no-such-command'] }))).toMatchObject({
      exitCode: 127,
      err: expect.stringContaining('no-such-command'),
    })
    expect(await finish(makeRun({ command: ['./missing'] }))).toMatchObject({ exitCode: 127 })
    expect(await finish(makeRun({ command: ['./plain'] }))).toMatchObject({
      exitCode: 126,
      err: expect.stringContaining('plain'),
    })
    expect(await finish(makeRun({ command: [directory] }))).toMatchObject({ exitCode: 126 })
  })

  it('is searched for in the PATH of the job, or relative to the working directory', async () => {
    await mkdir(join(directory, 'bin'))
    await writeFile(join(directory, 'bin/mine'), '#!/bin/sh\necho mine $0', { mode: 0o755 })
    const environment = [{ name: 'PATH', value: `${directory}/bin` }]
    expect((await finish(makeRun({ command: ['mine'], environment }))).out).toContain('mine')
    expect((await finish(makeRun({ command: ['./mine'], workdir: '~/bin' }))).out).toBe('mine ./mine\n')
  })

  it('runs in its working directory or in the home directory, and is rejected if that is missing', async () => {
    expect((await finish(makeRun({ command: ['/bin/pwd'] }))).out).toBe(`${directory}\n`)
    expect((await finish(makeRun({ command: ['/bin/pwd'], workdir: '/' }))).out).toBe('/\n')
    const run = makeRun({ command: ['true'], workdir: '~/none' })
    await expect(executor.start(run)).rejects.toMatchObject({ reason: 'WORKDIR_NOT_FOUND' })
    expect(await observe(executor, run.runId)).toEqual({ state: 'gone' })
  })

  it('is rejected if it is too long for the system, and leaves no files', async () => {
    const run = makeRun({ command: ['/bin/echo', 'x'.repeat(3_000_000)] })
    await expect(executor.start(run)).rejects.toMatchObject({ reason: 'BAD_SPEC' })
    await expect(executor.start(run)).rejects.toBeInstanceOf(StartFailed)
    expect(await readdir(join(spoolDir, 'runs'))).toEqual([])
  })

  it.each([
    ['kill -9 $$', 137, 9],
    ['kill -SEGV $$', 139, 11],
    ['kill -TERM $$', 143, 15],
  ])('that kills itself with %s ends with exit code %i', async (script, exitCode, signal) => {
    expect(await finish(sh(script))).toMatchObject({ exitCode, signal, stopped: false, out: '', err: '' })
  })

  it('can receive INT, and has an empty stdin', async () => {
    expect((await finish(sh('cat; trap "echo int; exit 5" INT; kill -INT $$; sleep 5'))).exitCode).toBe(5)
  })
})

describe('files, scripts and launchers:', () => {
  it('stdout and stderr are copied to their files and to the log', async () => {
    await writeFile(join(directory, 'in'), 'from a file')
    await writeFile(join(directory, 'o'), 'old content')
    const paths = { stdinPath: 'in', stdoutPath: 'o', stderrPath: join(directory, 'e') }
    const { out, err, exitCode } = await finish(sh('cat; echo err >&2; seq 1 20000; exit 6', paths))
    expect(exitCode).toBe(6)
    expect(await readFile(join(directory, 'o'), 'utf8')).toBe(out)
    expect(await readFile(join(directory, 'e'), 'utf8')).toBe(err)
    expect(out.startsWith('from a file1\n2\n') && out.endsWith('20000\n')).toBe(true)
    expect(err).toBe('err\n')
  })

  it('preLaunch and postLaunch are sourced around the command', async () => {
    await writeFile(join(directory, 'pre'), 'echo pre; FOO=foo; export BAR=bar; set -- x; _x=1')
    await writeFile(join(directory, 'post'), 'echo post $FOO; false')
    const { out, exitCode } = await finish(sh('echo $FOO $BAR; exit 3', { preLaunch: 'pre', postLaunch: 'post' }))
    expect(out).toBe('pre\nfoo bar\npost foo\n')
    expect(exitCode).toBe(3)
    expect((await finish(sh('true', { preLaunch: 'none' }))).exitCode).toBe(126)
  })

  it('the launcher multiple starts all ranks, and the first failure decides', async () => {
    const resources = makeResources({ processCount: 3 })
    const script = 'echo $(wc -l <$PSIJ_NODEFILE) >>counts; exit 4'
    expect(await finish(sh(script, { launcher: 'multiple', resources }))).toMatchObject({ exitCode: 4 })
    expect(await readFile(join(directory, 'counts'), 'utf8')).toBe('3\n3\n3\n')
  })

  it('the launcher multiple forwards TERM to the ranks, and postLaunch runs after the last one', async () => {
    await writeFile(join(directory, 'post'), 'echo post')
    const script = 'trap "echo term; exit 0" TERM; echo up; while :; do sleep 0.01; done'
    const spec = { launcher: 'multiple', resources: makeResources({ processCount: 2 }), postLaunch: 'post' }
    const handle = await executor.start(sh(script, spec))
    await read(executor, handle, { enough: ({ out }) => out === 'up\nup\n' })
    await executor.stop(handle, 20_000)
    expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 0, stopped: true })
    expect((await read(executor, handle)).out).toBe('up\nup\nterm\nterm\npost\n')
  })

  it('a missing launcher is rejected', async () => {
    for (const launcher of ['srun', 'mpirun']) {
      const environment = [{ name: 'PATH', value: directory }]
      await expect(executor.start(sh('true', { launcher, environment }))).rejects.toMatchObject({ reason: 'BAD_SPEC' })
    }
  })
})

describe('the end of a run', () => {
  it('kills the processes that it left behind', async () => {
    const { out } = await finish(sh('sleep 600 & echo $!; (trap "" TERM; sleep 600) & echo $!'))
    const pids = out.trim().split('\n').map(Number)
    expect(pids.map(alive)).toEqual([false, false])
  })

  it('is not delayed by processes left behind that hold the pipe of stdoutPath', async () => {
    const { out } = await finish(sh('sleep 600 & echo $!', { stdoutPath: 'o' }))
    expect(alive(Number(out))).toBe(false)
  })

  it('leaves no process', async () => {
    const run = sh('true', { maxRunTimeSeconds: 1234 })
    const { handle } = await finish(run)
    expect(ps()).not.toContain(handle)
    expect(ps()).not.toContain('sleep 1244')
  })

  it('comes at the fallback deadline even without a server', async () => {
    await executor.close()
    executor = await open({ deadlineSlackSeconds: 0 })
    const { exitCode, stopped, cause } = await finish(sh('exec sleep 600', { maxRunTimeSeconds: 0.5 }))
    expect({ exitCode, stopped, cause }).toEqual({ exitCode: 143, stopped: false, cause: 'MAX_RUN_TIME' })
  })

  it.each([
    ['the supervisor alone', (pid: number) => pid],
    ['the supervisor and its group', (pid: number) => -pid],
  ])('comes by KILL after kill -9 of %s, and no process is left', async (_, target) => {
    const handle = await executor.start(sh('echo $$; exec sleep 600'))
    const { out } = await read(executor, handle, { enough: ({ out }) => out.endsWith('\n') })
    const [, shim] = (await readFile(join(spoolDir, 'runs', handle, 'journal'), 'utf8')).split(' ')
    process.kill(target(Number(shim)), 'SIGKILL')
    expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 137, signal: 9, stopped: false })
    await until(() => !alive(Number(out)), { what: 'the command is gone' })
  })

  it('is recognised although another process has the same pid', async () => {
    const { handle } = await finish(sh('true'))
    const journal = join(spoolDir, 'runs', handle, 'journal')
    const [claim = ''] = (await readFile(journal, 'utf8')).split('\n')
    const [word, , born, boot, up] = claim.split(' ')
    await writeFile(journal, `${[word, process.pid, born, boot, up].join(' ')}\n`)
    expect(await observe(executor, handle)).toMatchObject({ state: 'ended', exitCode: 137 })
    await writeFile(journal, `${[word, process.pid, born, 'another-boot', up].join(' ')}\n`)
    expect(await observe(executor, handle)).toMatchObject({ state: 'gone' })
  })

  it('by a stop request prevents a start that has not begun', async () => {
    const run = sh('echo ran')
    await mkdir(join(spoolDir, 'runs', run.runId), { recursive: true })
    await writeFile(join(spoolDir, 'runs', run.runId, 'journal'), '')
    expect(await observe(executor, run.runId)).toEqual({ state: 'starting' })
    await executor.stop(run.runId, 1_000)
    expect(await executor.start(run)).toBe(run.runId)
    expect(await observe(executor, run.runId)).toMatchObject({ state: 'ended', exitCode: 143, stopped: true })
  })

  it('is not assumed for a start that a crash interrupted; the next start begins the run', async () => {
    const run = sh('echo ran')
    await mkdir(join(spoolDir, 'runs', run.runId), { recursive: true })
    expect((await finish(run)).out).toBe('ran\n')
  })

  it('comes exactly once for each of a hundred stop requests at random times', async () => {
    const stopped = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const handle = await executor.start(sh('exec sleep 0.02'))
        for (let looks = i % 12; looks > 0; looks--) await observe(executor, handle)
        await executor.stop(handle, 30_000)
        return untilEnded(executor, handle)
      }),
    )
    for (const end of stopped) expect(end.exitCode).toBe(end.stopped && end.exitCode !== 0 ? 143 : 0)
  })
})

describe('the spool of a run', () => {
  it('contains complete lines before it switches to the other stream', async () => {
    const script = 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); printf "o%s\\n" $i; printf "e%s\\n" $i >&2; done'
    const handle = await executor.start(sh(script))
    let text = ''
    for await (const chunk of executor.logs(handle, null, new AbortController().signal))
      if (!('gap' in chunk)) text += Buffer.from(chunk.bytes).toString()
    expect(text.split('\n').filter((line) => !/^[oe]\d+$/.test(line))).toEqual([''])
  })

  it('keeps bytes of any value and amount', async () => {
    const { out } = await finish(sh('head -c 5000000 /dev/urandom | tee copy; printf tail'))
    const copy = await readFile(join(directory, 'copy'), 'latin1')
    expect(out === `${copy}tail`).toBe(true)
  })

  it('shows lost output as gaps', async () => {
    const { handle, next } = await finish(sh('echo 12345'))
    const gaps = async (from: unknown) => {
      const seen = []
      for await (const chunk of executor.logs(handle, from, new AbortController().signal))
        seen.push('gap' in chunk ? chunk.gap : Buffer.from(chunk.bytes).toString())
      return seen
    }
    await writeFile(join(spoolDir, 'runs', handle, 'stdout'), 'new')
    expect(await gaps(next)).toEqual(['LOST', 'new'])
    await rm(join(spoolDir, 'runs', handle, 'stdout'))
    expect(await gaps(next)).toEqual(['LOST'])
  })

  it('cannot be read by other accounts', async () => {
    const handle = await executor.start(sh('true'))
    expect((await stat(join(spoolDir, 'runs'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(spoolDir, 'runs', handle))).mode & 0o777).toBe(0o700)
  })

  it.skipIf(process.getuid?.() !== 0)('a run of another account runs under that account', async () => {
    await chmod(directory, 0o755)
    const script = 'id -un; id -Gn; echo $HOME $USER; echo again >>/dev/stdout; cat "$0"/runs/*/journal'
    const run = makeRun({ command: ['/bin/sh', '-c', script, spoolDir], workdir: '/tmp' }, { unixUser: 'nobody' })
    const { out, err, exitCode } = await finish(run)
    expect(out).toBe('nobody\nnogroup\n/nonexistent nobody\nagain\n')
    expect(err).toContain('denied')
    expect(exitCode).not.toBe(0)
    await expect(executor.start(makeRun({ command: ['id'] }, { unixUser: 'root' }))).rejects.toMatchObject({
      reason: 'BAD_SPEC',
    })
  })
})
