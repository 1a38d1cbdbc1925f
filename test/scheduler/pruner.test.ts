import { expect, test } from 'vitest'
import { expireEvents } from '../../src/domain/jobs/retention.ts'
import { openLog, sealLog } from '../../src/logs/append.ts'
import { createLog } from '../../src/platform/log.ts'
import type { Sql } from '../../src/platform/tx.ts'
import { pruneOnce, type Retention } from '../../src/scheduler/pruner.ts'
import { createTestDomain } from '../support/domain.ts'
import { addEvent, addJob, finishJob } from '../support/factories.ts'
import { append, out } from '../support/log.ts'
import { recordLines } from '../support/recorded-lines.ts'

const dayMs = 86_400_000
const monthly: Retention = { jobsMs: null, logsMs: 30 * dayMs, eventsMs: 30 * dayMs, usageMs: null }

async function write(sql: Sql, runId: string, lines: readonly string[]): Promise<void> {
  let head = await openLog(sql, runId)
  for (const line of lines) head = await append(sql, head, { pieces: [out(line)], position: null, bytesMax: 2 ** 30 })
}

async function finish(sql: Sql, { jobId, runId }: { jobId: string; runId: string }): Promise<void> {
  await sealLog(sql, [runId])
  await finishJob(sql, jobId)
}

/** Splits the log of a run into chunks of one byte. */
const cutSql = `
WITH chunk AS (DELETE FROM log_chunk WHERE run_id = $1 RETURNING *)
INSERT INTO log_chunk (run_id, start_offset, end_offset, at, line_state, segments, gap)
SELECT run_id, n, n + 1, at, line_state, '{}', 'LOST' FROM chunk, generate_series(start_offset, end_offset - 1) n`

async function chunksOf(sql: Sql, { runId }: { runId: string }): Promise<number> {
  const [row] = await sql.query<{ count: number }>('SELECT count(*) FROM log_chunk WHERE run_id = $1', [runId])
  return row?.count ?? 0
}

test('one pass of retention deletes month-old logs and events, except the newest event of each job', async () => {
  await using world = await createTestDomain()
  const { database, it } = world
  const { sql } = database.db
  const old = await addJob(sql, it.admin.userId)
  for (let n = 0; n < 3; n++) await addEvent(sql, old.jobId)
  await write(sql, old.runId, ['x'.repeat(20_000)])
  await sql.query(cutSql, [old.runId])
  expect(await chunksOf(sql, old)).toBe(20_000)
  await finish(sql, old)
  const alive = await addJob(sql, it.admin.userId)
  await sql.query('UPDATE run SET scheduled_at = berth_now() WHERE id = $1', [alive.runId])
  await write(sql, alive.runId, ['long ago\n'])
  await it.sequence()
  await database.moveTime(31 * dayMs)
  await write(sql, alive.runId, ['now\n'])
  const recent = await addJob(sql, it.admin.userId)
  await addEvent(sql, recent.jobId)
  await write(sql, recent.runId, ['recent\n'])
  await finish(sql, recent)

  await pruneOnce(it.domain, monthly)
  expect(await Promise.all([old, alive, recent].map((job) => chunksOf(sql, job)))).toEqual([0, 1, 1])
  expect(await sql.query('SELECT start_offset AS from FROM run_log WHERE run_id = $1', [old.runId])).toEqual([
    { from: 20_000 },
  ])
  expect(await sql.query('SELECT seq FROM event WHERE job_id = $1', [old.jobId])).toEqual([{ seq: 3 }])
})

test('small chunks of a log are merged a minute after the job ends', async () => {
  await using world = await createTestDomain()
  const { database, it } = world
  const { sql } = database.db
  const job = await addJob(sql, it.admin.userId)
  await write(sql, job.runId, ['1\n', '2\n', '3\n'])
  await finish(sql, job)
  await pruneOnce(it.domain, monthly)
  expect(await chunksOf(sql, job)).toBe(3)
  await database.moveTime(61_000)
  await pruneOnce(it.domain, monthly)
  expect(await chunksOf(sql, job)).toBe(1)
})

test('a pass of retention visits each finished job once, even if its rows are kept', async () => {
  await using world = await createTestDomain()
  const { database, it } = world
  const { sql } = database.db
  const begin = async () => {
    const job = await addJob(sql, it.admin.userId)
    for (let n = 0; n < 2; n++) await addEvent(sql, job.jobId)
    return job
  }
  const [first, second, late] = [await begin(), await begin(), await begin()]
  await finish(sql, first)
  await database.moveTime(120_000)
  await finish(sql, second)
  await it.sequence()
  const soon = new Date(Date.now() + dayMs)
  expect(await expireEvents(it.domain, soon)).toBe(2)

  // This job finished before the second job, but is committed after the visit of the second job.
  await finish(sql, late)
  await sql.query("UPDATE job SET finished_at = finished_at - interval '30 seconds' WHERE id = $1", [late.jobId])
  // Events after the end show which jobs are visited again.
  for (const { jobId } of [first, second]) await addEvent(sql, jobId)
  await it.sequence()
  await expireEvents(it.domain, soon)
  const left = await sql.query<{ id: string; events: number }>(
    'SELECT job_id AS id, count(*) AS events FROM event GROUP BY job_id',
  )
  expect(new Map(left.map(({ id, events }) => [id, events]))).toEqual(
    new Map([
      [first.jobId, 2],
      [second.jobId, 1],
      [late.jobId, 1],
    ]),
  )

  // The clock was ahead and has been set back.
  await sql.query("UPDATE retention_mark SET finished_at = finished_at + interval '1 year'")
  expect(await expireEvents(it.domain, soon)).toBe(1)
})

test('a failed task of retention does not stop the other tasks, and every failure is reported', async () => {
  await using world = await createTestDomain()
  const { database, it } = world
  const { sql } = database.db
  const old = await addJob(sql, it.admin.userId)
  for (let n = 0; n < 2; n++) await addEvent(sql, old.jobId)
  await finish(sql, old)
  await it.sequence()
  await database.moveTime(31 * dayMs)
  await sql.query('ALTER TABLE log_chunk RENAME TO not_there')
  await sql.query('ALTER TABLE question RENAME TO nor_there')
  const { lines, destination } = recordLines()
  const domain = { ...it.domain, log: createLog('error', { destination }) }
  await expect(pruneOnce(domain, monthly)).rejects.toThrow('question')
  expect(lines).toMatchObject([{ err: { message: expect.stringContaining('log_chunk') } }])
  expect(await sql.query('SELECT seq FROM event WHERE job_id = $1', [old.jobId])).toEqual([{ seq: 2 }])
})
