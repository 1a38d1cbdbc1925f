import { expect, test } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import type { JobAction } from '../../../src/domain/actions.ts'
import { allowedActions, readLeft } from '../../../src/domain/control/allowed-actions.ts'
import { readApprovals } from '../../../src/domain/control/approvals.ts'
import { approveJob, rejectJob } from '../../../src/domain/control/approve.ts'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { setJobPriority } from '../../../src/domain/control/priority.ts'
import { deleteJob } from '../../../src/domain/control/remove.ts'
import type { Domain } from '../../../src/domain/domain.ts'
import { Refusal } from '../../../src/domain/errors.ts'
import { type Move, transition } from '../../../src/domain/jobs/transition.ts'
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
  await it.user('ada', 'ADMIN'),
]

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

async function rowOf(jobId: string): Promise<{ userId: string; state: JobState; version: number }> {
  const [row] = await database.db.sql.query<{ userId: string; state: JobState; version: number }>(
    'SELECT user_id AS "userId", state, version FROM job WHERE id = $1',
    [jobId],
  )
  if (!row) throw new Error(`No job ${jobId}`)
  return row
}

async function allowed(viewer: Viewer, jobId: string): Promise<JobAction[]> {
  const [approval = null] = await readApprovals(database.db.sql, 'job_id', [jobId])
  const [left = null] = await readLeft(database.db.sql, [jobId])
  return allowedActions(viewer, { ...(await rowOf(jobId)), approval, left }, domain.singleUser)
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
}

/** Whether the verb is not refused, and changes something. */
async function taken(viewer: Viewer, action: JobAction, jobId: string): Promise<boolean> {
  const answer = await verbs[action](domain, viewer, { jobId, version: (await rowOf(jobId)).version }).catch(
    (error: unknown) => error,
  )
  if (answer instanceof Error && !(answer instanceof Refusal)) throw answer
  return !(answer instanceof Refusal) && answer !== false
}

/** The same, each on a job that no earlier one has changed. */
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
])('actions on a job that is %s are those that its verbs take', async (_, make) => {
  for (const viewer of viewers) {
    const expected = await takenActions(viewer, make)
    expect({ viewer: viewer.userName, actions: await allowed(viewer, await make()) }).toEqual({
      viewer: viewer.userName,
      actions: expected,
    })
  }
})
