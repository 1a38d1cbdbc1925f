import { expect, test } from 'vitest'
import { recordBackup, recordVerification } from '../../src/domain/backup-record.ts'
import { watchConditions } from '../support/conditions.ts'
import { openTestDomain } from '../support/domain.ts'

const { database, it: world } = await openTestDomain()
const { sql } = database.db
const dayMs = 86_400_000

async function readNow(): Promise<Date> {
  const [row] = await sql.query<{ now: Date }>('SELECT berth_now() AS now')
  return row?.now ?? new Date(0)
}
/** What `berth backup` and `berth backup verify` record (test/backup). */
const backUp = async () => recordBackup(sql, await readNow())
const verify = async () => recordVerification(sql, { takenAt: await readNow(), restoredMs: 1 })

test('BACKUP_OLD: begins when no backup was made for two days or verified for two weeks, and ends with the next one', async () => {
  const conditions = watchConditions({ domain: world.domain, database })
  await conditions.ends('BACKUP_OLD') // the installation has no backup at all
  await backUp()
  await conditions.ends('BACKUP_OLD')

  await database.moveTime(2 * dayMs)
  const { evidence } = await conditions.begins('BACKUP_OLD')
  expect(evidence).toEqual([expect.stringMatching(/^the newest backup is of /)])
  await backUp()
  await conditions.ends('BACKUP_OLD')

  await database.moveTime(12 * dayMs)
  await backUp()
  const never = await conditions.begins('BACKUP_OLD')
  expect(never.evidence).toEqual([expect.stringMatching(/^no backup was ever verified; the first is of /)])
  await verify()
  await conditions.ends('BACKUP_OLD')

  await database.moveTime(14 * dayMs)
  await backUp()
  const late = await conditions.begins('BACKUP_OLD')
  expect(late.evidence).toEqual([expect.stringMatching(/^the last verification was at /)])
})
