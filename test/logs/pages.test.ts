import { expect, test } from 'vitest'
import { createLogTail } from '../../src/logs/follow.ts'
import { mergeChunks } from '../../src/logs/merge-chunks.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { Wakeups } from '../../src/platform/wakeup.ts'
import { machineTime } from '../support/clock.ts'
import { openDatabase } from '../support/database.ts'
import { addUser, storeLog } from '../support/factories.ts'
import { out } from '../support/log.ts'
import { runDuringOutage } from '../support/outage.ts'

/** Logs of many pages. A reader reads the next page while it sends the last one. */

const database = await openDatabase()
const userId = await addUser(database.db.sql, 'ada')

const lines = Array.from(
  { length: 40_000 },
  (_, n) => `line ${n} of a log that is longer than a page of the database\n`,
)
const text = lines.join('')

/** Stores a closed log, in chunks with this number of lines. */
function storedJob(linesPerChunk: number) {
  const chunkAt = (at: number) => lines.slice(at * linesPerChunk, (at + 1) * linesPerChunk).join('')
  const appends = Array.from({ length: Math.ceil(lines.length / linesPerChunk) }, (_, at) => [out(chunkAt(at))])
  return storeLog(database.db.sql, userId, [appends])
}

/** Reads the text. `meanwhile` is called after the first part. */
async function read(jobId: string, meanwhile?: () => Promise<unknown>): Promise<string> {
  const log = createLog('silent')
  const wakeups = new Wakeups({ address: null, topics: ['log'], clock: systemClock, log })
  const tail = createLogTail({ db: database.db, wakeups, clock: systemClock, time: machineTime, log })
  const parts: string[] = []
  for await (const message of tail.follow({ jobId, streams: ['STDOUT'], maxBatchBytes: 65_536 })) {
    if (message.kind !== 'batch') throw new Error(`A batch was expected, not ${message.kind}`)
    parts.push(message.text)
    if (parts.length === 3) await meanwhile?.()
  }
  await wakeups.stop()
  return parts.join('')
}

test('a reader gets every byte over many pages', async () => {
  const { jobId } = await storedJob(4_000)
  expect((await read(jobId)) === text).toBe(true)
})

test('chunks may be merged while a reader turns pages', async () => {
  const { jobId, runId } = await storedJob(100)
  expect((await read(jobId, () => mergeChunks(database.db, runId))) === text).toBe(true)
})

test('a page that failed to load can be read again', async () => {
  const { jobId } = await storedJob(4_000)
  const outage = { tables: 'log_chunk', failures: 2 }
  expect((await runDuringOutage(database, outage, () => read(jobId))) === text).toBe(true)
})
