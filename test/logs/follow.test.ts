import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LogHead, openLog, sealLog } from '../../src/logs/append.ts'
import type { Chunk, LogPiece } from '../../src/logs/chunk.ts'
import { createLogTail, type LogTail } from '../../src/logs/follow.ts'
import { createFreshOutput } from '../../src/logs/fresh-output.ts'
import type { LogStream } from '../../src/logs/lines.ts'
import { expireLogs, mergeChunks } from '../../src/logs/merge-chunks.ts'
import { readLog } from '../../src/logs/read.ts'
import { logEnd } from '../../src/logs/stored.ts'
import type { FollowOptions, TailMessage } from '../../src/logs/tail-message.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import type { Sql } from '../../src/platform/tx.ts'
import { Wakeups } from '../../src/platform/wakeup.ts'
import { createFakeClock, machineTime, measureHeartbeat } from '../support/clock.ts'
import { openDatabase } from '../support/database.ts'
import { addJob, addRun, addUser, endRun, finishJob } from '../support/factories.ts'
import { append, err, out } from '../support/log.ts'
import { measureHeldBytes } from '../support/memory.ts'
import { runDuringOutage } from '../support/outage.ts'
import { until } from '../support/until.ts'

let wakeups: Wakeups<'log'>
let tail: LogTail
const log = createLog('error')
const streams: LogStream[] = ['STDOUT', 'STDERR']
const all: LogStream[] = ['STDOUT', 'STDERR', 'SYSTEM']

const database = await openDatabase()
const userId = await addUser(database.db.sql, 'ada')
beforeEach(() => {
  wakeups = new Wakeups({ address: null, topics: ['log'], clock: systemClock, log })
  tail = createLogTail({ db: database.db, wakeups, clock: systemClock, time: machineTime, log })
})
afterEach(async () => {
  expect(tail.openFollowers()).toBe(0)
  await wakeups.stop()
})

/** Creates a job with one run, whose log is written as a runner does. */
async function newJob() {
  const { sql } = database.db
  const { jobId, runId } = await addJob(sql, userId)
  const pump = await startPump(runId)
  const finish = async () => {
    await pump.sealLog()
    await finishJob(sql, jobId)
    wakeups.poke('log')
  }
  return { jobId, runId, ...pump, finish }
}

async function startPump(runId: string) {
  const { sql } = database.db
  let head: LogHead = await openLog(sql, runId)
  return {
    async write(...pieces: LogPiece[]) {
      head = await append(sql, head, { pieces, position: null, bytesMax: 2 ** 34 })
      wakeups.poke('log')
    },
    async sealLog() {
      await sealLog(sql, [runId])
      wakeups.poke('log')
    },
  }
}

const follow = (options: Partial<FollowOptions> & { jobId: string }) =>
  tail.follow({ streams, maxBatchBytes: 65_536, ...options })

const textOf = (messages: readonly TailMessage[]) =>
  messages.map((message) => (message.kind === 'batch' ? message.text : '')).join('')
const finals = (messages: readonly TailMessage[]) =>
  messages.filter((message) => message.kind === 'batch' && message.isFinal).length

async function nextBatch(stream: AsyncGenerator<TailMessage, void, void>) {
  const { value } = await stream.next()
  if (value?.kind !== 'batch') throw new Error(`A batch was expected, not ${value?.kind}`)
  return value
}

test('a tail replays the log, follows it, continues with the next run, and ends with one final batch', async () => {
  const { jobId, runId, write, sealLog: sealFirst } = await newJob()
  await write(out('stored\n'))
  const stream = follow({ jobId })
  expect(await nextBatch(stream)).toMatchObject({ text: 'stored\n', phase: 'REPLAY', startOffset: 0, endOffset: 7 })
  const rest = Array.fromAsync(stream)
  await write(err('live\n'))
  await sealFirst()
  await endRun(database.db.sql, runId)
  const second = await addRun(database.db.sql, { jobId, number: 2 })
  const pump = await startPump(second)
  await pump.write(out('again\n'))
  await pump.sealLog()
  await finishJob(database.db.sql, jobId)
  wakeups.poke('log')
  const messages = await rest
  expect(textOf(messages)).toBe('live\nagain\n')
  expect(messages.filter(({ kind }) => kind === 'run')).toMatchObject([{ run: 2, cursor: { run: 2, offset: 0 } }])
  expect(finals(messages)).toBe(1)
  expect(messages.at(-1)).toMatchObject({ kind: 'batch', isFinal: true, phase: 'LIVE' })
})

