import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { RunSpec } from '../../../src/executors/executor.ts'
import { openPlain } from '../../../src/executors/local/plain-file.ts'
import { seeProcess } from '../../../src/executors/local/processes.ts'
import { heirScript, shell } from '../../../src/executors/local/shell.ts'
import { until } from '../../support/until.ts'
import { observe, runOf, untilEnded, untilState } from '../runs.ts'
import { localOfEachTest } from './runs.ts'

/** What a job of the server's account puts in the place of the files of its run: it holds no server, and no other run. */
const local = localOfEachTest()

const sh = (script: string): RunSpec =>
  runOf({ command: ['/bin/sh', '-c', `cd "$0/runs/$BERTH_RUN_ID"; ${script}`, local.spoolDir], workdir: '/tmp' })

async function gapsOf(handle: string) {
  const gaps = []
  for await (const chunk of local.executor.logs(handle, null, new AbortController().signal))
    if ('gap' in chunk) gaps.push(chunk.gap)
  return gaps
}

it.each([
  ['a pipe', 'mkfifo stdout'],
  ['a link', 'ln -s /dev/zero stdout'],
  ['a folder', 'mkdir stdout'],
])('%s in the place of its output is output that was lost', async (_, put) => {
  const handle = await local.executor.start(
    sh(`rm stdout; ${put}; : >put; until [ -e go ]; do sleep 0.02; done; exit 4`),
  )
  const run = join(local.spoolDir, 'runs', handle)
  await until(() => existsSync(join(run, 'put')), { what: 'it was put' })
  expect(await gapsOf(handle)).toEqual(['LOST'])
  await writeFile(join(run, 'go'), '')
  expect(await untilEnded(local.executor, handle)).toMatchObject({ exitCode: 4 })
  await local.executor.forget?.(handle)
  expect(existsSync(run)).toBe(false)
})

it('a file in the place of its folder ends it, and others are inspected', async () => {
  const other = await local.executor.start(sh('exit 3'))
  const handle = await local.executor.start(sh('d=$PWD; cd /; rm -r "$d"; : >"$d"; sleep 600'))
  const run = join(local.spoolDir, 'runs', handle)
  await until(() => lstatSync(run, { throwIfNoEntry: false })?.isFile(), { what: 'it was put' })
  const seen = await local.executor.inspect([handle, other])
  expect(seen.map(({ state }) => state)).not.toContain('starting')
  await untilState(local.executor, handle, 'gone')
  expect(await untilEnded(local.executor, other)).toMatchObject({ exitCode: 3 })
  expect(await gapsOf(handle)).toEqual(['LOST'])
  await local.executor.stop(handle, 0)
  expect(await local.executor.find(handle)).toBeNull()
  await local.executor.forget?.(handle)
  expect(existsSync(run)).toBe(false)
})

it('a pipe in the place of its journal does not hold a server that looks for the run', async () => {
  const handle = await local.executor.start(sh('rm journal; mkfifo journal; echo $$ >pid; sleep 600'))
  const run = join(local.spoolDir, 'runs', handle)
  await until(() => existsSync(join(run, 'pid')), { what: 'it was put' })
  const pid = Number(execFileSync('cat', [join(run, 'pid')], { encoding: 'utf8' }))
  expect(await local.executor.find(handle)).toBeNull()
  expect(await seeProcess(pid)).toBeNull()
  expect(await observe(local.executor, handle)).toMatchObject({ state: 'gone' })
  await local.executor.forget?.(handle)
  expect(existsSync(run)).toBe(false)
})

it.each([true, false])(
  'a job that empties its journal is not begun again by the next leader: in a cgroup %s',
  async (usesCgroups) => {
    await local.reopen({ usesCgroups })
    const run = sh(': >journal; echo begun >>"$0/begun"; exec sleep 600')
    const begun = join(local.spoolDir, 'begun')
    await local.executor.start(run)
    await until(() => existsSync(begun), { what: 'it has begun' })
    await local.reopen({ usesCgroups })
    expect(await local.executor.start({ ...run, inherited: true })).toBe(run.runId)
    expect(readFileSync(join(local.spoolDir, 'runs', run.runId, 'journal'), 'utf8')).not.toContain('claim')
    await local.executor.stop(run.runId, 0)
    await untilEnded(local.executor, run.runId)
    expect(readFileSync(begun, 'utf8')).toBe('begun\n')
  },
)

it('a journal that is a pipe fails a start at once', async () => {
  const run = sh('true')
  const folder = join(local.spoolDir, 'runs', run.runId)
  await mkdir(folder, { recursive: true })
  execFileSync('mkfifo', [join(folder, 'journal')])
  await expect(local.executor.start(run)).rejects.toMatchObject({
    reason: 'START_FAILED',
    message: expect.stringContaining('journal is missing, or something else is in its place'),
  })
  await rm(folder, { recursive: true })
})

it('a pipe in the place of a journal does not hold the heir', async () => {
  const planted = join(local.spoolDir, 'runs', 'a')
  await mkdir(planted, { recursive: true })
  execFileSync('mkfifo', [join(planted, 'journal')])
  const args = ['-c', heirScript, 'berth-heir', local.spoolDir, '1']
  // It has no server and waits for no run, so it ends; a pipe would hold it for ever.
  expect(spawnSync(shell, args, { timeout: 60_000, input: '' })).toMatchObject({ signal: null })
})

it('a job that kills what counts its output over the limit is not held', async () => {
  await local.reopen({ logBytesMax: 100_000 })
  const counter = 'pgrep -s $PPID -x wc'
  const script = `head -c 300000 /dev/zero; until ${counter}; do sleep 0.02; done >"$0/pids"; kill -KILL $(cat "$0/pids")`
  const handle = await local.executor.start(sh(`${script}; head -c 3000000 /dev/zero; exit 4`))
  expect(await gapsOf(handle)).toEqual(['OVER_LIMIT'])
  expect(await untilEnded(local.executor, handle)).toMatchObject({ exitCode: 4 })
})

it('other errors than a missing file are told', async () => {
  const path = join(local.spoolDir, 'n'.repeat(300))
  expect(() => openPlain(path)).toThrow('ENAMETOOLONG')
})
