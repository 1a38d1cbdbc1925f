import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { createDiskWatch } from '../../src/platform/disk.ts'
import { createLog } from '../../src/platform/log.ts'
import { startPostgres } from '../../src/platform/postgres/postgres.ts'
import { createFakeClock } from '../support/clock.ts'
import { makeDirectory } from '../support/directory.ts'
import { recordLines } from '../support/recorded-lines.ts'
import { mountSmallDisk } from '../support/small-disk.ts'

const disk = await mountSmallDisk(4)
afterAll(() => disk?.[Symbol.asyncDispose]())

test.skipIf(disk === null)('a full disk is logged once, and again when space is free', async () => {
  if (!disk) return
  const { destination, lines } = recordLines()
  const log = createLog('info', { destination })
  const watch = createDiskWatch({ path: disk.path, holds: 'the spool', clock: createFakeClock(), log })
  expect(await watch.findProblem()).toBeNull()
  await disk.fill()
  for (let look = 0; look < 3; look++) expect(await watch.findProblem()).toBe('the disk of the spool is full')
  await disk.free()
  expect(await watch.findProblem()).toBeNull()
  expect(lines).toMatchObject([
    {
      path: disk.path,
      msg: 'the disk of the spool is full: free space there; waiting output is then written by itself',
    },
    { path: disk.path, msg: 'the disk of the spool has room again' },
  ])
})

test('a directory that disappears is logged once, and again when it returns', async () => {
  const parent = makeDirectory()
  const path = join(parent, 'data')
  await mkdir(path)
  const { destination, lines } = recordLines()
  const log = createLog('info', { destination })
  const watch = createDiskWatch({ path, holds: 'the spool', clock: createFakeClock(), log })
  expect(await watch.findProblem()).toBeNull()
  await rename(path, `${path}.away`)
  for (let look = 0; look < 3; look++) expect(await watch.findProblem()).toBe('the directory of the spool is missing')
  await rename(`${path}.away`, path)
  expect(await watch.findProblem()).toBeNull()
  expect(lines).toMatchObject([
    { path, msg: 'the directory of the spool is missing: put it back, and what waits goes on by itself' },
    { path, msg: 'the directory of the spool is back' },
  ])
})

test.skipIf(disk === null)('an embedded PostgreSQL that cannot start on a full disk names its directory', async () => {
  if (!disk) return
  await disk.fill()
  const dataDir = join(disk.path, 'data')
  const started = startPostgres({ dataDir, log: createLog('silent'), clock: systemClock })
  await expect(started).rejects.toMatchObject({
    code: '53100',
    message: expect.stringContaining(`make room in ${dataDir}`),
  })
  await disk.free()
})