test('a tail reads the output of its process without a query, and queries only after it missed output', async () => {
  const fresh = createFreshOutput()
  const deaf: Pick<Wakeups<'log'>, 'on'> = { on: () => () => true }
  let looks = 0
  const sql: Sql = {
    query: (text, values, name) => {
      if (name !== 'append_logs') looks += 1
      return database.db.sql.query(text, values, name)
    },
  }
  const db = { ...database.db, sql }
  // The next poll is far away, so only fresh output wakes the reader.
  const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms === 1_000 ? 60_000 : ms, signal) }
  const near = createLogTail({ db, wakeups: deaf, clock, time: machineTime, log, fresh })
  const { jobId, runId } = await addJob(database.db.sql, userId)
  let head = await append(sql, await openLog(sql, runId), { pieces: [out('one\n')], position: null, bytesMax: 2 ** 30 })
  const write = async (text: string, isTold = true) => {
    const from = head.end
    const onStored = (chunks: readonly Chunk[]) => isTold && fresh.tell({ jobId, run: 1, runId, from, chunks })
    head = await append(sql, head, { pieces: [out(text)], position: null, bytesMax: 2 ** 30, onStored })
  }
  const stream = near.follow({ jobId, streams, maxBatchBytes: 65_536 })
  expect(await nextBatch(stream)).toMatchObject({ text: 'one\n' })
  const second = nextBatch(stream)
  looks = 0
  await write('two\n')
  expect(await second).toMatchObject({ text: 'two\n', phase: 'LIVE', startOffset: 4, endOffset: 8 })
  expect(looks).toBe(0)
  await write('missed\n', false)
  await write('three\n')
  expect(await nextBatch(stream)).toMatchObject({ text: 'missed\nthree\n' })
  await stream.return()
})

test('a tail continues after a byte that is not UTF-8, and has the same text as a page', async () => {
  const { jobId, write, finish } = await newJob()
  const stream = follow({ jobId })
  await write(out(Buffer.concat([Buffer.from([0xe9]), Buffer.alloc(70_000, 'x')])))
  await finish()
  const messages = await Array.fromAsync(stream)
  const { text } = await readLog(database.db.sql, { jobId, streams, linesMax: 5_000 })
  expect(textOf(messages) === text).toBe(true)
  expect(messages.at(-1)).toMatchObject({ kind: 'batch', endOffset: 70_001, isFinal: true })
})

test('the tail of a closed job without further output ends with an empty final batch', async () => {
  const { jobId } = await addJob(database.db.sql, userId)
  await finishJob(database.db.sql, jobId)
  expect(await Array.fromAsync(follow({ jobId }))).toMatchObject([
    { kind: 'batch', text: '', isFinal: true, phase: 'REPLAY' },
  ])
  const { write, finish, jobId: other } = await newJob()
  await write(out('x\n'))
  await finish()
  const after = await logEnd(database.db.sql, other)
  expect(await Array.fromAsync(follow({ jobId: other, after }))).toMatchObject([
    { text: '', startOffset: 2, isFinal: true },
  ])
  expect(await Array.fromAsync(follow({ jobId: other }))).toMatchObject([{ text: 'x\n', isFinal: true }])
})

test('the tail of one run is final when that run is sealed', async () => {
  const { jobId, runId, write, sealLog: sealFirst } = await newJob()
  await write(out('first\n'))
  await sealFirst()
  await endRun(database.db.sql, runId)
  const second = await startPump(await addRun(database.db.sql, { jobId, number: 2 }))
  await second.write(out('second\n'))
  expect(await Array.fromAsync(follow({ jobId, run: 1 }))).toMatchObject([{ text: 'first\n', isFinal: true }])
  const stream = follow({ jobId, run: 2 })
  expect(await nextBatch(stream)).toMatchObject({ run: 2, text: 'second\n', isFinal: false })
  await stream.return()
})

test('an incomplete line is sent after a short time, without split characters', async () => {
  const { jobId, write, finish } = await newJob()
  const euro = Buffer.from('€')
  await write(out('done\nName? '), out(euro.subarray(0, 2)))
  const stream = follow({ jobId })
  expect(await nextBatch(stream)).toMatchObject({ text: 'done\n', endOffset: 5 })
  const partial = await nextBatch(stream)
  expect(partial).toMatchObject({ text: 'Name? ', endOffset: 11 })
  expect(partial.lines).toMatchObject([{ number: 2, text: 'Name? ', truncated: true }])
  const next = stream.next()
  await write(out(euro.subarray(2)), out('\n'))
  expect((await next).value).toMatchObject({ text: '€\n', lines: [{ number: 2, text: '€', truncated: false }] })
  await finish()
  expect(finals(await Array.fromAsync(stream))).toBe(1)
})

