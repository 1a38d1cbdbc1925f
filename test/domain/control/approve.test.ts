import { expect, test } from 'vitest'
import type { UserLevel } from '../../../src/domain/access.ts'
import { listAllowedActions } from '../../../src/domain/control/allowed-actions.ts'
import { expireApprovals, readApprovals } from '../../../src/domain/control/approvals.ts'
import { approveJob, approveJobs, rejectJob, rejectJobs } from '../../../src/domain/control/approve.ts'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { Refusal } from '../../../src/domain/errors.ts'
import { disableUser, updateUser } from '../../../src/domain/people/users.ts'
import { findViolations } from '../../../src/domain/selfcheck/selfcheck.ts'
import { submitBlocked } from '../../support/approvals.ts'
import type { TestDatabase } from '../../support/database.ts'
import { createTestDomain, type TestDomain } from '../../support/domain.ts'
import { createLeader } from '../../support/leader.ts'

async function scene() {
  const world = await createTestDomain({ singleUser: false })
  const { database, it } = world
  const people = {
    researcher: await it.user('rita', 'RESEARCHER'),
    lead: await it.user('lena', 'LEAD'),
    admin: await it.user('ada', 'ADMIN'),
  }
  return {
    database,
    it,
    ...people,
    async [Symbol.asyncDispose]() {
      expect(await findViolations(database.db.sql)).toEqual([])
      await world[Symbol.asyncDispose]()
    },
  }
}

async function jobOf({ db }: TestDatabase, id: string) {
  const [job] = await db.sql.query(
    `SELECT j.state, j.state_reason AS reason, j.state_info AS info, j.exit_code AS "exitCode", j.version, j.run_number AS run,
       j.sequence, q.sequence AS place, a.status, a.comment, a.decided_by AS "decidedBy"
     FROM job j JOIN approval a ON a.job_id = j.id LEFT JOIN queue_entry q ON q.job_id = j.id WHERE j.id = $1`,
    [id],
  )
  return job
}

const eventsOf = ({ db }: TestDatabase, id: string) =>
  db.sql.query(
    `SELECT seq, type, from_state AS "from", to_state AS "to", psij_state AS psij, actor_id AS actor FROM event
     WHERE job_id = $1 ORDER BY seq`,
    [id],
  )

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
  return 'done'
}

const blockedIn = (it: TestDomain, viewer: Parameters<typeof submitBlocked>[1], requiredLevel: UserLevel = 'LEAD') =>
  submitBlocked(it, viewer, { requiredLevel })

test('an approved job is QUEUED at the position of its submission, with an event for each change', async () => {
  await using at = await scene()
  const { it, database, lead, researcher } = at
  const jobId = await submitBlocked(it, researcher)
  const later = await it.submit({}, researcher)
  await approveJob(it.domain, lead, { jobId, comment: 'fine', expectedVersion: 2 })
  const job = await jobOf(database, jobId)
  expect(job).toMatchObject({ state: 'QUEUED', reason: 'APPROVED', version: 4, status: 'APPROVED', comment: 'fine' })
  expect(job?.['place']).toBe(job?.['sequence'])
  expect(await eventsOf(database, jobId)).toEqual([
    { seq: 1, type: 'CREATED', from: null, to: 'BLOCKED', psij: 'NEW', actor: researcher.userId },
    { seq: 2, type: 'APPROVAL_REQUESTED', from: null, to: null, psij: null, actor: researcher.userId },
    { seq: 3, type: 'APPROVAL_DECIDED', from: null, to: null, psij: null, actor: lead.userId },
    { seq: 4, type: 'STATE_CHANGED', from: 'BLOCKED', to: 'QUEUED', psij: 'QUEUED', actor: lead.userId },
  ])
  const leader = await createLeader(it.domain, 'sim')
  await leader.tick()
  const started = await database.db.sql.query<{ id: string }>('SELECT job_id AS id FROM run ORDER BY scheduled_at, id')
  expect(started.map(({ id }) => id)).toContain(jobId)
  expect(started.map(({ id }) => id)).toContain(later)
})

