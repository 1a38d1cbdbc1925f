import { expect, test } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import type { JobAction } from '../../../src/domain/actions.ts'
import { listAllowedActions, readFactsOfFinalJobs } from '../../../src/domain/control/allowed-actions.ts'
import { readApprovals } from '../../../src/domain/control/approvals.ts'
import { approveJob, rejectJob } from '../../../src/domain/control/approve.ts'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { setJobPriority } from '../../../src/domain/control/priority.ts'
import { deleteJob } from '../../../src/domain/control/remove.ts'
import { openCommand, openPort } from '../../../src/domain/control/sessions.ts'
import type { Domain } from '../../../src/domain/domain.ts'
import { Refusal } from '../../../src/domain/errors.ts'
import { type Move, transition } from '../../../src/domain/jobs/transition.ts'
import type { Policy } from '../../../src/domain/lanes.ts'
import { type JobState, jobStates } from '../../../src/domain/state.ts'
import { retryJob } from '../../../src/domain/submission/retry.ts'
import { submitBlocked } from '../../support/approvals.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain({ singleUser: false })
const { domain } = it
const owner = await it.user('rita', 'RESEARCHER')
const viewers: readonly Viewer[] = [
  owner,
  await it.user('bert', 'VIEWER', ['job.view.all']),
  await it.user('lena', 'LEAD'),
  await it.user('leon', 'LEAD'),
  await it.user('ada', 'ADMIN'),
]

/** The owner and lena are in the team of the jobs, leon is not. */
await database.db.sql.query("INSERT INTO team (id, name, account) VALUES ('team_ml', 'ml', 'ml')")
await database.db.sql.query(
  `INSERT INTO team_member (team_id, user_id) SELECT 'team_ml', id FROM "user" WHERE name IN ('rita', 'lena')`,
)
await database.db.sql.query(`UPDATE "user" SET default_team_id = 'team_ml' WHERE name = 'rita'`)

/** The moves that lead a QUEUED job to each state. */
const ways: Readonly<Record<Exclude<JobState, 'BLOCKED'>, readonly Pick<Move, 'to' | 'reason'>[]>> = (() => {
  const starting = [{ to: 'STARTING', reason: null }] as const
  const running = [...starting, { to: 'RUNNING', reason: null }] as const
  return {
    QUEUED: [],
    STARTING: starting,
    RUNNING: running,
    CANCELLING: [...running, { to: 'CANCELLING', reason: 'CANCELLED' }],
    SUCCEEDED: [...running, { to: 'SUCCEEDED', reason: null }],
    FAILED: [...running, { to: 'FAILED', reason: 'EXIT_CODE' }],
    INTERRUPTED: [...running, { to: 'INTERRUPTED', reason: 'NODE_LOST' }],
    CANCELLED: [{ to: 'CANCELLED', reason: 'CANCELLED' }],
  }
})()

async function jobIn(state: JobState, spec: object = {}): Promise<string> {
  if (state === 'BLOCKED') return submitBlocked(it, owner)
  const jobId = await it.submit({ ...spec }, owner)
  let from: JobState = 'QUEUED'
  for (const move of ways[state]) {
    await transition(database.db.sql, [{ jobId, run: 1, from, ...move }], it.time.nowMs())
    from = move.to
  }
  return jobId
}

async function rowOf(jobId: string): Promise<{ userId: string; state: JobState; version: number; executor: string }> {
  const [row] = await database.db.sql.query<{ userId: string; state: JobState; version: number; executor: string }>(
    'SELECT user_id AS "userId", state, version, executor FROM job WHERE id = $1',
    [jobId],
  )
  if (!row) throw new Error(`No job ${jobId}`)
  return row
}

async function allowed(viewer: Viewer, jobId: string): Promise<JobAction[]> {
  const [approval = null] = await readApprovals(database.db.sql, 'job_id', [jobId])
  const [left = null] = await readFactsOfFinalJobs(database.db.sql, [jobId])
  const [row] = await database.db.sql.query<{ policy: Policy; permitsSessions: boolean; sharesTeam: boolean }>(
    `SELECT p.policy, p.exec AS "permitsSessions", EXISTS (SELECT FROM team_member m WHERE m.team_id = j.team_id AND m.user_id = $2) AS "sharesTeam"
     FROM job j JOIN pool p ON p.name = j.pool WHERE j.id = $1`,
    [jobId, viewer.userId],
  )
  const { policy = 'PRIORITY', permitsSessions = false, sharesTeam = false } = row ?? {}
  return listAllowedActions(
    viewer,
    { ...(await rowOf(jobId)), approval, left, policy, permitsSessions, sharesTeam },
    domain.singleUser,
  )
}