test('an incomplete line is sent even if timers fire too early', async () => {
  let looks = 0
  const uneven: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() - (looks++ % 5) }
  tail = createLogTail({ db: database.db, wakeups, clock: uneven, time: machineTime, log })
  for (let i = 0; i < 20; i++) {
    const { jobId, write, finish } = await newJob()
    await write(out('Name? '))
    const stream = follow({ jobId })
    expect(await nextBatch(stream)).toMatchObject({ text: 'Name? ' })
    await finish()
    await stream.return()
  }
})

test('a tail reports gaps and removed output', async () => {
  const { jobId, write, finish } = await newJob()
  await write(out('old\n'))
  await database.db.sql.query(
    `UPDATE log_chunk SET at = at - interval '40 days' WHERE run_id IN (SELECT run_id FROM run_log WHERE job_id = $1)`,
    [jobId],
  )
  await write({ gap: 'LOST', bytes: 10 }, out('new\n'))
  expect(await expireLogs(database.db.sql, [jobId], new Date(machineTime.nowMs() - 86_400_000))).toBe(1)
  await finish()
  const messages = await Array.fromAsync(follow({ jobId }))
  expect(messages).toMatchObject([
    { kind: 'gap', reason: 'RETENTION', startOffset: 0, endOffset: 4 },
    { kind: 'gap', reason: 'LOST', startOffset: 4, endOffset: 14 },
    { kind: 'batch', text: 'new\n', isFinal: true },
  ])
})

test('a tail whose cursor is beyond the log sends a reset and starts from the beginning', async () => {
  const { jobId, write, finish } = await newJob()
  await write(out('restored\n'))
  await finish()
  expect(await Array.fromAsync(follow({ jobId, after: { run: 1, offset: 1_000 } }))).toMatchObject([
    { kind: 'reset', reason: 'RETENTION', jobIds: [], cursor: { run: 1, offset: 0 } },
    { kind: 'batch', text: 'restored\n', isFinal: true },
  ])
})

test('the tail of a deleted job sends a reset and completes', async () => {
  const { jobId, write } = await newJob()
  await write(out('x\n'))
  const stream = follow({ jobId })
  await nextBatch(stream)
  await database.db.sql.query('DELETE FROM job WHERE id = $1', [jobId])
  wakeups.poke('log')
  expect(await Array.fromAsync(stream)).toMatchObject([
    { kind: 'reset', reason: 'DELETED', jobIds: [jobId], cursor: { run: 1, offset: 2 } },
  ])
})

test('a tail without wake-ups receives the same output by polling', async () => {
  const deaf = new Wakeups({ address: null, topics: ['log'], clock: systemClock, log })
  const polling = createLogTail({ db: database.db, wakeups: deaf, clock: systemClock, time: machineTime, log })
  const { jobId, write, finish } = await newJob()
  const reading = Array.fromAsync(polling.follow({ jobId, streams, maxBatchBytes: 65_536 }))
  await write(out('unheard\n'))
  await finish()
  expect(textOf(await reading)).toBe('unheard\n')
  await deaf.stop()
})

test('an outage of the database only delays a tail', async () => {
  const silent = createLogTail({
    db: database.db,
    wakeups,
    clock: systemClock,
    time: machineTime,
    log: createLog('silent'),
  })
  const { jobId, write, finish } = await newJob()
  await write(out('kept\n'))
  await finish()
  const messages = await runDuringOutage(database, { tables: 'run_log, log_chunk', failures: 2 }, () =>
    Array.fromAsync(silent.follow({ jobId, streams, maxBatchBytes: 65_536 })),
  )
  expect(textOf(messages)).toBe('kept\n')
})

