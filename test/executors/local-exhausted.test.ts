import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createLocalExecutor } from '../../src/executors/local/local.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { machineTime } from '../support/clock.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { removeSpool, runOf, untilEnded } from './runs.ts'

/** Starts on a machine that has run out of something: the jobs wait, and none fails. */

const log = createLog('warn')
const open = (spoolDir: string) =>
  createLocalExecutor({ spoolDir, environment: process.env, clock: systemClock, time: machineTime, log })
const exits = (code: number) => runOf({ command: ['/bin/sh', '-c', `exit ${code}`], workdir: '/' })

it('a run waits for room on the disk', async (context) => {
  await using disk = (await mountSmallDisk(1)) ?? context.skip()
  const executor = await open(join(disk.path, 'spool'))
  const run = exits(5)
  await disk.fill()
  const trouble = { reason: 'NODE_TROUBLE', message: 'no space is left on its disk' }
  await expect(executor.start(run)).rejects.toMatchObject(trouble)
  await disk.free()
  expect(await untilEnded(executor, await executor.start(run))).toMatchObject({ exitCode: 5 })
  await executor.close()
})

it.skipIf(process.platform !== 'linux')('a run waits for open files', async () => {
  const spoolDir = await mkdtemp(join(tmpdir(), 'berth-local-'))
  const executor = await open(spoolDir)
  const spawner = () => execFileSync('pgrep', ['-f', `spawner-process.* ${spoolDir}$`], { encoding: 'utf8' }).trim()
  const allow = (files: number) => execFileSync('prlimit', ['--pid', spawner(), `--nofile=${files}:`])
  await untilEnded(executor, await executor.start(exits(0)))
  const first = spawner()
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
  expect(spawner()).toBe(first)
  await executor.close()
  await removeSpool(spoolDir)
})