test('a rejected job fails with the reason, without an exit code and without another run', async () => {
  await using at = await scene()
  const jobId = await submitBlocked(at.it, at.researcher)
  await rejectJob(at.it.domain, at.lead, { jobId, reason: 'too big', expectedVersion: 2 })
  const job = await jobOf(at.database, jobId)
  expect(job).toMatchObject({
    state: 'FAILED',
    reason: 'APPROVAL_REJECTED',
    exitCode: null,
    run: 1,
    status: 'REJECTED',
  })
  expect(job?.['info']).toContain('too big')
  const events = await eventsOf(at.database, jobId)
  expect(events.at(-1)).toMatchObject({ seq: 4, to: 'FAILED', psij: 'FAILED' })
})

test('of 20 concurrent decisions one succeeds, 19 fail with INVALID_STATE, and one event is written', async () => {
  await using at = await scene()
  const { it, researcher } = at
  const jobId = await submitBlocked(it, researcher)
  const leads = await Promise.all(Array.from({ length: 20 }, (_, i) => it.user(`lead${i}`, 'LEAD')))
  const codes = await Promise.all(
    leads.map((lead, i) =>
      codeOf(
        i % 2 === 0
          ? approveJob(it.domain, lead, { jobId, expectedVersion: 2 })
          : rejectJob(it.domain, lead, { jobId, reason: 'no', expectedVersion: 2 }),
      ),
    ),
  )
  expect(codes.toSorted()).toEqual([...Array.from({ length: 19 }, () => 'INVALID_STATE'), 'done'].toSorted())
  const events = await eventsOf(at.database, jobId)
  expect(events.map(({ type }) => type)).toEqual(['CREATED', 'APPROVAL_REQUESTED', 'APPROVAL_DECIDED', 'STATE_CHANGED'])
})

test('a request is decided only by another user of sufficient level, and only at the expected version', async () => {
  await using at = await scene()
  const { it, lead, admin, researcher } = at
  const own = await submitBlocked(it, lead)
  expect(await codeOf(approveJob(it.domain, lead, { jobId: own, expectedVersion: 2 }))).toBe('APPROVAL_NOT_ALLOWED')
  const single = { ...it.domain, singleUser: true }
  const high = await blockedIn(it, researcher, 'ADMIN')
  expect(await codeOf(approveJob(it.domain, lead, { jobId: high, expectedVersion: 2 }))).toBe('FORBIDDEN')
  expect(await codeOf(approveJob(it.domain, researcher, { jobId: high, expectedVersion: 2 }))).toBe('FORBIDDEN')
  expect(await codeOf(approveJob(it.domain, researcher, { jobId: own, expectedVersion: 2 }))).toBe('NOT_FOUND')
  expect(await codeOf(approveJob(it.domain, admin, { jobId: high, expectedVersion: 1 }))).toBe('VERSION_CONFLICT')
  expect(await codeOf(rejectJob(it.domain, admin, { jobId: high, reason: ' ', expectedVersion: 2 }))).toBe(
    'INVALID_INPUT',
  )
  expect(await codeOf(approveJob(it.domain, admin, { jobId: high, expectedVersion: 2 }))).toBe('done')
  expect(await codeOf(approveJob(it.domain, admin, { jobId: high, expectedVersion: 4 }))).toBe('INVALID_STATE')
  expect(await codeOf(approveJob(single, lead, { jobId: own, expectedVersion: 2 }))).toBe('done')
  const plain = await it.submit({}, researcher)
  expect(await codeOf(approveJob(it.domain, admin, { jobId: plain, expectedVersion: 1 }))).toBe('INVALID_STATE')
})

test('a bulk approval returns one outcome per item, in order, and decides each job once', async () => {
  await using at = await scene()
  const { it, lead, researcher, database } = at
  const [a, b, c] = [
    await submitBlocked(it, researcher),
    await submitBlocked(it, researcher),
    await submitBlocked(it, lead),
  ]
  const asked = [a, 'job_none', a, c].map((jobId) => ({ jobId, expectedVersion: 2 }))
  const answers = await approveJobs(it.domain, lead, asked)
  const codes = answers.map((answer) => (answer instanceof Refusal ? answer.code : 'done'))
  expect(codes).toEqual(['done', 'NOT_FOUND', 'INVALID_STATE', 'APPROVAL_NOT_ALLOWED'])
  const rejected = await rejectJobs(it.domain, lead, [{ jobId: b, reason: 'no', expectedVersion: 2 }])
  expect(rejected).toEqual([{ jobId: b }])
  expect(
    await database.db.sql.query('SELECT action, object_id AS id FROM audit_entry WHERE action <> $1 ORDER BY at', [
      'job.submit',
    ]),
  ).toEqual([
    { action: 'job.approve', id: a },
    { action: 'job.reject', id: b },
  ])
})

