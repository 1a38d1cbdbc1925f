import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { appendFile, chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Executor, RunSpec } from '../../../src/executors/executor.ts'
import { Cgroups } from '../../../src/executors/local/cgroups.ts'
import { trackLosses } from '../../../src/executors/local/journal.ts'
import type { LocalOptions } from '../../../src/executors/local/local.ts'
import { findProcess } from '../../../src/executors/local/processes.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { finishRun, makeResources, makeRun, observe, read, untilEnded, untilState } from '../runs.ts'
import { openLocal } from './runs.ts'

/** Supervision of real processes, with and without a cgroup for each run. */
let directory: string
let spoolDir: string
let executor: Executor
const isRoot = process.getuid?.() === 0
const reopen = async (more: Partial<LocalOptions> = {}) => {
  await executor.close()
  executor = await openLocal(spoolDir, more)
}

beforeEach(async () => {
  directory = makeDirectory()
  await chmod(directory, 0o755)
  spoolDir = join(directory, 'spool')
  executor = await openLocal(spoolDir)
})

afterEach(async () => {
  for (const runId of await readdir(join(spoolDir, 'runs')).catch(() => [])) {
    await executor.stop(runId, 0)
    await until(async () => ['ended', 'gone'].includes((await observe(executor, runId)).state), { what: 'it is over' })
    await executor.forget?.(runId)
  }
  await executor.close()
})

const sh = (script: string, spec: Parameters<typeof makeRun>[0] = {}, run: Partial<RunSpec> = {}) =>
  makeRun({ command: ['/bin/sh', '-c', script, spoolDir], workdir: '/tmp', ...spec }, run)
const finish = (run: RunSpec) => finishRun(executor, run)
async function startAndRead(run: RunSpec, lines: number) {
  const handle = await executor.start(run)
  const { out } = await read(executor, handle, { enough: (seen) => seen.out.split('\n').length > lines })
  return { handle, lines: out.trimEnd().split('\n') }
}
const isAlive = async (pid: number) => (await findProcess(pid)) !== null
async function shimOf(handle: string): Promise<number> {
  await untilState(executor, handle, 'running')
  return Number(readFileSync(join(spoolDir, 'runs', handle, 'journal'), 'utf8').split(' ')[1])
}
async function gapsOf(handle: string) {
  const gaps = []
  let bytes = 0
  for await (const chunk of executor.logs(handle, null, new AbortController().signal)) {
    if ('gap' in chunk) gaps.push({ gap: chunk.gap, bytes: chunk.bytes })
    else bytes += chunk.bytes.length
  }
  return { gaps, bytes }
}

const modes = [true, false].filter((usesCgroups) => !usesCgroups || new Cgroups(tmpdir()).base !== null)

