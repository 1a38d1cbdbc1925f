import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { watchConditions } from '../support/conditions.ts'
import { openTestDomain } from '../support/domain.ts'
import { root } from '../support/sources.ts'

const { database, it: world } = await openTestDomain()
const dayMs = 86_400_000
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-backup-'))
  await chmod(folder, 0o755)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const run = (...words: string[]) =>
  promisify(execFile)(
    process.execPath,
    [join(root, 'src/backup/main.ts'), '--', ...words, join(folder, 'backup.tar')],
    {
      env: {
        PATH: process.env['PATH'],
        TMPDIR: folder,
        DATABASE_URL: database.url,
        BERTH_DATA_DIR: join(folder, 'data'),
      },
    },
  )

test('BACKUP_OLD: no backup for two days, or no verification for two weeks', async () => {
  const conditions = watchConditions({ domain: world.domain, database })
  await conditions.ends('BACKUP_OLD') // the installation has no backup at all
  await run('backup')
  await conditions.ends('BACKUP_OLD')

  await database.moveTime(2 * dayMs)
  const { evidence } = await conditions.begins('BACKUP_OLD')
  expect(evidence).toEqual([expect.stringMatching(/^the newest backup is of /)])
  await run('backup')
  await conditions.ends('BACKUP_OLD')

  await database.moveTime(12 * dayMs)
  await run('backup')
  const never = await conditions.begins('BACKUP_OLD')
  expect(never.evidence).toEqual([expect.stringMatching(/^no backup was ever verified; the first is of /)])
  await run('verify')
  await conditions.ends('BACKUP_OLD')

  await database.moveTime(14 * dayMs)
  await run('backup')
  const late = await conditions.begins('BACKUP_OLD')
  expect(late.evidence).toEqual([expect.stringMatching(/^the last verification was at /)])
})
