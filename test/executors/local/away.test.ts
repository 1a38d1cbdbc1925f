import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Executor } from '../../../src/executors/executor.ts'
import { findProcess } from '../../../src/executors/local/processes.ts'
import { createLog } from '../../../src/platform/log.ts'
import { makeDirectory } from '../../support/directory.ts'
import { recordLines } from '../../support/recorded-lines.ts'
import { until } from '../../support/until.ts'
import { makeRun, observe, read, untilEnded, untilState } from '../runs.ts'
import { openLocal } from './runs.ts'

/** Makes a data directory disappear: runs continue, and the executor reports no end and creates no files. */
let directory: string
let dataDir: string
let awayDir: string
let spoolDir: string
let executor: Executor
let lines: Record<string, unknown>[]

const sh = (script: string) => makeRun({ command: ['/bin/sh', '-c', script, directory], workdir: '/tmp' })
const goAway = () => rename(dataDir, awayDir)
const comeBack = () => rename(awayDir, dataDir)
const isAlive = async (pid: number) => (await findProcess(pid)) !== null
const missing = 'The data directory is missing'

async function startEndless() {
  const handle = await executor.start(sh('echo $$; exec sleep 600'))
  const { out } = await read(executor, handle, { enough: (seen) => seen.out.includes('\n') })
  return { handle, pid: Number(out) }
}

beforeEach(async () => {
  directory = makeDirectory()
  dataDir = join(directory, 'data')
  awayDir = join(directory, 'data.away')
  spoolDir = join(dataDir, 'local', 'p')
  await mkdir(dataDir)
  await writeFile(join(dataDir, 'id'), 'one\n')
  const recorded = recordLines()
  lines = recorded.lines
  executor = await openLocal(spoolDir, {
    dataDirectory: { path: dataDir, id: 'one' },
    log: createLog('warn', { destination: recorded.destination }),
  })
})

afterEach(async () => {
  for (const runId of await readdir(join(spoolDir, 'runs'))) {
    await executor.stop(runId, 0)
    await until(async () => ['ended', 'gone'].includes((await observe(executor, runId)).state), { what: 'it is over' })
    await executor.forget?.(runId)
  }
  await executor.close()
})

it('runs keep their state while the data directory is missing, however often they are inspected', async () => {
  const runs = [await startEndless(), await startEndless()]
  await goAway()
  for (let looks = 0; looks < 20; looks++) {
    for (const { handle } of runs) await expect(executor.inspect([handle])).rejects.toThrow(missing)
    await setTimeout(20)
  }
  expect(await executor.describe()).toMatchObject({ available: false, message: expect.stringContaining(missing) })
  await comeBack()
  for (const { handle, pid } of runs) {
    expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
    expect(await isAlive(pid)).toBe(true)
  }
  expect(await executor.describe()).toMatchObject({ available: true })
  expect(lines).toMatchObject([
    { level: 50, msg: expect.stringContaining(missing), path: join(spoolDir, 'runs') },
    { level: 40, msg: 'the data directory is back' },
  ])
})

it('all methods fail while the data directory is missing, and create no files', async () => {
  const { handle, pid } = await startEndless()
  await goAway()
  await expect(executor.find(handle)).rejects.toThrow(missing)
  await expect(executor.stop(handle, 0)).rejects.toThrow(missing)
  await expect(executor.forget?.(handle)).rejects.toThrow(missing)
  await expect(executor.list?.()).rejects.toThrow(missing)
  await expect(executor.start(sh('true'))).rejects.toMatchObject({ reason: 'NODE_TROUBLE' })
  expect(existsSync(dataDir)).toBe(false)
  expect(await isAlive(pid)).toBe(true)
  await comeBack()
  expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
})

it('a replaced data directory counts as missing', async () => {
  const { handle, pid } = await startEndless()
  await goAway()
  await mkdir(join(spoolDir, 'runs'), { recursive: true })
  await writeFile(join(dataDir, 'id'), 'other\n')
  await expect(executor.inspect([handle])).rejects.toThrow(missing)
  await expect(executor.start(sh('true'))).rejects.toMatchObject({ reason: 'NODE_TROUBLE' })
  expect(await readdir(join(spoolDir, 'runs'))).toEqual([])
  expect(await isAlive(pid)).toBe(true)
  await rm(dataDir, { recursive: true })
  await comeBack()
  expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
})

