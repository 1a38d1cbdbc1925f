import { expect, test } from 'vitest'
import { LogMoved, openLog, sealLog } from '../../src/logs/append.ts'
import { logChunkBytesMax } from '../../src/logs/chunk.ts'
import { mergeChunks } from '../../src/logs/merge-chunks.ts'
import { readLog } from '../../src/logs/read.ts'
import { openDatabase } from '../support/database.ts'
import { addJob, addRun, addUser, endRun } from '../support/factories.ts'
import { append, err, out } from '../support/log.ts'

const database = await openDatabase()
const userId = await addUser(database.db.sql, 'ada')

const bytesMax = 2 ** 34

async function newLog() {
  const { sql } = database.db
  const { jobId, runId } = await addJob(sql, userId)
  const head = await openLog(sql, runId)
  const read = () => readLog(sql, { jobId, streams: ['STDOUT', 'STDERR', 'SYSTEM'], linesMax: 5_000 })
  return { sql, jobId, runId, head, read }
}

test('reopening a log returns its current position', async () => {
  const { sql, runId, head } = await newLog()
  expect(head).toEqual({ runId, end: 0, lineState: [1, 0, 0, 0], position: null, sealed: false, isStored: false })
  const next = await append(sql, head, { pieces: [out('one\ntw'), err('x')], position: { out: 6, err: 1 }, bytesMax })
  expect(await openLog(sql, runId)).toEqual(next)
  expect(next).toMatchObject({ end: 7, lineState: [4, 2, 3, 0], position: { out: 6, err: 1 } })
})

test('of several pumps that append at the same position, only one writes', async () => {
  const { sql, head, read } = await newLog()
  const pumps = Array.from({ length: 12 }, (_, pump) =>
    append(sql, head, { pieces: [out(`pump ${pump}\n`)], position: pump, bytesMax }),
  )
  const results = await Promise.allSettled(pumps)
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const result of results) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(LogMoved)
  expect((await read()).lines).toHaveLength(1)
})

test('a sealed log accepts no output, and has no incomplete lines', async () => {
  const { sql, runId, head } = await newLog()
  const next = await append(sql, head, { pieces: [out('a\nb')], position: null, bytesMax })
  await sealLog(sql, [runId])
  await sealLog(sql, [runId])
  await expect(append(sql, next, { pieces: [out('c')], position: null, bytesMax })).rejects.toBeInstanceOf(LogMoved)
  expect(await openLog(sql, runId)).toMatchObject({ sealed: true, lineState: [3, 0, 0, 0] })
})

test('a log cannot begin after its run has ended; a log that has begun accepts output until it is sealed', async () => {
  const [late, early] = [await newLog(), await newLog()]
  const { sql } = late
  const next = await append(sql, early.head, { pieces: [out('a\n')], position: null, bytesMax })
  for (const { runId } of [late, early]) await endRun(sql, runId)
  const more = { pieces: [out('b\n')], position: null, bytesMax }
  await expect(append(sql, late.head, more)).rejects.toBeInstanceOf(LogMoved)
  await append(sql, next, more)
  expect((await early.read()).lines.map(({ text }) => text)).toEqual(['a', 'b'])
  expect(await sql.query('SELECT 1 FROM log_chunk WHERE run_id = $1', [late.runId])).toEqual([])
})

test('large pieces are split into chunks, and small ones share a chunk', async () => {
  const { sql, runId, head } = await newLog()
  const large = 'y'.repeat(2 * logChunkBytesMax + 5)
  await append(sql, head, { pieces: [out(large), err('z'), out('\n'), out('w')], position: null, bytesMax })
  const chunks = await sql.query(
    'SELECT end_offset - start_offset AS size, segments FROM log_chunk WHERE run_id = $1 ORDER BY start_offset',
    [runId],
  )
  expect(chunks).toEqual([
    { size: logChunkBytesMax, segments: [1, logChunkBytesMax] },
    { size: logChunkBytesMax, segments: [1, logChunkBytesMax] },
    { size: 8, segments: [1, 5, 2, 1, 1, 2] },
  ])
})

