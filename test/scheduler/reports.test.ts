import { beforeEach, expect, test } from 'vitest'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import { readClosure } from '../../src/domain/inside/closures.ts'
import { visitFinished } from '../../src/domain/jobs/finished.ts'
import type { Observation } from '../../src/executors/executor.ts'
import { pruneOnce } from '../../src/scheduler/pruner.ts'
import { createReporter, type Reporter } from '../../src/scheduler/reports.ts'
import { openTestDomainForEach } from '../support/domain.ts'
import { createLeader, type TestLeader } from '../support/leader.ts'

/** Reports of executors that come late or twice. */
const { database, it, sql } = openTestDomainForEach()
let leader: TestLeader
let reporter: Reporter

beforeEach(async () => {
  leader = await createLeader(it.domain, 'sim')
  reporter = createReporter(it.domain, leader, 3)
})

const succeeded: Observation = { state: 'ended', exitCode: 0, signal: null, stopped: false }

async function report(jobId: string, number: number, observation: Observation) {
  const [run] = await sql<{ id: string }>('SELECT id FROM run WHERE job_id = $1 AND number = $2', [jobId, number])
  return reporter({ runId: run?.id ?? '', jobId, number, report: { kind: 'seen', observation } })
}
const jobOf = async (id: string) =>
  (await sql('SELECT state, run_number AS run, exit_code AS "exitCode", version FROM job WHERE id = $1', [id]))[0]
const runsOf = (id: string) => sql('SELECT number, state FROM run WHERE job_id = $1 ORDER BY number', [id])
const lateOf = (id: string) =>
  sql("SELECT run, message FROM event WHERE job_id = $1 AND type = 'LATE_REPORT' ORDER BY seq", [id])

test('example 76: a report on run 1 after run 2 exists is stored as an event, and changes nothing else', async () => {
  const id = await it.submit({ restartable: true })
  await leader.tick()
  await report(id, 1, { state: 'running' })
  expect(await report(id, 1, { state: 'gone' })).toBe('QUEUED')
  await leader.tick()
  expect(await report(id, 2, { state: 'running' })).toBe('RUNNING')
  const before = await jobOf(id)
  expect(await report(id, 1, succeeded)).toBeNull()
  expect(await report(id, 1, { state: 'running' })).toBeNull()
  expect(await jobOf(id)).toEqual({ ...before, version: Number(before?.['version']) + 1 })
  expect(await runsOf(id)).toEqual([
    { number: 1, state: 'INTERRUPTED' },
    { number: 2, state: 'RUNNING' },
  ])
  expect(await lateOf(id)).toEqual([{ run: 1, message: 'Run 1 was over when it was reported as ended' }])
  expect(await sql('SELECT 1 FROM allocation')).toHaveLength(1)
})

test('a run that is stored as lost marks its node LOST in the same transaction, and only once', async () => {
  const id = await it.submit({ restartable: true })
  await leader.tick()
  await report(id, 1, { state: 'running' })
  const [run] = await sql<{ id: string }>('SELECT id FROM run WHERE job_id = $1', [id])
  const runId = run?.id ?? ''
  const lost = { runId, jobId: id, number: 1, report: { kind: 'lost', info: 'The node is unreachable' } } as const
  expect(await reporter(lost)).toBe('QUEUED')
  const lostAt = () => sql('SELECT lost_at IS NOT NULL AS "isLost" FROM run WHERE id = $1', [runId])
  expect(await lostAt()).toEqual([{ isLost: true }])
  const nodesOf = () =>
    sql('SELECT DISTINCT state::text FROM node WHERE name IN (SELECT unnest(nodes) FROM run WHERE id = $1)', [runId])
  expect(await nodesOf()).toEqual([{ state: 'LOST' }])
  await sql('UPDATE run SET lost_at = NULL WHERE id = $1', [runId])
  expect(await reporter(lost)).toBeNull()
  expect(await lostAt()).toEqual([{ isLost: false }])
})

test('the next retention pass deletes the events of a job whose end was reported months late', async () => {
  const dayMs = 86_400_000
  const retention = { jobsMs: null, logsMs: 30 * dayMs, eventsMs: 30 * dayMs, usageMs: null }
  const [away, other] = [await it.submit(), await it.submit()]
  await leader.tick()
  const endedAt = new Date(it.time.nowMs())
  await report(away, 1, { state: 'running' })
  await database.moveTime(31 * dayMs)
  await report(other, 1, succeeded)
  await it.sequence()
  await database.moveTime(31 * dayMs)
  await it.time.look()
  await pruneOnce(it.domain, retention)
  expect(await report(away, 1, { ...succeeded, finishedAt: endedAt })).toBe('SUCCEEDED')
  await it.sequence()
  await pruneOnce(it.domain, retention)
  const left = await sql('SELECT job_id AS id, count(*)::int AS events FROM event GROUP BY 1')
  expect(new Map(left.map(({ id, events }) => [id, events]))).toEqual(
    new Map([
      [away, 1],
      [other, 1],
    ]),
  )
})