describe.each(modes)('a job (in a cgroup: %s)', (usesCgroups) => {
  beforeEach(() => reopen({ usesCgroups }))

  it.each(['KILL 0', 'STOP 0'])('that sends %s to its process group does not signal its supervisor', async (signal) => {
    const { handle } = await startAndRead(sh(`echo up; kill -${signal}; sleep 600`), 1)
    if (signal === 'STOP 0') await executor.stop(handle, 200)
    expect(await untilEnded(executor, handle)).toMatchObject({
      exitCode: signal === 'STOP 0' ? 143 : 137,
      signal: expect.any(Number),
    })
    expect(await readFile(join(spoolDir, 'runs', handle, 'journal'), 'utf8')).toContain('\nexit ')
  })

  it('that sends signals to its process group and survives them keeps its own exit code', async () => {
    const signals = ['USR1', 'USR2', 'ALRM', 'PIPE', 'HUP', 'INT', 'QUIT', 'TERM', 'VTALRM', 'XCPU']
    const script = `trap '' ${signals.join(' ')}; for s in ${signals.join(' ')}; do kill -$s 0; done; exit 9`
    expect(await finish(sh(script))).toMatchObject({ exitCode: 9, signal: null })
    expect(await finish(sh(script, { stdoutPath: join(directory, 'copy') }))).toMatchObject({ exitCode: 9 })
  })

  it('that sends signals to its process group after a preLaunch, or from a rank, keeps its own exit code', async () => {
    const preLaunch = join(directory, 'pre.sh')
    await writeFile(preLaunch, ':')
    const signals = 'USR1 USR2 ALRM PIPE HUP INT QUIT TERM VTALRM PROF XCPU'
    const script = `trap '' ${signals}; for s in ${signals}; do kill -$s 0; done; exit 9`
    expect(await finish(sh(script, { preLaunch }))).toMatchObject({ exitCode: 9, signal: null })
    const both = `d=${directory}; : >"$d/$BERTH_RANK"; until [ -e "$d/0" ] && [ -e "$d/1" ]; do sleep 0.05; done`
    const ranks = `trap '' ${signals}; ${both}; [ "$BERTH_RANK" = 1 ] || for s in ${signals}; do kill -$s 0; done; exit 8`
    const resources = makeResources({ processCount: 2 })
    expect(await finish(sh(ranks, { launcher: 'multiple', resources }))).toMatchObject({ exitCode: 8, signal: null })
  })

  it('leaves no process in other sessions, at its end or after a cancellation', async () => {
    const script = `setsid sh -c 'sleep 600 & echo $!; exec sleep 600' & echo $!; setsid -f sh -c 'echo $$; exec sleep 600'`
    for (const ending of ['sleep 600', 'sleep 0.3']) {
      const { handle, lines } = await startAndRead(sh(`${script}; ${ending}`), 3)
      if (ending === 'sleep 600') await executor.stop(handle, 10_000)
      await untilEnded(executor, handle)
      for (const pid of lines.map(Number)) expect(await isAlive(pid)).toBe(false)
    }
  })

  it('has no open files of the spool except the pipes of its output', async () => {
    const { out } = await finish(sh('for fd in /proc/$$/fd/*; do echo $(basename $fd) $(readlink $fd); done'))
    const ofSpool = out.split('\n').filter((line) => line.includes(spoolDir))
    expect(ofSpool.map((line) => line.split('/', 1)[0]).sort()).toEqual(['1 ', '2 '])
  })

  it('that is killed together with its supervisor ends as SUPERVISOR_KILLED', async () => {
    const { handle, lines } = await startAndRead(sh('echo $$; exec sleep 600'), 1)
    const session = Number(lines[0])
    process.kill(-(await shimOf(handle)), 'SIGKILL')
    process.kill(-session, 'SIGKILL')
    const end = { exitCode: 137, signal: 9, cause: 'SUPERVISOR_KILLED' }
    expect(await untilEnded(executor, handle)).toMatchObject({ ...end, stopped: false })
    await executor.stop(handle, 1_000)
    expect(await observe(executor, handle)).toMatchObject({ ...end, stopped: true })
  })

  it('is ended by the server after its deadline and grace period', async () => {
    await reopen({ usesCgroups, deadlineSlackSeconds: 0 })
    const { handle, lines } = await startAndRead(sh('echo $$; exec sleep 600', { maxRunTimeSeconds: 600 }), 1)
    const journal = join(spoolDir, 'runs', handle, 'journal')
    const [claim = '', ...rest] = (await readFile(journal, 'utf8')).split('\n')
    const fields = claim.split(' ')
    await rm(journal)
    await appendFile(journal, [fields.with(5, '1').join(' '), ...rest].join('\n'))
    // The shim still writes to the removed journal.
    await until(async () => (await observe(executor, handle)) && !(await isAlive(Number(lines[0]))), {
      what: 'it was killed',
    })
    expect(await untilEnded(executor, handle)).toMatchObject({ cause: 'MAX_RUN_TIME' })
  })
})

describe('a record of the server truncated by a full disk', () => {
  it('does not lose the end of the run', async () => {
    const handle = await executor.start(sh('until [ -e "$0/go" ]; do sleep 0.05; done; exit 3'))
    await untilState(executor, handle, 'running')
    await appendFile(join(spoolDir, 'runs', handle, 'journal'), 'stop 10.0')
    await writeFile(join(spoolDir, 'go'), '')
    expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 3, stopped: false })
  })
})

