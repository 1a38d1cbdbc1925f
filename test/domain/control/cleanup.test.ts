import { expect, test } from 'vitest'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { cleanupJobs } from '../../../src/domain/control/cleanup.ts'
import { Forbidden, InvalidInput } from '../../../src/domain/errors.ts'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { findViolations } from '../../../src/domain/selfcheck/selfcheck.ts'
import { submitBlocked } from '../../support/approvals.ts'
import { createDatabase } from '../../support/database.ts'
import { createTestDomain } from '../../support/domain.ts'

const dayMs = 86_400_000

test('cleanup refuses 0 and 366 days, and requires the permission queue.cleanup', async () => {
  await using database = await createDatabase()
  await using it = await createTestDomain(database.db)
  for (const olderThanDays of [0, 366, -1, 1.5])
    await expect(cleanupJobs(it.domain, it.admin, { olderThanDays })).rejects.toThrow(InvalidInput)
  await expect(cleanupJobs(it.domain, await it.user('lena', 'LEAD'), {})).rejects.toThrow(Forbidden)
})

test('cleanup removes jobs that ended more than 7 days ago, except dependencies of active jobs', async () => {
  await using database = await createDatabase()
  await using it = await createTestDomain(database.db)
  const sql = database.db.sql.query
  const end = (jobId: string) => cancelJob(it.domain, it.admin, { jobId })
  const [old, named, queued] = [await it.submit(), await it.submit(), await it.submit()]
  for (const jobId of [old, named]) await end(jobId)
  const waiting = await it.submit({ dependsOn: [{ jobId: named, on: 'FINISHED' }] })
  const blocked = await submitBlocked(it, it.admin)
  const [starting, running] = [await it.submit(), await it.submit()]
  const move = { run: 1, reason: null } as const
  await transition(
    database.db.sql,
    [starting, running].map((jobId) => ({ ...move, jobId, from: 'QUEUED', to: 'STARTING' })),
    0,
  )
  await transition(database.db.sql, [{ ...move, jobId: running, from: 'STARTING', to: 'RUNNING' }], 0)
  await it.sequence()
  await database.moveTime(7 * dayMs - 60_000)
  const recent = await it.submit()
  await end(recent)
  await it.sequence()

  expect(await cleanupJobs(it.domain, it.admin, { olderThanDays: 7 })).toEqual({ deletedCount: 0 })
  await database.moveTime(120_000)
  expect(await cleanupJobs(it.domain, it.admin, {})).toEqual({ deletedCount: 0 })
  expect(await cleanupJobs(it.domain, it.admin, { olderThanDays: 7 })).toEqual({ deletedCount: 1 })
  const left = await sql<{ id: string }>('SELECT id FROM job ORDER BY sequence')
  expect(left.map(({ id }) => id)).toEqual([named, queued, waiting, blocked, starting, running, recent])
  expect(await sql("SELECT actor_id AS actor, detail FROM audit_entry WHERE action = 'queue.cleanup'")).toEqual([
    { actor: it.admin.userId, detail: { olderThanDays: 7, deleted: 1 } },
  ])
  const found = await findViolations(database.db.sql)
  expect(found.filter(({ rule }) => !rule.includes('allocation'))).toEqual([])
})
