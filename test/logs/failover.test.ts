import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LogHead, openLog, sealLog } from '../../src/logs/append.ts'
import { createLogTail, type LogTail } from '../../src/logs/follow.ts'
import type { LogCursor } from '../../src/logs/stored.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { Wakeups } from '../../src/platform/wakeup.ts'
import { machineTime } from '../support/clock.ts'
import { openDatabase } from '../support/database.ts'
import { addJob, addUser, finishJob } from '../support/factories.ts'
import { append, out, replaceRun, writeLog } from '../support/log.ts'

/** Tails while the database continues from an earlier moment, like a standby that lacks transactions of the primary. */
let wakeups: Wakeups<'log'>
let tail: LogTail
const log = createLog('error')

const database = await openDatabase()
const { sql } = database.db
const userId = await addUser(sql, 'ada')
beforeEach(() => {
  wakeups = new Wakeups({ address: null, topics: ['log'], clock: systemClock, log })
  tail = createLogTail({ db: database.db, wakeups, clock: systemClock, time: machineTime, log })
})
afterEach(async () => {
  expect(tail.openFollowers()).toBe(0)
  await wakeups.stop()
})

const follow = (options: { jobId: string; run?: number; after?: LogCursor }) =>
  tail.follow({ streams: ['STDOUT'], maxBatchBytes: 65_536, ...options })

/** Returns a function that appends to the log from its stored end. */
async function startPump(runId: string, wake = true) {
  let head: LogHead = await openLog(sql, runId)
  return async (text: string) => {
    head = await append(sql, head, { pieces: [out(text)], position: null, bytesMax: 2 ** 34 })
    if (wake) wakeups.poke('log')
  }
}

/** Creates a job whose log has two lines, and a stream that has read them live. */
async function followed(options: { run?: number } = {}) {
  const { jobId, runId } = await addJob(sql, userId)
  const write = await startPump(runId)
  await write('first\n')
  const stream = follow({ jobId, ...options })
  expect((await stream.next()).value).toMatchObject({ text: 'first\n' })
  const live = stream.next()
  await write('second\n')
  expect((await live).value).toMatchObject({ text: 'second\n', phase: 'LIVE' })
  return { jobId, runId, stream }
}

const restarted = { kind: 'reset', reason: 'RETENTION', cursor: { run: 1, offset: 0 } }

test.each([{}, { run: 1 }])('a tail of a log that became shorter sends a reset and continues (%o)', async (options) => {
  const { runId, stream } = await followed(options)
  await sql.query('DELETE FROM log_chunk WHERE run_id = $1 AND start_offset >= 6', [runId])
  await sql.query('UPDATE run_log SET end_offset = 6 WHERE run_id = $1', [runId])
  wakeups.poke('log')
  expect((await stream.next()).value).toMatchObject(restarted)
  expect((await stream.next()).value).toMatchObject({ text: 'first\n', phase: 'REPLAY' })
  const next = stream.next()
  const write = await startPump(runId)
  await write('second again\n')
  expect((await next).value).toMatchObject({ text: 'second again\n', startOffset: 6, phase: 'LIVE' })
  await stream.return()
})

test('a tail sends a reset if another run now has the same number, even if its log has the same length', async () => {
  const { jobId, stream } = await followed()
  await replaceRun(sql, jobId)
  await writeLog(sql, jobId, [out('first\n'), out('other.\n')])
  wakeups.poke('log')
  expect((await stream.next()).value).toMatchObject(restarted)
  expect((await stream.next()).value).toMatchObject({ text: 'first\nother.\n' })
  await stream.return()
})

test('a reader whose cursor is beyond the log that this process knows waits for the next poll', async () => {
  const { jobId, runId, stream } = await followed()
  const write = await startPump(runId, false)
  await write('third\n')
  const late = follow({ jobId, after: { run: 1, offset: 19 } })
  const next = late.next()
  await sealLog(sql, [runId])
  await finishJob(sql, jobId)
  wakeups.poke('log')
  expect((await next).value).toMatchObject({ kind: 'batch', isFinal: true, startOffset: 19 })
  await Promise.all([stream.return(), late.return()])
})