const verbs: Readonly<
  Record<JobAction, (domain: Domain, viewer: Viewer, job: { jobId: string; version: number }) => Promise<unknown>>
> = {
  CANCEL: async (on, viewer, { jobId }) => (await cancelJob(on, viewer, { jobId })).changed,
  RETRY: (on, viewer, { jobId }) => retryJob(on, viewer, { jobId }),
  APPROVE: (on, viewer, { jobId, version }) => approveJob(on, viewer, { jobId, expectedVersion: version }),
  REJECT: (on, viewer, { jobId, version }) => rejectJob(on, viewer, { jobId, reason: 'no', expectedVersion: version }),
  SET_PRIORITY: (on, viewer, { jobId }) => setJobPriority(on, viewer, { jobId, priority: 45 }),
  DELETE: (on, viewer, { jobId }) => deleteJob(on, viewer, { jobId }),
  OPEN_SESSION: (on, viewer, { jobId }) => openCommand(on, viewer, { jobId }),
  OPEN_FORWARD: (on, viewer, { jobId }) => openPort(on, viewer, { jobId, port: 8888 }),
}

/** Whether the operation is accepted and changes the job. */
async function taken(viewer: Viewer, action: JobAction, jobId: string): Promise<boolean> {
  const answer = await verbs[action](domain, viewer, { jobId, version: (await rowOf(jobId)).version }).catch(
    (error: unknown) => error,
  )
  if (answer instanceof Error && !(answer instanceof Refusal)) throw answer
  return !(answer instanceof Refusal) && answer !== false
}

/** Lists the accepted actions, and tries each of them on a new job. */
async function takenActions(viewer: Viewer, make: () => Promise<string>): Promise<JobAction[]> {
  let jobId = await make()
  const actions: JobAction[] = []
  for (const action of Object.keys(verbs) as JobAction[]) {
    if (!(await taken(viewer, action, jobId))) continue
    actions.push(action)
    jobId = await make()
  }
  return actions
}

async function enterable(): Promise<string> {
  const jobId = await jobIn('RUNNING')
  await database.db.sql.query(`UPDATE job SET executor = 'local' WHERE id = $1`, [jobId])
  return jobId
}

async function awaited(): Promise<string> {
  const jobId = await jobIn('RUNNING')
  await it.submit({ dependsOn: [{ jobId, on: 'FINISHED' }] }, owner)
  await transition(
    database.db.sql,
    [{ jobId, run: 1, from: 'RUNNING', to: 'SUCCEEDED', reason: null }],
    it.time.nowMs(),
  )
  return jobId
}

test.each<[string, () => Promise<string>]>([
  ...jobStates.map((state): [string, () => Promise<string>] => [state, () => jobIn(state)]),
  ['over, with variables', () => jobIn('FAILED', { environment: [{ name: 'A', value: 'b' }] })],
  ['over, and awaited', awaited],
  ['running, of an executor with sessions', enterable],
])('the actions listed for a job that is %s are exactly those that succeed', async (_, make) => {
  for (const viewer of viewers) {
    const expected = await takenActions(viewer, make)
    expect({ viewer: viewer.userName, actions: await allowed(viewer, await make()) }).toEqual({
      viewer: viewer.userName,
      actions: expected,
    })
  }
})

test('a LEAD may cancel only jobs of their teams', async () => {
  const [, , lena, leon] = viewers
  if (!lena || !leon) throw new Error('No viewers')
  for (const state of ['BLOCKED', 'QUEUED', 'RUNNING'] as const) {
    const jobId = await jobIn(state)
    await expect(cancelJob(domain, leon, { jobId })).rejects.toMatchObject({ requiredPermission: 'job.cancel.all' })
    expect(await cancelJob(domain, lena, { jobId })).toEqual({ jobId, changed: true })
  }
  const outside = await it.submit({}, leon)
  await expect(cancelJob(domain, lena, { jobId: outside })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test('setting a priority in a FAIR_SHARE pool is refused with an explanation of the order of that pool', async () => {
  const jobId = await jobIn('QUEUED')
  await database.db.sql.query("UPDATE pool SET policy = 'FAIR_SHARE'")
  try {
    const lead = viewers[2] ?? owner
    expect(await allowed(lead, jobId)).not.toContain('SET_PRIORITY')
    await expect(setJobPriority(domain, lead, { jobId, priority: 40 })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      violations: [
        { path: ['priority'], message: expect.stringMatching(/^Has no effect: pool sim orders by fair share/) },
      ],
    })
    expect(await setJobPriority(domain, lead, { jobId, priority: null })).toEqual({ jobId })
  } finally {
    await database.db.sql.query("UPDATE pool SET policy = 'PRIORITY'")
  }
})
