import { expect, it } from 'vitest'
import { Spawner } from '../../../src/executors/local/spawner.ts'
import { locateFiles } from '../../../src/executors/local/spool.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { makeDirectory } from '../../support/directory.ts'

it('the spawner stops watching a run if its start failed', async () => {
  const spoolDir = makeDirectory()
  const spawner = new Spawner(spoolDir, systemClock, () => undefined)
  const files = locateFiles(spoolDir, 'run-1') ?? expect.unreachable('no files')
  const launch = { argv: ['/bin/true'], limitSeconds: 0, cwd: '/', environment: {}, account: null }
  const order = { files, bootId: 'boot', cgroup: null, limited: [], streamBytesMax: 1_000 }
  const started = spawner.spawn({ ...order, launch: { ...launch, mpirunPath: '', paths: ['/nowhere/at/all', '', ''] } })
  expect(spawner.watches('run-1')).toBe(true)
  await expect(started).rejects.toMatchObject({ reason: 'BAD_SPEC' })
  expect(spawner.watches('run-1')).toBe(false)
  spawner.close()
})
