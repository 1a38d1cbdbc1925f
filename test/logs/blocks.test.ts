import { expect, test } from 'vitest'
import type { LogChunk } from '../../src/executors/executor.ts'
import { createAppender, sealLog } from '../../src/logs/append.ts'
import { createLogTail } from '../../src/logs/follow.ts'
import { createFreshOutput } from '../../src/logs/fresh-output.ts'
import { createBell } from '../../src/platform/bell.ts'
import { blockBytes, takeBlock } from '../../src/platform/blocks.ts'
import { systemClock as clock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { pumpLog } from '../../src/scheduler/log-pump.ts'
import { machineTime } from '../support/clock.ts'
import { openDatabase } from '../support/database.ts'
import { addJob, addUser, finishJob } from '../support/factories.ts'

const database = await openDatabase()
const userId = await addUser(database.db.sql, 'ada')

const chunks = 80
const never = new AbortController().signal
const deaf = { on: () => () => undefined }
const letterAt = (offset: number) => String.fromCharCode(97 + (Math.floor(offset / blockBytes) % 26))

test('a batch does not change while its reader uses it, even if more output follows', async () => {
  const { db } = database
  const { jobId, runId } = await addJob(db.sql, userId)
  const fresh = createFreshOutput()
  const tail = createLogTail({ db, wakeups: deaf, clock, time: machineTime, log: createLog('silent'), fresh })
  const progress = createBell(clock)
  const size = chunks * blockBytes
  let stored = 0
  let read = 0
  let isHolding = true
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await progress.wait(60_000, never)
  }

  async function* logs(): AsyncGenerator<LogChunk> {
    for (let chunk = 0; chunk < chunks; chunk++) {
      await until(() => stored === chunk * blockBytes && (isHolding || read === stored))
      const bytes = takeBlock().fill(letterAt(chunk * blockBytes))
      bytes[blockBytes - 1] = 10
      yield { stream: 'STDOUT', bytes, next: chunk }
    }
  }

  /** Reads at once, except every 64th batch, which it compares when much more output is stored. */
  async function reading() {
    let batches = 0
    for await (const message of tail.follow({ jobId, streams: ['STDOUT'], maxBatchBytes: 65_536 })) {
      if (message.kind !== 'batch') throw new Error(`A batch was expected, not ${message.kind}`)
      const { startOffset, endOffset } = message
      isHolding = ++batches % 64 === 0
      progress.ring()
      if (isHolding) await until(() => stored >= Math.min(endOffset + 12 * blockBytes, size))
      const letter = letterAt(startOffset)
      expect(message.text.replace('\n', letter)).toBe(letter.repeat(endOffset - startOffset))
      isHolding = false
      read = endOffset
      progress.ring()
      if (read === size) return
    }
  }

  const onStored = (from: number, told: Parameters<typeof fresh.tell>[0]['chunks']) => {
    const sent = fresh.tell({ jobId, run: 1, runId, from, chunks: told })
    stored = told.at(-1)?.end ?? stored
    progress.ring()
    return sent
  }
  const reader = reading()
  const executor = { logs }
  const append = createAppender(db.sql)
  await pumpLog({ sql: db.sql, append, executor, runId, isFresh: true, handle: '', bytesMax: 2 ** 34, onStored }, never)
  await reader
  expect(read).toBe(size)
  await sealLog(db.sql, [runId])
  await finishJob(db.sql, jobId)
})
