import { expect, test } from 'vitest'
import type { LogChunk } from '../../src/executors/executor.ts'
import { createAppender } from '../../src/logs/append.ts'
import type { Chunk } from '../../src/logs/chunk.ts'
import { createLogTail } from '../../src/logs/follow.ts'
import { createFreshOutput } from '../../src/logs/fresh-output.ts'
import { createBell } from '../../src/platform/bell.ts'
import { blockBytes, takeBlock } from '../../src/platform/blocks.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import type { Db } from '../../src/platform/db.ts'
import { createLog } from '../../src/platform/log.ts'
import { pumpLog } from '../../src/scheduler/log-pump.ts'
import { machineTime } from '../support/clock.ts'
import { openDatabase } from '../support/database.ts'
import { addJob, addUser } from '../support/factories.ts'

/** A pump and a reader in the same process: the reader takes chunks of the pump from the ring. */

const database = await openDatabase()
const userId = await addUser(database.db.sql, 'ada')

const size = 80 * blockBytes
/** Up to this size, each chunk is read before the next one is written. */
const stepsBytes = 4 * blockBytes
const patienceMs = 50
const never = new AbortController().signal

/** Pumps to the end while a reader reads. `taken` is called for each batch after the first ones. */
async function pumped({ clock, taken }: { clock: Clock; taken: (pumping: Promise<void>) => Promise<void> }) {
  const { jobId, runId } = await addJob(database.db.sql, userId)
  let pages = 0
  const { db } = database
  const counting = (...[text, values, name]: Parameters<Db['sql']['query']>) => {
    if (name === 'log_page' && read >= stepsBytes) pages += 1
    return db.sql.query(text, values, name)
  }
  const counted = { ...db, sql: { query: counting as Db['sql']['query'] } }
  const fresh = createFreshOutput()
  const log = createLog('silent')
  const wakeups = { on: () => () => undefined }
  const tail = createLogTail({ db: counted, wakeups, clock, time: machineTime, log, fresh })
  const progress = createBell(systemClock)
  let read = 0

  async function* logs(): AsyncGenerator<LogChunk> {
    for (let at = 0; at < size; at += blockBytes) {
      while (at <= stepsBytes && read < at) await progress.wait(60_000, never)
      const bytes = takeBlock().fill('x')
      bytes[blockBytes - 1] = 10
      yield { stream: 'STDOUT', bytes, next: at }
    }
  }
  const onStored = (from: number, chunks: readonly Chunk[]) => fresh.tell({ jobId, run: 1, runId, from, chunks })
  const append = createAppender(db.sql)
  const options = {
    sql: db.sql,
    append,
    executor: { logs },
    runId,
    isFresh: true,
    handle: '',
    bytesMax: 2 ** 34,
    onStored,
  }
  const pumping = pumpLog(options, never)
  for await (const message of tail.follow({ jobId, streams: ['STDOUT'], maxBatchBytes: 65_536 })) {
    if (message.kind !== 'batch') throw new Error(`A batch was expected, not ${message.kind}`)
    if (read >= stepsBytes) await taken(pumping)
    read = message.endOffset
    progress.ring()
    if (read === size) break
  }
  await pumping
  return pages
}

test('a pump waits for an active reader, which then reads without a query', async () => {
  // Only the reader can end the wait of the pump.
  const sleep: Clock['sleep'] = (ms, signal) => systemClock.sleep(ms === patienceMs ? 60_000 : ms, signal)
  const clock = { monotonicMs: () => 0, sleep }
  expect(await pumped({ clock, taken: () => systemClock.sleep(1) })).toBe(0)
})

test('a pump soon stops waiting for a stalled reader', async () => {
  let nowMs = 0
  let waits = 0
  const sleep: Clock['sleep'] = async (ms, signal) => {
    if (ms !== patienceMs) return systemClock.sleep(ms, signal)
    waits += 1
    nowMs += ms
  }
  const clock = { monotonicMs: () => nowMs, sleep }
  await pumped({ clock, taken: (pumping) => pumping })
  // After these waits, the reader's chunk is no longer in the ring.
  expect(waits).toBeLessThanOrEqual(8)
})
