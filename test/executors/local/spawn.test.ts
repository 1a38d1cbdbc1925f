import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createPipeStock } from '../../../src/executors/local/pipes.ts'
import { spawnShim } from '../../../src/executors/local/spawn.ts'
import { createSpawner } from '../../../src/executors/local/spawner.ts'
import { filesOf } from '../../../src/executors/local/spool.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { removeSpool } from '../runs.ts'

it('a job that has emptied its journal before its server looks has begun', async () => {
  const spoolDir = await mkdtemp(join(tmpdir(), 'berth-local-'))
  const pipes = createPipeStock(spoolDir)
  const files = filesOf(spoolDir, 'run-1') ?? expect.unreachable('no files')
  await mkdir(files.directory, { recursive: true })
  const emptied = join(spoolDir, 'emptied')
  const started = spawnShim(
    {
      launch: {
        argv: ['/bin/sh', '-c', ': >"$0"; : >"$1"', files.journal, emptied],
        limitSeconds: 0,
        cwd: '/',
        environment: {},
        account: null,
        mpirunPath: '',
        paths: [],
      },
      files,
      bootId: 'boot',
      cgroup: null,
      limited: [],
      streamBytesMax: 1_000,
    },
    { pipes, onExit: () => undefined },
  )
  // From the start of the shim on, this process does nothing until the job has done its work.
  while (!existsSync(files.journal)) await new Promise(setImmediate)
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let pauses = 0; pauses < 1_000 && !existsSync(emptied); pauses++) Atomics.wait(pause, 0, 0, 10)
  expect(readFileSync(files.journal, 'utf8')).not.toContain('claim')

  await expect(started).resolves.toBeUndefined()
  pipes.close()
  await removeSpool(spoolDir)
})

it('a start that failed is not remembered', async () => {
  const spoolDir = await mkdtemp(join(tmpdir(), 'berth-local-'))
  const spawner = createSpawner(spoolDir, systemClock, () => undefined)
  const files = filesOf(spoolDir, 'run-1') ?? expect.unreachable('no files')
  const launch = { argv: ['/bin/true'], limitSeconds: 0, cwd: '/', environment: {}, account: null }
  const order = { files, bootId: 'boot', cgroup: null, limited: [], streamBytesMax: 1_000 }
  const started = spawner.spawn({ ...order, launch: { ...launch, mpirunPath: '', paths: ['/nowhere/at/all', '', ''] } })
  expect(spawner.watches('run-1')).toBe(true)
  await expect(started).rejects.toMatchObject({ reason: 'BAD_SPEC' })
  expect(spawner.watches('run-1')).toBe(false)
  spawner.close()
  await removeSpool(spoolDir)
})