test('when a request expires by the database clock, the job fails and decisions are refused', async () => {
  await using at = await scene()
  const { it, database, lead, researcher } = at
  const jobId = await submitBlocked(it, researcher, { expiresAfterSeconds: 60 })
  const longer = await submitBlocked(it, researcher)
  expect(await expireApprovals(it.domain)).toBe(0)
  await database.moveTime(60_000)
  expect(await codeOf(approveJob(it.domain, lead, { jobId, expectedVersion: 2 }))).toBe('INVALID_STATE')
  const sweeps = await Promise.all(Array.from({ length: 4 }, () => expireApprovals(it.domain)))
  expect(sweeps.reduce((sum, count) => sum + count, 0)).toBe(1)
  expect(await jobOf(database, jobId)).toMatchObject({ state: 'FAILED', reason: 'APPROVAL_EXPIRED', status: 'EXPIRED' })
  expect(await jobOf(database, longer)).toMatchObject({ state: 'BLOCKED', status: 'PENDING' })
})

test('cancelling a blocked job ends its request; of a concurrent cancellation and approval only one succeeds', async () => {
  await using at = await scene()
  const { it, database, lead, researcher } = at
  const jobId = await submitBlocked(it, researcher)
  await cancelJob(it.domain, researcher, { jobId })
  expect(await jobOf(database, jobId)).toMatchObject({ state: 'CANCELLED', status: 'CANCELLED' })
  for (let i = 0; i < 10; i++) {
    const raced = await submitBlocked(it, researcher)
    const [approval] = await Promise.all([
      codeOf(approveJob(it.domain, lead, { jobId: raced, expectedVersion: 2 })),
      cancelJob(it.domain, researcher, { jobId: raced }),
    ])
    expect(['done', 'INVALID_STATE']).toContain(approval)
    const status = approval === 'done' ? 'APPROVED' : 'CANCELLED'
    expect(await jobOf(database, raced)).toMatchObject({ state: 'CANCELLED', status })
  }
})

test('a blocked job never starts, and does not delay other jobs', async () => {
  await using at = await scene()
  const { it, database, admin, researcher } = at
  const blocked = await submitBlocked(it, admin)
  const free = await it.submit({}, researcher)
  const leader = await createLeader(it.domain, 'sim')
  await leader.tick()
  const states = await database.db.sql.query('SELECT id, state FROM job ORDER BY id')
  expect(states).toEqual(
    [
      { id: blocked, state: 'BLOCKED' },
      { id: free, state: 'STARTING' },
    ].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  )
})

test('a job of a disabled user can be rejected or keeps waiting, but cannot be approved', async () => {
  await using scenery = await scene()
  const { database, it, researcher, lead, admin } = scenery
  const [first, second] = [await blockedIn(it, researcher), await blockedIn(it, researcher)]
  await disableUser(it.domain, admin, { id: researcher.userId })
  await expect(approveJob(it.domain, lead, { jobId: first, expectedVersion: 2 })).rejects.toMatchObject({
    code: 'INVALID_STATE',
    message: expect.stringContaining('The user of the job is disabled'),
  })
  const [approval = null] = await readApprovals(database.db.sql, 'job_id', [first])
  const own = { policy: 'PRIORITY', permitsSessions: true, sharesTeam: false, executor: 'local' } as const
  const job = { userId: researcher.userId, state: 'BLOCKED', approval, left: null, ...own } as const
  expect(listAllowedActions(lead, job, false)).toEqual(['REJECT', 'SET_PRIORITY'])
  expect(listAllowedActions(lead, job, true)).toContain('APPROVE')
  await rejectJob(it.domain, lead, { jobId: first, reason: 'gone', expectedVersion: 2 })
  await updateUser(it.domain, admin, { id: researcher.userId, disabled: false })
  expect(await codeOf(approveJob(it.domain, lead, { jobId: second, expectedVersion: 2 }))).toBe('done')
})
