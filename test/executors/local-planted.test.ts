import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, lstatSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Executor, RunSpec } from '../../src/executors/executor.ts'
import { createLocalExecutor, type LocalOptions } from '../../src/executors/local/local.ts'
import { openPlain } from '../../src/executors/local/plain-file.ts'
import { seeProcess } from '../../src/executors/local/processes.ts'
import { heirScript, shell } from '../../src/executors/local/shell.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { machineTime } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { observe, removeSpool, runOf, untilEnded, untilState } from './runs.ts'

/** What a job of the server's account puts in the place of the files of its run: it holds no server, and no other run. */
let directory: string
let spoolDir: string
let executor: Executor
const open = (more: Partial<LocalOptions> = {}) =>
  createLocalExecutor({
    spoolDir,
    environment: process.env,
    clock: systemClock,
    time: machineTime,
    log: createLog('warn'),
    ...more,
  })

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'berth-local-'))
  spoolDir = join(directory, 'spool')
  executor = await open()
})
afterEach(async () => {
  await executor.close()
  await removeSpool(directory)
})

const sh = (script: string): RunSpec =>
  runOf({ command: ['/bin/sh', '-c', `cd "$0/runs/$BERTH_RUN_ID"; ${script}`, spoolDir], workdir: '/tmp' })

async function gapsOf(handle: string) {
  const gaps = []
  for await (const chunk of executor.logs(handle, null, new AbortController().signal))
    if ('gap' in chunk) gaps.push(chunk.gap)
  return gaps
}

it.each([
  ['a pipe', 'mkfifo stdout'],
  ['a link', 'ln -s /dev/zero stdout'],
  ['a folder', 'mkdir stdout'],
])('%s in the place of its output is output that was lost', async (_, put) => {
  const handle = await executor.start(sh(`rm stdout; ${put}; : >put; until [ -e go ]; do sleep 0.02; done; exit 4`))
  const run = join(spoolDir, 'runs', handle)
  await until(() => existsSync(join(run, 'put')), { what: 'it was put' })
  expect(await gapsOf(handle)).toEqual(['LOST'])
  await writeFile(join(run, 'go'), '')
  expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 4 })
  await executor.forget?.(handle)
  expect(existsSync(run)).toBe(false)
})

it('a file in the place of its folder ends it, and others are inspected', async () => {
  const other = await executor.start(sh('exit 3'))
  const handle = await executor.start(sh('d=$PWD; cd /; rm -r "$d"; : >"$d"; sleep 600'))
  const run = join(spoolDir, 'runs', handle)
  await until(() => lstatSync(run, { throwIfNoEntry: false })?.isFile(), { what: 'it was put' })
  const seen = await executor.inspect([handle, other])
  expect(seen.map(({ state }) => state)).not.toContain('starting')
  await untilState(executor, handle, 'gone')
  expect(await untilEnded(executor, other)).toMatchObject({ exitCode: 3 })
  expect(await gapsOf(handle)).toEqual(['LOST'])
  await executor.stop(handle, 0)
  expect(await executor.find(handle)).toBeNull()
  await executor.forget?.(handle)
  expect(existsSync(run)).toBe(false)
})

it('a pipe in the place of its journal does not hold a server that looks for the run', async () => {
  const handle = await executor.start(sh('rm journal; mkfifo journal; echo $$ >pid; sleep 600'))
  const run = join(spoolDir, 'runs', handle)
  await until(() => existsSync(join(run, 'pid')), { what: 'it was put' })
  const pid = Number(execFileSync('cat', [join(run, 'pid')], { encoding: 'utf8' }))
  expect(await executor.find(handle)).toBeNull()
  expect(await seeProcess(pid)).toBeNull()
  expect(await observe(executor, handle)).toMatchObject({ state: 'gone' })
  await executor.forget?.(handle)
  expect(existsSync(run)).toBe(false)
})

it('a journal that is a pipe fails a start at once', async () => {
  const run = sh('true')
  const folder = join(spoolDir, 'runs', run.runId)
  await mkdir(folder, { recursive: true })
  execFileSync('mkfifo', [join(folder, 'journal')])
  await expect(executor.start(run)).rejects.toMatchObject({
    reason: 'START_FAILED',
    message: expect.stringContaining('journal is missing, or something else is in its place'),
  })
  await rm(folder, { recursive: true })
})

it('a pipe in the place of a journal does not hold the heir', async () => {
  const planted = join(spoolDir, 'runs', 'a')
  await mkdir(planted, { recursive: true })
  execFileSync('mkfifo', [join(planted, 'journal')])
  const args = ['-c', heirScript, 'berth-heir', spoolDir, '1']
  // It has no server and waits for no run, so it ends; a pipe would hold it for ever.
  expect(spawnSync(shell, args, { timeout: 10_000, input: '' })).toMatchObject({ signal: null })
})

it('a job that kills what counts its output over the limit is not held', async () => {
  await executor.close()
  executor = await open({ logBytesMax: 100_000 })
  const counter = 'pgrep -s $PPID -x wc'
  const script = `head -c 300000 /dev/zero; until ${counter}; do sleep 0.02; done >"$0/pids"; kill -KILL $(cat "$0/pids")`
  const handle = await executor.start(sh(`${script}; head -c 3000000 /dev/zero; exit 4`))
  expect(await gapsOf(handle)).toEqual(['OVER_LIMIT'])
  expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 4 })
})

it('other errors than a missing file are told', async () => {
  const path = join(directory, 'n'.repeat(300))
  expect(() => openPlain(path)).toThrow('ENAMETOOLONG')
})