describe('output', () => {
  it('written to /dev/stdout and /dev/stderr truncates no files', async () => {
    const script = 'echo 1; echo 2 > /dev/stdout; echo 3; echo a >&2; echo b > /dev/stderr; echo c >&2'
    for (const unixUser of isRoot ? [null, 'nobody'] : [null])
      expect(await finish(sh(script, {}, { unixUser }))).toMatchObject({ out: '1\n2\n3\n', err: 'a\nb\nc\n' })
  })

  it('above its limit is dropped and counted even without a server, and the job continues', async () => {
    await reopen({ logBytesMax: 100_000 })
    const handle = await executor.start(sh('yes | head -c 30000000; echo done >&2; exit 3'))
    await executor.close()
    const journal = join(spoolDir, 'runs', handle, 'journal')
    await until(() => readFileSync(journal, 'utf8').includes('\nexit 3 '), { what: 'it ended' })
    expect(statSync(join(spoolDir, 'runs', handle, 'stdout')).size).toBe(100_352)
    executor = await openLocal(spoolDir)
    const { gaps, bytes } = await gapsOf(handle)
    expect(bytes).toBe(100_352 + 'done\n'.length)
    expect(gaps).toEqual([{ gap: 'OVER_LIMIT', bytes: expect.any(Number) }])
    // The write in progress when the reader reaches the limit is not counted.
    expect(gaps[0]?.bytes).toBeGreaterThan(30_000_000 - 100_352 - 131_072 - 1)
    expect(gaps[0]?.bytes).toBeLessThanOrEqual(30_000_000 - 100_352)
  })

  it('above its limit does not block the job if the process that counts it is killed', async () => {
    await reopen({ logBytesMax: 100_000 })
    const counter = 'pgrep -s $PPID -x wc'
    const script = `head -c 300000 /dev/zero; until ${counter}; do sleep 0.02; done >"$0/pids"; kill -KILL $(cat "$0/pids")`
    const handle = await executor.start(sh(`${script}; head -c 3000000 /dev/zero; exit 4`))
    expect((await gapsOf(handle)).gaps.map(({ gap }) => gap)).toEqual(['OVER_LIMIT'])
    expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 4 })
  })

  it('shows each gap once, because gaps are part of the position', async () => {
    const { handle, next } = await finish(sh('echo 1'))
    await appendFile(join(spoolDir, 'runs', handle, 'journal'), 'full stdout 2\ncut stderr 0\n')
    expect((await gapsOf(handle)).gaps.map(({ gap }) => gap).sort()).toEqual(['DISK_FULL', 'LOST'])
    const seen = []
    for await (const chunk of executor.logs(handle, next, new AbortController().signal)) seen.push(chunk)
    const last = seen.at(-1)?.next
    for await (const chunk of executor.logs(handle, last, new AbortController().signal)) seen.push(chunk)
    expect(seen.map((chunk) => 'gap' in chunk && chunk.gap)).toEqual(['DISK_FULL', 'LOST'])
  })
})

describe.runIf(isRoot)('a job of another account', () => {
  it('cannot write its journal, signal its supervisor or see the spool', async () => {
    const script = `
      printf 'exit 0 1\\n' >>/proc/$PPID/fd/3; kill -KILL $PPID; kill -STOP $PPID
      cat /proc/$PPID/fd/3 /proc/$PPID/fd/6; ls -R "$0"; cat "$0"/runs/*/journal; rm -r "$0"/runs
      exit 5`
    expect(await finish(sh(script, {}, { unixUser: 'nobody' }))).toMatchObject({ exitCode: 5, signal: null, out: '' })
  })
})

