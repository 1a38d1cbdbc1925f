import { expect, test } from 'vitest'
import { InvalidInput } from '../../src/domain/errors.ts'
import { type Move, transition } from '../../src/domain/jobs/transition.ts'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { retryJob } from '../../src/domain/submission/retry.ts'
import { openTestDomain, simNode } from '../support/domain.ts'
import { createLeader } from '../support/leader.ts'
import { submitJobs } from '../support/submit-jobs.ts'

/** Jobs that depend on other jobs: many on one, one on many, and the effect of a failure. */
const { database, it } = await openTestDomain({ nodes: [{ ...simNode, cpuMillis: 200_000, memoryBytes: 2 ** 42 }] })
const leader = await createLeader(it.domain, 'sim')

type Dependency = { jobId: string; on?: 'SUCCEEDED' | 'FAILED' | 'FINISHED' }

const after = (dependsOn: readonly Dependency[], more: object = {}) => it.submit({ dependsOn, ...more })

async function states(ids: readonly string[]): Promise<string[]> {
  const rows = await database.db.sql.query<{ id: string; told: string }>(
    "SELECT id, concat_ws(' ', state, state_reason) AS told FROM job WHERE id = ANY($1)",
    [ids],
  )
  return ids.map((id) => rows.find((row) => row.id === id)?.told ?? 'none')
}

/** Ids of started jobs. */
async function end(ids: readonly string[], to: 'SUCCEEDED' | 'FAILED' | 'INTERRUPTED') {
  const reason = { SUCCEEDED: null, FAILED: 'EXIT_CODE', INTERRUPTED: 'NODE_LOST' } as const
  const steps: Pick<Move, 'from' | 'to' | 'reason'>[] = [
    { from: 'STARTING', to: 'RUNNING', reason: null },
    { from: 'RUNNING', to, reason: reason[to] },
  ]
  const nowMs = it.domain.time.nowMs()
  for (const step of steps)
    await transition(
      database.db.sql,
      ids.map((jobId) => ({ jobId, run: 1, ...step })),
      nowMs,
    )
}

/** Ticks until no job changes any more. */
async function settle() {
  const all = 'SELECT coalesce(sum(version), 0)::int AS moves FROM job'
  for (let before = -1; ; ) {
    await leader.tick()
    const [row] = await database.db.sql.query<{ moves: number }>(all)
    if (row?.moves === before) return
    before = row?.moves ?? 0
  }
}

async function diamond() {
  const first = await it.submit()
  const spec = { command: ['true'], resources: { cpu: 1 }, dependsOn: [{ jobId: first }] }
  const outcomes = await submitJobs(
    it.domain,
    it.admin,
    Array.from({ length: 98 }, () => ({ spec })),
  )
  const middle = outcomes.map((outcome) => ('jobId' in outcome ? outcome.jobId : 'refused'))
  const last = await after(middle.map((jobId) => ({ jobId })))
  return { first, middle, last }
}

const all = (state: string) => Array.from({ length: 98 }, () => state)

test('100 jobs in a diamond of dependencies run in order', async () => {
  const { first, middle, last } = await diamond()
  await settle()
  expect(await states([first, last])).toEqual(['STARTING', 'QUEUED'])
  expect(await states(middle)).toEqual(all('QUEUED'))
  await end([first], 'SUCCEEDED')
  await settle()
  expect(await states(middle)).toEqual(all('STARTING'))
  await end(middle.slice(1), 'SUCCEEDED')
  await settle()
  expect(await states([last])).toEqual(['QUEUED'])
  await end(middle.slice(0, 1), 'SUCCEEDED')
  await settle()
  expect(await states([last])).toEqual(['STARTING'])
  await end([last], 'SUCCEEDED')
})

test('the failure of the first job cancels the 99 jobs that depend on it, directly or not', async () => {
  const { first, middle, last } = await diamond()
  await settle()
  await end([first], 'FAILED')
  await settle()
  expect(await states([...middle, last])).toEqual([
    ...all('CANCELLED DEPENDENCY_FAILED'),
    'CANCELLED DEPENDENCY_FAILED',
  ])
  expect(await findViolations(database.db.sql)).toEqual([])
})

test.each([
  ['SUCCEEDED', ['STARTING', 'CANCELLED DEPENDENCY_FAILED', 'STARTING']],
  ['FAILED', ['CANCELLED DEPENDENCY_FAILED', 'STARTING', 'STARTING']],
  ['INTERRUPTED', ['CANCELLED DEPENDENCY_FAILED', 'CANCELLED DEPENDENCY_FAILED', 'STARTING']],
] as const)(
  'when a job ends %s, the jobs that wait for its success, its failure or its end start or are cancelled',
  async (to, expected) => {
    const first = await it.submit()
    const waiting = [
      await after([{ jobId: first, on: 'SUCCEEDED' }]),
      await after([{ jobId: first, on: 'FAILED' }]),
      await after([{ jobId: first, on: 'FINISHED' }]),
    ]
    const patient = await after([{ jobId: first }, { jobId: await it.submit(), on: 'FAILED' }], {
      onDependencyFailure: 'WAIT',
    })
    await settle()
    await end([first], to)
    await settle()
    expect(await states(waiting)).toEqual(expected)
    expect(await states([patient])).toEqual(['QUEUED'])
    const late = await after([{ jobId: first }])
    await settle()
    expect(await states([late])).toEqual([expected[0]])
  },
)

test('a retry is a separate job: dependents of the failed job do not wait for the retry', async () => {
  const first = await it.submit()
  const waiting = await after([{ jobId: first }], { onDependencyFailure: 'WAIT' })
  await settle()
  await end([first], 'FAILED')
  const again = await retryJob(it.domain, it.admin, { jobId: first })
  if (!('jobId' in again)) throw again
  await settle()
  await end([again.jobId], 'SUCCEEDED')
  await settle()
  expect(await states([first, again.jobId, waiting])).toEqual(['FAILED EXIT_CODE', 'SUCCEEDED', 'QUEUED'])
})

test('a job may depend on at most 100 distinct jobs, all visible to its user', async () => {
  const refusal = async (dependsOn: readonly Dependency[], by = it.admin) => {
    const [outcome] = await submitJobs(it.domain, by, [{ spec: { command: ['true'], dependsOn } }])
    return outcome instanceof InvalidInput ? outcome.violations : outcome
  }
  const first = await it.submit()
  const many = Array.from({ length: 101 }, (_, at) => ({ jobId: `job_${at}` }))
  expect(await refusal(many)).toEqual([{ path: ['spec', 'dependsOn'], message: 'Must have at most 100 entries' }])
  expect(await refusal([{ jobId: first }, { jobId: first, on: 'FINISHED' }])).toEqual([
    { path: ['spec', 'dependsOn'], message: `Job ${first} is named twice` },
  ])
  const rosa = await it.user('rosa', 'RESEARCHER')
  expect(await refusal([{ jobId: first }], rosa)).toEqual([
    { path: ['spec', 'dependsOn', '0', 'jobId'], message: `Job ${first} not found` },
  ])
})
