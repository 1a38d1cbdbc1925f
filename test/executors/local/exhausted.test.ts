import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { appendFile, mkdir, readdir, readFile, rename, rmdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { findCgroupTree } from '../../support/cgroup-tree.ts'
import { makeDirectory } from '../../support/directory.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { until } from '../../support/until.ts'
import { makeRun, untilEnded } from '../runs.ts'
import { openLocal } from './runs.ts'

/** Starts on a machine without disk space, open files or processes: the jobs wait and do not fail. */

const exits = (code: number) => makeRun({ command: ['/bin/sh', '-c', `exit ${code}`], workdir: '/' })

/** Returns the process that starts the shims. */
const spawnerOf = (spoolDir: string) =>
  execFileSync('pgrep', ['-f', `spawner-process.* ${spoolDir}$`], { encoding: 'utf8' }).trim()

/** Directory for a cgroup that limits processes; undefined: this machine does not allow it. */
const limitsProcesses = findCgroupTree('pids')

it('a start waits while the disk is full', async (context) => {
  await using disk = (await mountSmallDisk(1)) ?? context.skip()
  const executor = await openLocal(join(disk.path, 'spool'))
  const run = exits(5)
  await disk.fill()
  const trouble = { reason: 'NODE_TROUBLE', message: 'no space is left on its disk' }
  await expect(executor.start(run)).rejects.toMatchObject(trouble)
  await disk.free()
  expect(await untilEnded(executor, await executor.start(run))).toMatchObject({ exitCode: 5 })
  await executor.close()
})

it.for([3, 7])('an exit record of which a full disk stored only %i bytes is completed later', async (left, context) => {
  await using disk = (await mountSmallDisk(1)) ?? context.skip()
  const spoolDir = join(disk.path, 'spool')
  const executor = await openLocal(spoolDir)
  const run = makeRun({ command: ['/bin/sh', '-c', 'until [ -e "$0/go" ]; do sleep 0.05; done; exit 37', spoolDir] })
  await mkdir(join(spoolDir, 'go.d'), { recursive: true })
  const journal = join(spoolDir, 'runs', await executor.start(run), 'journal')
  await until(() => readFileSync(journal, 'utf8').includes('\nsession '), { what: 'the job has its session' })
  // Only the rest of the current page can be written to a full disk.
  const pageBytes = 4_096
  await appendFile(journal, `${'x'.repeat(pageBytes - left - 1 - statSync(journal).size)}\n`)
  await disk.fill()
  await rename(join(spoolDir, 'go.d'), join(spoolDir, 'go'))
  await until(() => statSync(journal).size === pageBytes, { what: 'a part of the record was written' })
  await disk.free()
  expect(await untilEnded(executor, run.runId)).toMatchObject({ exitCode: 37, signal: null })
  await executor.close()
})

it.skipIf(process.platform !== 'linux')('a start waits while no file descriptor is free', async () => {
  const spoolDir = makeDirectory()
  const executor = await openLocal(spoolDir)
  await untilEnded(executor, await executor.start(exits(0)))
  const first = spawnerOf(spoolDir)
  const allow = (files: number) => execFileSync('prlimit', ['--pid', spawnerOf(spoolDir), `--nofile=${files}:`])
  for (let left = 0; left < 20; left += 2) {
    allow((await readdir(`/proc/${first}/fd`)).length + left)
    const trouble = await executor.start(exits(0)).then(
      (handle) => untilEnded(executor, handle).then(() => null),
      ({ reason, message }) => `${reason}: ${message}`,
    )
    expect([null, 'NODE_TROUBLE: the server has too many files open']).toContain(trouble)
  }
  allow(1_000)
  expect(await untilEnded(executor, await executor.start(exits(6)))).toMatchObject({ exitCode: 6 })
  expect(spawnerOf(spoolDir)).toBe(first)
  await executor.close()
})

it.skipIf(limitsProcesses === undefined)(
  'a run whose supervisor cannot start all processes counts as not begun',
  async (context) => {
    const spoolDir = makeDirectory()
    const executor = await openLocal(spoolDir, { usesCgroups: false })
    await untilEnded(executor, await executor.start(exits(0)))
    const cgroup = join(limitsProcesses ?? '', basename(spoolDir))
    await mkdir(cgroup)
    const file = (name: string) => join(cgroup, name)
    const current = await readFile(file('pids.current'), 'utf8').catch(() => context.skip())
    expect(current).toBe('0\n')
    await writeFile(file('cgroup.procs'), spawnerOf(spoolDir))
    const now = async () => Number(await readFile(file('pids.current'), 'utf8'))
    const idle = await now()
    const outcomes = new Set<unknown>()
    for (let left = 0; left < 8; left++) {
      await until(async () => (await now()) === idle, { what: 'the run before left nothing' })
      await writeFile(file('pids.max'), String(idle + left))
      const outcome = executor.start(exits(7)).then(
        async (handle) => (await untilEnded(executor, handle)).exitCode,
        ({ reason, message }) => `${reason}: ${message}`,
      )
      outcomes.add(await outcome)
    }
    expect(outcomes).toEqual(new Set(['NODE_TROUBLE: no further process may be started', 7]))
    await executor.close()
    await until(async () => (await now()) === 0, { what: 'it is empty' })
    await rmdir(cgroup)
  },
)

it.skipIf(process.platform !== 'linux')(
  'no descriptor stays open if pipes cannot be created for lack of file descriptors',
  async () => {
    const spoolDir = makeDirectory()
    const script = `
    import { readdirSync } from 'node:fs'
    import { PipeStock } from '${new URL('../../../src/executors/local/pipes.ts', import.meta.url)}'
    const count = () => readdirSync('/proc/self/fd').length
    const before = count()
    const stock = new PipeStock('${spoolDir}')
    const { code } = await stock.take().catch((error) => error)
    stock.close()
    console.log(code, count() - before < 10)`
    const args = ['--nofile=60:60', process.execPath, '--input-type=module', '-e', script]
    expect(execFileSync('prlimit', args, { encoding: 'utf8' })).toBe('EMFILE true\n')
  },
)
