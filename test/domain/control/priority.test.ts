import { expect, test } from 'vitest'
import { approveJob } from '../../../src/domain/control/approve.ts'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { setJobPriority } from '../../../src/domain/control/priority.ts'
import { InvalidInput, InvalidState, NotFound, Refusal } from '../../../src/domain/errors.ts'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { interactiveBand } from '../../../src/domain/lanes.ts'
import { findViolations } from '../../../src/domain/selfcheck/selfcheck.ts'
import { submitBlocked } from '../../support/approvals.ts'
import type { TestDatabase } from '../../support/database.ts'
import { createTestDomain } from '../../support/domain.ts'

async function scene() {
  const world = await createTestDomain({ singleUser: false })
  const { database, it } = world
  return {
    database,
    it,
    rita: await it.user('rita', 'RESEARCHER'),
    lena: await it.user('lena', 'LEAD'),
    async [Symbol.asyncDispose]() {
      expect(await findViolations(database.db.sql)).toEqual([])
      await world[Symbol.asyncDispose]()
    },
  }
}

async function rowOf({ db }: TestDatabase, id: string) {
  const [row] = await db.sql.query(
    `SELECT j.version, j.base_priority AS base, j.priority_override AS override, q.band, q.lane_id = j.lane_id AS "sameLane",
       l.priority, l.overridden FROM job j JOIN lane l ON l.id = j.lane_id LEFT JOIN queue_entry q ON q.job_id = j.id WHERE j.id = $1`,
    [id],
  )
  return row
}

const heard = ({ db }: TestDatabase) =>
  db.sql.query<{ kind: string }>('DELETE FROM pool_change RETURNING kind').then((rows) => rows.map(({ kind }) => kind))

const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof Refusal ? error : Promise.reject(error)),
  )

test('an override of the priority moves the job to another lane and notifies the leader; null removes the override', async () => {
  await using s = await scene()
  const { database, it, lena } = s
  const jobId = await it.submit({}, s.rita)
  await heard(database)
  expect(await rowOf(database, jobId)).toMatchObject({ base: 10, override: null, band: 10, overridden: false })

  await setJobPriority(it.domain, lena, { jobId, priority: 40 })
  expect(await rowOf(database, jobId)).toEqual({
    version: 2,
    base: 10,
    override: 40,
    band: 40,
    sameLane: true,
    priority: 40,
    overridden: true,
  })
  expect((await heard(database)).sort()).toEqual(['JOINED', 'LEFT'])
  await setJobPriority(it.domain, lena, { jobId, priority: 40 })
  expect(await heard(database)).toEqual([])

  await setJobPriority(it.domain, lena, { jobId, priority: null })
  expect(await rowOf(database, jobId)).toMatchObject({ version: 3, override: null, band: 10, overridden: false })

  const events = await database.db.sql.query(
    `SELECT seq, type, from_state AS "from", to_state AS "to", psij_state AS psij, message, actor_id AS actor, metadata
     FROM event WHERE job_id = $1 AND seq > 1 ORDER BY seq`,
    [jobId],
  )
  const changed = { type: 'PRIORITY_CHANGED', from: null, to: null, psij: null, actor: lena.userId }
  expect(events).toEqual([
    { ...changed, seq: 2, message: 'Priority 10 → 40 by lena', metadata: { from: null, to: 40 } },
    { ...changed, seq: 3, message: 'Priority 40 cleared by lena', metadata: { from: 40, to: null } },
  ])
  const audited = 'SELECT action, detail FROM audit_entry WHERE actor_id = $1 ORDER BY id'
  expect(await database.db.sql.query(audited, [lena.userId])).toEqual([
    { action: 'job.priority', detail: { from: null, to: 40 } },
    { action: 'job.priority', detail: { from: 40, to: null } },
  ])
})

test('an override of −1 or 51 is INVALID, one by a researcher is FORBIDDEN, one of a running job is INVALID_STATE', async () => {
  await using s = await scene()
  const { it, rita, lena } = s
  const jobId = await it.submit({}, rita)
  for (const priority of [-1, 51, 1.5, '7'])
    expect(await refusalOf(setJobPriority(it.domain, lena, { jobId, priority }))).toBeInstanceOf(InvalidInput)
  expect(await refusalOf(setJobPriority(it.domain, rita, { jobId, priority: 5 }))).toMatchObject({
    code: 'FORBIDDEN',
    requiredPermission: 'job.priority',
  })
  const others = await it.submit({}, lena)
  for (const hidden of [others, 'job_nowhere'])
    expect(await refusalOf(setJobPriority(it.domain, rita, { jobId: hidden, priority: 5 }))).toBeInstanceOf(NotFound)

  const started = { jobId, run: 1, from: 'QUEUED', to: 'STARTING', reason: null } as const
  await using world = await createTestDomain()
  const { database: other, it: elsewhere } = world
  const running = await elsewhere.submit()
  await transition(other.db.sql, [{ ...started, jobId: running }], 0)
  expect(
    await refusalOf(setJobPriority(elsewhere.domain, elsewhere.admin, { jobId: running, priority: 5 })),
  ).toBeInstanceOf(InvalidState)
  expect(await refusalOf(setJobPriority(it.domain, lena, { jobId, priority: 0 }))).toBe('done')
  expect(await refusalOf(setJobPriority(it.domain, lena, { jobId, priority: 50 }))).toBe('done')
})

test('a BLOCKED job keeps its override when it is approved, and an interactive job keeps its band', async () => {
  await using s = await scene()
  const { database, it, lena } = s
  const blocked = await submitBlocked(it, s.rita)
  await setJobPriority(it.domain, lena, { jobId: blocked, priority: 33 })
  expect(await rowOf(database, blocked)).toMatchObject({ override: 33, band: null })
  await approveJob(it.domain, lena, { jobId: blocked, expectedVersion: 3 })
  expect(await rowOf(database, blocked)).toMatchObject({ override: 33, band: 33, sameLane: true })

  const interactive = await it.submit({ interactive: true }, s.rita)
  await setJobPriority(it.domain, lena, { jobId: interactive, priority: 1 })
  expect(await rowOf(database, interactive)).toMatchObject({ override: 1, band: interactiveBand, priority: 1 })
})

test('a change of priority is never left incomplete by a concurrent cancellation', async () => {
  await using s = await scene()
  const { it, rita, lena, database } = s
  const jobs = await Promise.all(Array.from({ length: 20 }, () => it.submit({}, rita)))
  const outcomes = await Promise.all(
    jobs.flatMap((jobId) => [
      refusalOf(setJobPriority(it.domain, lena, { jobId, priority: 40 })),
      refusalOf(cancelJob(it.domain, rita, { jobId })),
      refusalOf(setJobPriority(it.domain, lena, { jobId, priority: null })),
    ]),
  )
  for (const outcome of outcomes) if (outcome !== 'done') expect(outcome).toBeInstanceOf(InvalidState)
  expect(await database.db.sql.query('SELECT count(*) FROM queue_entry')).toEqual([{ count: 0 }])
})