test('a chunk has at most 1,024 segments, also after chunks are merged', async () => {
  const { sql, runId, head, read } = await newLog()
  const pieces = Array.from({ length: 2_000 }, () => [out('a\n'), err('b\n')]).flat()
  const half = pieces.length / 2 + 1
  const next = await append(sql, head, { pieces: pieces.slice(0, half), position: null, bytesMax })
  await append(sql, next, { pieces: pieces.slice(half), position: null, bytesMax })
  await sealLog(sql, [runId])
  for (const merge of [false, true]) {
    if (merge) await mergeChunks(database.db, runId)
    const chunks = await sql.query<{ count: number }>(
      'SELECT cardinality(segments) / 2 AS count FROM log_chunk WHERE run_id = $1',
      [runId],
    )
    expect(Math.max(...chunks.map(({ count }) => count))).toBe(1_024)
    expect(chunks.reduce((sum, { count }) => sum + count, 0)).toBe(pieces.length)
    expect((await read()).lines.map(({ text }) => text).join('')).toBe('ab'.repeat(2_000))
  }
})

test('a log above its limit continues with one gap that grows', async () => {
  const { sql, head, read } = await newLog()
  const limit = { position: null, bytesMax: 10 }
  let at = await append(sql, head, { pieces: [out('12345\n'), out('abcdefgh')], ...limit })
  at = await append(sql, at, { pieces: [out('more')], ...limit })
  at = await append(sql, at, { pieces: [{ gap: 'LOST', bytes: 0 }, err('x')], ...limit })
  expect(at.end).toBe(20)
  const page = await read()
  expect(page.text).toBe('12345\nabcd')
  expect(page.gaps).toEqual([
    {
      run: 1,
      startOffset: 10,
      endOffset: 20,
      line: 2,
      reason: 'OVER_LIMIT',
      cursor: { run: 1, offset: 20, mark: expect.any(String) },
    },
  ])
})

test('a log continues with bytes after its limit was raised', async () => {
  const { sql, head, read } = await newLog()
  const over = await append(sql, head, { pieces: [out('12345\n'), out('abcdefgh')], position: null, bytesMax: 10 })
  const next = await append(sql, over, { pieces: [out('more\n')], position: null, bytesMax: 16 })
  expect(next.end).toBe(19)
  const page = await read()
  expect(page.text).toBe('12345\nabcdmo')
  expect(page.gaps).toMatchObject([
    { startOffset: 10, endOffset: 14, reason: 'OVER_LIMIT' },
    { startOffset: 16, endOffset: 19, reason: 'OVER_LIMIT' },
  ])
})

test('a gap ends incomplete lines, and its offsets are not used again', async () => {
  const { sql, head, read } = await newLog()
  const pieces = [out('cut'), { gap: 'LOST', bytes: 100 } as const, out('next\n')]
  await append(sql, head, { pieces, position: null, bytesMax })
  const page = await read()
  expect(page.lines.map(({ number, text, truncated }) => ({ number, text, truncated }))).toEqual([
    { number: 1, text: 'cut', truncated: false },
    { number: 2, text: 'next', truncated: false },
  ])
  expect(page.cursor).toMatchObject({ run: 1, offset: 108 })
})

test.each(['LOST', 'NOT_VISIBLE', 'DISK_FULL'] as const)('a gap has the reason %s', async (gap) => {
  const { sql, head, read } = await newLog()
  await append(sql, head, { pieces: [{ gap, bytes: 0 }], position: null, bytesMax })
  expect((await read()).gaps).toMatchObject([{ startOffset: 0, endOffset: 1, reason: gap }])
})

test('a reader continues from one run of a job to the next with the same cursor', async () => {
  const { sql, jobId, runId, head, read } = await newLog()
  await append(sql, head, { pieces: [out('first\n')], position: null, bytesMax })
  await sealLog(sql, [runId])
  await endRun(sql, runId)
  const second = await addRun(sql, { jobId, number: 2 })
  await append(sql, await openLog(sql, second), {
    pieces: [out('second\n')],
    position: null,
    bytesMax,
  })
  const page = await read()
  expect(page.text).toBe('first\nsecond\n')
  expect(page.lines.map(({ run, number }) => [run, number])).toEqual([
    [1, 1],
    [2, 1],
  ])
  expect(page).toMatchObject({ cursor: { run: 2, offset: 7 }, isFinal: false })
})
