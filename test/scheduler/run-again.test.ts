import { expect, test } from 'vitest'
import { readHoldingRuns } from '../../src/domain/jobs/runs.ts'
import { explainWaiting } from '../../src/domain/queue/why-waiting.ts'
import type { Ended } from '../../src/executors/executor.ts'
import type { Report } from '../../src/scheduler/outcome.ts'
import { createReporter } from '../../src/scheduler/reports.ts'
import { readRunAids } from '../../src/scheduler/run-spec.ts'
import { openTestDomain } from '../support/domain.ts'
import { createLeader } from '../support/leader.ts'

/** The runs of one job: what causes another run, which limit counts it, and what it gets from the previous run. */
const { database, it } = await openTestDomain()
const leader = await createLeader(it.domain, 'sim')
const reporter = createReporter(it.domain, leader, 3)

const exited: Ended = { state: 'ended', exitCode: 3, signal: null, stopped: false }
const saved = '{"step":1}'
const lost: Report = { kind: 'seen', observation: { state: 'gone', unsentClosure: saved } }
const failedToStart: Report = { kind: 'startFailed', reason: 'START_FAILED', message: 'no answer' }
const exits: Report = { kind: 'seen', observation: exited }

/** Starts the next run of the job and reports it. Returns the spec of the run, and the state of the job. */
async function runOnce(jobId: string, report: Report) {
  await leader.tick()
  const run = (await readHoldingRuns(it.domain.db.sql, leader)).find((each) => each.jobId === jobId)
  if (!run) throw new Error('The run was not started')
  const { closure } = await readRunAids(it.domain, run, 'http://127.0.0.1')
  return { closure, state: await reporter({ runId: run.runId, jobId, number: run.number, report }) }
}
const runsOf = (id: string) =>
  database.db.sql.query<{ state: string; reason: string }>(
    'SELECT state::text, state_reason AS reason FROM run WHERE job_id = $1 ORDER BY number',
    [id],
  )
/** Time from the end of the last run to the earliest start of the next run. */
async function readBackOffMs(id: string): Promise<number | undefined> {
  const [row] = await database.db.sql.query<{ ms: number }>(
    `SELECT (extract(epoch FROM q.eligible_at - max(r.finished_at)) * 1000)::int AS ms
     FROM queue_entry q JOIN run r USING (job_id) WHERE job_id = $1 GROUP BY q.eligible_at`,
    [id],
  )
  return row?.ms
}
const waitsFor = async (id: string) => (await explainWaiting(it.domain, [id])).get(id)?.reasons[0]?.code

test('lost nodes, failed starts and exit codes are counted separately, and every later run gets the closure', async () => {
  const id = await it.submit({ restartable: true, retry: { maxAttempts: 2 } })
  expect(await runOnce(id, lost)).toEqual({ closure: null, state: 'QUEUED' })
  for (const backOffMs of [1_000, 2_000]) {
    expect(await runOnce(id, failedToStart)).toEqual({ closure: saved, state: 'QUEUED' })
    expect(await waitsFor(id)).toBe('RESTART_BACKOFF')
    await expect(runOnce(id, failedToStart)).rejects.toThrow('The run was not started')
    await database.moveTime(backOffMs)
  }
  expect(await runOnce(id, exits)).toEqual({ closure: saved, state: 'QUEUED' })
  await database.moveTime(1_000)
  expect(await runOnce(id, lost)).toEqual({ closure: saved, state: 'QUEUED' })
  expect(await runOnce(id, exits)).toEqual({ closure: saved, state: 'FAILED' })
  expect(await runsOf(id)).toEqual([
    { state: 'INTERRUPTED', reason: 'NODE_LOST' },
    { state: 'FAILED', reason: 'START_FAILED' },
    { state: 'FAILED', reason: 'START_FAILED' },
    { state: 'FAILED', reason: 'EXIT_CODE' },
    { state: 'INTERRUPTED', reason: 'NODE_LOST' },
    { state: 'FAILED', reason: 'EXIT_CODE' },
  ])
})

test('without retry a nonzero exit code is final, even for a resumable job with a closure', async () => {
  const id = await it.submit({ restartable: true, resumable: true })
  expect(await runOnce(id, lost)).toEqual({ closure: null, state: 'QUEUED' })
  expect(await runOnce(id, exits)).toEqual({ closure: saved, state: 'FAILED' })
})

test('every failed start of a job counts as one run', async () => {
  const id = await it.submit({ resumable: true })
  for (const state of ['QUEUED', 'QUEUED', 'FAILED']) {
    expect(await runOnce(id, failedToStart)).toMatchObject({ state })
    await database.moveTime(5_000)
  }
  expect(await runsOf(id)).toHaveLength(3)
})

test('a retry after an exit code waits one second, then two, and its reason names the exit code', async () => {
  const id = await it.submit({ retry: { maxAttempts: 3 } })
  for (const backOffMs of [1_000, 2_000]) {
    expect(await runOnce(id, exits)).toMatchObject({ state: 'QUEUED' })
    expect((await explainWaiting(it.domain, [id])).get(id)?.reasons[0]).toMatchObject({
      code: 'RESTART_BACKOFF',
      message: expect.stringContaining('The command exited with code 3. The next start is after'),
    })
    expect(await readBackOffMs(id)).toBe(backOffMs)
    await database.moveTime(backOffMs / 2)
    await expect(runOnce(id, exits)).rejects.toThrow('The run was not started')
    await database.moveTime(backOffMs / 2)
  }
  expect(await runOnce(id, exits)).toMatchObject({ state: 'FAILED' })
})