describe('a server', () => {
  const noise = 'i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo $$; done'
  /** Starts the run on another server, which is killed after `stop`. */
  async function orphaned(run: RunSpec, stop?: { stop: string; graceMs: number }): Promise<number> {
    const server = fork(join(import.meta.dirname, 'server.ts'), [spoolDir], { execArgv: [] })
    await once(server, 'message')
    server.send(run)
    const [first] = await once(server, 'message')
    if (stop) {
      server.send(stop)
      await once(server, 'message')
    }
    server.kill('SIGKILL')
    await once(server, 'exit')
    return Number(first.out.split('\n')[0])
  }

  it('that is killed after a stop request leaves a watchdog that ends the run after its grace period', async () => {
    const run = sh(`trap "" TERM; ${noise}; while :; do sleep 600; done`)
    const pid = await orphaned(run, { stop: run.runId, graceMs: 500 })
    await until(async () => !(await isAlive(pid)), { what: 'the watchdog ended it' })
    expect(await untilEnded(executor, run.runId)).toMatchObject({ exitCode: 137, stopped: true })
  })

  it('ends a run at its fallback deadline even if it does not inspect the run, as in a database outage', async () => {
    await reopen({ deadlineSlackSeconds: 0 })
    const handle = await executor.start(sh('exec sleep 600', { maxRunTimeSeconds: 0.5 }))
    const journal = join(spoolDir, 'runs', handle, 'journal')
    await until(() => /^exit 143 /m.test(readFileSync(journal, 'utf8')), { what: 'it was ended' })
    expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 143, cause: 'MAX_RUN_TIME' })
  })

  it('that is killed leaves a watchdog that ends a run at its fallback deadline', async () => {
    const run = sh(`${noise}; exec sleep 600`, { maxRunTimeSeconds: 0.5 })
    const pid = await orphaned(run)
    await until(async () => !(await isAlive(pid)), { what: 'the watchdog ended it' })
    expect(await untilEnded(executor, run.runId)).toMatchObject({ exitCode: 143, cause: 'MAX_RUN_TIME' })
  })

  it('ends the processes in the cgroup of a run whose directory is gone', async (context) => {
    const cgroups = new Cgroups(spoolDir)
    if (cgroups.base === null) return context.skip()
    const { handle, lines } = await startAndRead(sh('echo $$; exec env -i sleep 600'), 1)
    process.kill(-(await shimOf(handle)), 'SIGKILL')
    await executor.close()
    await rm(join(spoolDir, 'runs', handle), { recursive: true })
    executor = await openLocal(spoolDir)
    await until(async () => !(await isAlive(Number(lines[0]))), { what: 'it was ended' })
    await until(() => !cgroups.list().has(handle), { what: 'its cgroup was removed' })
  })

  it('reads all output and the exit code of every run', async () => {
    const script = 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); echo "line $i"; done; exit 21'
    const server = fork(join(import.meta.dirname, 'server.ts'), [spoolDir], { execArgv: [] })
    await once(server, 'message')
    const run = sh(script)
    server.send(run)
    const [first] = await once(server, 'message')
    server.kill('SIGKILL')
    await once(server, 'exit')
    const rest = await read(executor, run.runId, { from: first.next })
    expect(first.out + rest.out === Array.from({ length: 50_000 }, (_, i) => `line ${i + 1}\n`).join('')).toBe(true)
    expect(await untilEnded(executor, run.runId)).toMatchObject({ exitCode: 21, stopped: false })
  })
})

it('the output is polled once a second if the spawner reports ends, and otherwise four times a second', async () => {
  const sleeps: number[] = []
  const clock: LocalOptions['clock'] = {
    ...systemClock,
    sleep: (ms, signal) => {
      sleeps.push(ms)
      return systemClock.sleep(ms, signal)
    },
  }
  await reopen({ clock })
  const handle = await executor.start(sh('while :; do echo x; sleep 0.1; done'))
  await read(executor, handle, { enough: () => sleeps.includes(1_000) })
  expect(sleeps).not.toContain(250)
  await reopen({ clock })
  await read(executor, handle, { enough: () => sleeps.includes(250) })
})

it('losses of output are read again after the journal has grown', async () => {
  const path = join(directory, 'journal')
  const losses = trackLosses(path)
  expect(losses()).toEqual([])
  await writeFile(path, 'claim 1 2 boot 3 - -\ncut stdout 5\n')
  const first = losses()
  expect(first).toEqual([{ stream: 'stdout', gap: 'LOST', after: 5, bytes: 0 }])
  expect(losses()).toBe(first)
  await appendFile(path, 'over stderr 7\n')
  expect(losses()).toHaveLength(2)
})
