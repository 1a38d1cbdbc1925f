import { expect, test } from 'vitest'
import { sealLog } from '../../src/logs/append.ts'
import { createLogTail } from '../../src/logs/follow.ts'
import { LogGone, readLog } from '../../src/logs/read.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { machineTime } from '../support/clock.ts'
import { openDatabase } from '../support/database.ts'
import { addJob, addUser, finishJob } from '../support/factories.ts'
import { out, writeLog } from '../support/log.ts'

/** The job is deleted while its output is read. */
const database = await openDatabase()
const userId = await addUser(database.db.sql, 'ada')
const streams = ['STDOUT'] as const

test('a tail sends a reset if its job is deleted during the replay', async () => {
  const { sql } = database.db
  const { jobId, runId } = await addJob(sql, userId)
  await writeLog(sql, jobId, Array(8).fill(out(`${'x'.repeat(99)}\n`.repeat(2_500))))
  await sealLog(sql, [runId])
  await finishJob(sql, jobId)
  const wakeups = { on: () => () => undefined }
  const tail = createLogTail({
    db: database.db,
    wakeups,
    clock: systemClock,
    time: machineTime,
    log: createLog('error'),
  })
  const stream = tail.follow({ jobId, streams, maxBatchBytes: 65_536 })
  expect((await stream.next()).value).toMatchObject({ kind: 'batch' })
  await sql.query('DELETE FROM job WHERE id = $1', [jobId])
  const rest = await Array.fromAsync(stream)
  expect(rest.at(-1)).toMatchObject({ kind: 'reset', reason: 'DELETED', jobIds: [jobId] })
  expect(rest.slice(0, -1).every(({ kind }) => kind === 'batch')).toBe(true)
})

test('a page of a deleted job is null, and does not count as the last page', async () => {
  await expect(readLog(database.db.sql, { jobId: 'job_gone', streams, linesMax: 1 })).rejects.toThrow(LogGone)
})