test('a silent tail gets heartbeats', async () => {
  const aMoment = new Date('2026-01-01T12:00:00Z')
  const clock = createFakeClock()
  const quiet = createLogTail({ db: database.db, wakeups, clock, time: { nowMs: () => aMoment.getTime() }, log })
  const { jobId, write } = await newJob()
  await write(out('x\n'))
  const stream = quiet.follow({ jobId, streams, maxBatchBytes: 65_536 })
  await nextBatch(stream)
  let beat: IteratorResult<TailMessage, void> | undefined
  void stream.next().then((result) => {
    beat = result
  })
  await until(
    async () => {
      await clock.advance(1_000)
      return beat
    },
    { what: 'a heartbeat comes' },
  )
  expect(beat?.value).toMatchObject({ kind: 'heartbeat', cursor: { run: 1, offset: 2 }, at: aMoment })
  await stream.return()
  expect(quiet.openFollowers()).toBe(0)
  await until(() => clock.sleeping === 0, { what: 'nothing waits any more' })
})

test('a silent tail wakes up once every 15 s, for its heartbeat', async () => {
  const follow = { ...(await newJob()), streams, maxBatchBytes: 65_536 }
  const beat = await measureHeartbeat((own) => createLogTail({ db: database.db, wakeups, ...own, log }).follow(follow))
  expect(beat).toEqual({ afterMs: 15_000, sleeps: [14_999.5] })
})

test('closed tails release all resources, and the number of statements does not depend on the number of readers', async () => {
  const { jobId, write, finish } = await newJob()
  const counted = countStatements()
  const open = async (count: number) => {
    const readers = Array.from({ length: count }, () => follow({ jobId, after: { run: 1, offset: 0 } }))
    const reading = readers.map((reader) => reader.next())
    await until(() => tail.openFollowers() === count, { what: 'all have begun' })
    return { readers, reading }
  }
  const many = await open(100)
  await until(() => counted.quiet(), { what: 'all wait' })
  const before = counted.count()
  await write(out('to all\n'))
  const texts = await Promise.all(many.reading.map(async (next) => (await next).value))
  for (const message of texts) expect(message).toMatchObject({ text: 'to all\n' })
  expect(counted.count() - before).toBeLessThan(20)
  counted.stop()
  const waiting = many.readers.map((reader) => reader.next())
  await Promise.all(many.readers.map((reader) => reader.return()))
  await Promise.all(waiting)
  await finish()
})

/** Counts the statements that the pool has started. */
function countStatements() {
  const { pool } = database.db
  let [count, lastAt] = [0, performance.now()]
  const acquired = () => {
    count += 1
    lastAt = performance.now()
  }
  const isIdle = () => pool.waitingCount === 0 && pool.idleCount === pool.totalCount
  pool.on('acquire', acquired)
  return {
    count: () => count,
    quiet: () => count > 0 && isIdle() && performance.now() - lastAt > 100,
    stop: () => pool.off('acquire', acquired),
  }
}

test('stalled readers need less than 1 MiB each and do not delay others', async () => {
  const { jobId, write, finish } = await newJob()
  const part = `${'m'.repeat(1_023)}\n`.repeat(256)
  const parts = 32
  for (let count = 0; count < parts; count++) await write(out(part))
  const before = measureHeldBytes()
  const stalled = Array.from({ length: 40 }, () => follow({ jobId }))
  for (const reader of stalled) await nextBatch(reader)
  expect((measureHeldBytes() - before) / stalled.length).toBeLessThan(1_048_576)
  await finish()
  let quick = 0
  for await (const message of follow({ jobId })) quick += message.kind === 'batch' ? message.text.length : 0
  expect(quick).toBe(parts * part.length)
  const [first, ...others] = stalled
  const rest = await Array.fromAsync(first ?? follow({ jobId }))
  expect(textOf(rest).length).toBe(parts * part.length - 65_536)
  expect(finals(rest)).toBe(1)
  await Promise.all(others.map((reader) => reader.return()))
})

test('readers get the same output while small chunks are merged', async () => {
  const { jobId, runId, write, finish } = await newJob()
  for (let part = 0; part < 40; part++) await write(out(`line ${part}\npart`), err(`e${part}`))
  await finish()
  const page = () => readLog(database.db.sql, { jobId, streams: all, linesMax: 5_000 })
  const strip = ({ text, lines, ...rest }: Awaited<ReturnType<typeof page>>) => ({
    ...rest,
    text,
    lines: lines.map(({ at: _, ...line }) => line),
  })
  const before = strip(await page())
  expect(await mergeChunks(database.db, runId)).toBeGreaterThan(30)
  expect(strip(await page())).toEqual(before)
  expect(await mergeChunks(database.db, runId)).toBe(0)
})