it('a missing folder of all runs counts as a missing data directory', async () => {
  const { handle, pid } = await startEndless()
  await rename(join(spoolDir, 'runs'), awayDir)
  await expect(executor.inspect([handle])).rejects.toThrow(missing)
  await expect(executor.list?.()).rejects.toThrow(missing)
  expect(await isAlive(pid)).toBe(true)
  await rename(awayDir, join(spoolDir, 'runs'))
  expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
})

it('a start that an earlier leader began waits until its run can be found', async () => {
  const mark = join(directory, 'mark')
  const run = makeRun({ command: ['/bin/sh', '-c', 'echo x >>"$0"; exec sleep 600', mark] })
  const handle = await executor.start(run)
  await until(() => existsSync(mark), { what: 'the command began' })
  await goAway()
  const told: string[] = []
  const started = executor.start({ ...run, inherited: true }, undefined, (info) => told.push(info))
  await until(() => told.length > 1, { what: 'it waits' })
  await comeBack()
  expect(await started).toBe(handle)
  expect(await readFile(mark, 'utf8')).toBe('x\n')
  expect(told[0]).toContain(missing)
})

it('a start that waits for the data directory ends when it is aborted', async () => {
  const run = { ...sh('true'), inherited: true }
  await goAway()
  const unwanted = new AbortController()
  const started = executor.start(run, unwanted.signal)
  unwanted.abort()
  await expect(started).rejects.toThrow(missing)
  await comeBack()
})

it('the output and the end of a run that ended while the directory was missing are kept', async () => {
  const go = join(directory, 'go')
  const handle = await executor.start(sh('echo one; until [ -e "$0/go" ]; do sleep 0.02; done; echo two; exit 7'))
  const earlier = read(executor, handle)
  await until(async () => (await observe(executor, handle)).state === 'running', { what: 'it runs' })
  await goAway()
  const later = read(executor, handle)
  await writeFile(go, '')
  await setTimeout(1_500)
  await comeBack()
  expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 7 })
  expect([(await earlier).out, (await later).out]).toEqual(['one\ntwo\n', 'one\ntwo\n'])
})

it('the watchdog of a killed server ends a run after its grace period while the directory is missing', async () => {
  const server = fork(join(import.meta.dirname, 'server.ts'), [spoolDir], { execArgv: [] })
  await once(server, 'message')
  server.send(sh(`trap '' TERM; echo $$; head -c 2000 /dev/zero | tr '\\0' x; while :; do sleep 600; done`))
  const [{ out }] = (await once(server, 'message')) as [{ out: string }]
  const pid = Number.parseInt(out, 10)
  const [handle = ''] = await readdir(join(spoolDir, 'runs'))
  server.send({ stop: handle, graceMs: 1_500 })
  await once(server, 'message')
  await goAway()
  server.kill('SIGKILL')
  await once(server, 'exit')
  await until(async () => !(await isAlive(pid)), { what: 'it was killed' })
  await comeBack()
  expect(await untilEnded(executor, handle)).toMatchObject({ signal: 9, stopped: true })
})

const mount = (...args: string[]) => {
  try {
    execFileSync('mount', args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

it('the data directory may be unmounted and mounted again', async (context) => {
  await executor.close()
  await rename(dataDir, awayDir)
  await mkdir(dataDir)
  if (!mount('--bind', awayDir, dataDir)) {
    await rm(dataDir, { recursive: true })
    await comeBack()
    executor = await openLocal(spoolDir)
    return context.skip()
  }
  executor = await openLocal(spoolDir, { dataDirectory: { path: dataDir, id: 'one' } })
  const { handle, pid } = await startEndless()
  execFileSync('umount', ['--lazy', dataDir])
  await expect(executor.inspect([handle])).rejects.toThrow(missing)
  expect(await readdir(dataDir)).toEqual([])
  mount('--bind', awayDir, dataDir)
  expect(await untilState(executor, handle, 'running')).toMatchObject({ state: 'running' })
  expect(await isAlive(pid)).toBe(true)
  await executor.stop(handle, 0)
  await untilEnded(executor, handle)
  execFileSync('umount', ['--lazy', dataDir])
  await rm(dataDir, { recursive: true })
  await comeBack()
})