test.each([
  ['the first pass', false],
  ['a later pass', true],
])('a late end that is reported while %s visits other jobs is visited by the next pass', async (_, mark) => {
  const dayMs = 86_400_000
  const [away, other] = [await it.submit(), await it.submit()]
  await leader.tick()
  const endedAt = new Date(it.time.nowMs())
  await report(away, 1, { state: 'running' })
  await database.moveTime(dayMs)
  await report(other, 1, succeeded)
  await it.time.look()
  const visited: string[] = []
  const pass = () =>
    visitFinished(it.domain, {
      task: 'EXPIRE_EVENTS',
      until: new Date(it.time.nowMs()),
      async visit(ids) {
        visited.push(...ids)
        if (!ids.includes(away)) await report(away, 1, { ...succeeded, finishedAt: endedAt })
        return true
      },
    })
  if (mark) await sql("INSERT INTO retention_mark VALUES ('EXPIRE_EVENTS', $1)", [new Date(endedAt.getTime() - dayMs)])
  await pass()
  expect(visited.splice(0)).toEqual([other])
  await pass()
  expect(visited).toContain(away)
})

test('the waiting reason of a run is shown until the backend reports no reason', async () => {
  const id = await it.submit()
  await leader.tick()
  const infos = async () =>
    (await sql('SELECT j.state_info AS job, r.state_info AS run FROM job j JOIN run r ON r.job_id = j.id'))[0]
  await report(id, 1, { state: 'starting', info: 'Resources' })
  expect(await infos()).toEqual({ job: 'Resources', run: 'Resources' })
  await report(id, 1, { state: 'starting', nativeId: '7' })
  expect(await infos()).toEqual({ job: null, run: null })
})

test('the digest of the image is stored with the start, or when the backend reports it', async () => {
  const digests = () => sql('SELECT image_digest AS digest FROM run ORDER BY created_at DESC LIMIT 1')
  for (const first of [{ imageDigest: 'sha256:1' }, {}]) {
    const id = await it.submit()
    await leader.tick()
    await report(id, 1, { state: 'running', ...first })
    await report(id, 1, { state: 'running', imageDigest: 'sha256:1' })
    expect(await digests()).toEqual([{ digest: 'sha256:1' }])
    await report(id, 1, succeeded)
  }
})

test('a report that changes no job sends no wake-up', async () => {
  const id = await it.submit()
  await leader.tick()
  const woken: string[] = []
  for (const topic of ['event', 'queue', 'log'] as const) it.domain.wakeups.on(topic, () => woken.push(topic))
  await report(id, 1, { state: 'starting', nativeId: '7', info: 'Resources' })
  expect(woken).toEqual([])
  await report(id, 1, { state: 'running' })
  expect(woken.toSorted()).toEqual(['event', 'log', 'queue'])
  await report(id, 1, succeeded)
  await report(id, 1, succeeded)
  expect(woken.filter((topic) => topic === 'event')).toHaveLength(3)
})

test('example 76: an end reported twice, concurrently or later, ends the job once', async () => {
  const id = await it.submit()
  await leader.tick()
  await report(id, 1, { state: 'running' })
  const answers = await Promise.all([report(id, 1, succeeded), report(id, 1, succeeded)])
  expect(answers.toSorted()).toEqual(['SUCCEEDED', null])
  const failed: Observation = { state: 'ended', exitCode: 3, signal: null, stopped: false }
  expect(await report(id, 1, failed)).toBeNull()
  expect(await jobOf(id)).toMatchObject({ state: 'SUCCEEDED', run: 1, exitCode: 0 })
  expect(await lateOf(id)).toHaveLength(2)
  const ends = await sql("SELECT 1 FROM event WHERE job_id = $1 AND to_state = 'SUCCEEDED'", [id])
  expect(ends).toHaveLength(1)
  expect(await cancelJob(it.domain, it.admin, { jobId: id })).toMatchObject({ changed: false })
})

test('an unsent closure of a lost run is stored with the end of the run, and passed to the next run', async () => {
  const id = await it.submit({ resumable: true })
  await leader.tick()
  await report(id, 1, { state: 'running' })
  expect(await report(id, 1, { state: 'gone', unsentClosure: '{"step":3}' })).toBe('QUEUED')
  expect(await readClosure(database.db.sql, id)).toBe('{"step":3}')
  await leader.tick()
  await report(id, 1, { state: 'gone', unsentClosure: '{"step":1}' })
  expect(await readClosure(database.db.sql, id)).toBe('{"step":3}')
  await report(id, 2, { state: 'running' })
  expect(await report(id, 2, { ...succeeded, unsentClosure: '{"step":4}' })).toBe('SUCCEEDED')
  expect(await readClosure(database.db.sql, id)).toBe('{"step":4}')
})
