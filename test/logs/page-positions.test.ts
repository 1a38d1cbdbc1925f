import { expect, test } from 'vitest'
import { openLog } from '../../src/logs/append.ts'
import type { LogPiece } from '../../src/logs/chunk.ts'
import { readLogGaps } from '../../src/logs/gaps.ts'
import type { LogStream } from '../../src/logs/lines.ts'
import { expireLogs, mergeChunks } from '../../src/logs/merge-chunks.ts'
import { findEnd, type LogPage, type PageStart, readLog } from '../../src/logs/read.ts'
import type { Sql } from '../../src/platform/tx.ts'
import { openDatabase } from '../support/database.ts'
import { addJob, addUser, storeLog } from '../support/factories.ts'
import { append, err, out } from '../support/log.ts'

/** Pages that start at a line, at a moment, or end at a cursor. */

const database = await openDatabase()
const { sql } = database.db
const userId = await addUser(sql, 'ada')
const bytesMax = 2 ** 34
const allStreams: readonly LogStream[] = ['STDOUT', 'STDERR', 'SYSTEM']

const page = (place: Omit<PageStart, 'streams'> & { streams?: readonly LogStream[] }, linesMax = 500) =>
  readLog(sql, { streams: allStreams, linesMax, ...place })

async function readAll(jobId: string, streams = allStreams): Promise<LogPage[]> {
  const pages: LogPage[] = []
  for (let after: LogPage['cursor'] | undefined; ; after = pages.at(-1)?.cursor) {
    const next = await page({ jobId, streams, ...(after && { after }) }, 5_000)
    pages.push(next)
    if (next.isFinal) return pages
  }
}

const textOf = (pages: readonly LogPage[]) => pages.map(({ text }) => text).join('')

/** Reads pages from the end to the beginning, and returns them in the order of the log. */
async function readBack(
  place: Omit<PageStart, 'streams'> & { streams?: readonly LogStream[] },
  linesMax: number,
): Promise<LogPage[]> {
  const pages: LogPage[] = []
  const end = await findEnd(sql, place.jobId, undefined)
  for (let before: LogPage['cursor'] = end; ; before = pages[0]?.start ?? end) {
    const next = await page({ ...place, before }, linesMax)
    expect(next.cursor).toMatchObject({ run: before.run, offset: before.offset })
    if (next.text === '' && next.gaps.length === 0) return pages
    pages.unshift(next)
  }
}

function* randomNumbers(seed: number): Generator<number, number> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    yield state / 2 ** 31
  }
}

/** Generates pieces of all streams that end anywhere, also inside of lines and characters, and gaps. */
function randomAppends(seed: number, count: number): LogPiece[][] {
  const numbers = randomNumbers(seed)
  const below = (limit: number) => Math.floor(numbers.next().value * limit)
  const words = ['a', 'wörd', '\n', '\n', 'line\n', 'ü', '\t', '\u0001', '😀', 'x'.repeat(300), 'two\nlines\n']
  const text = () => Buffer.from(Array.from({ length: below(40) }, () => words[below(words.length)]).join(''))
  const pieces = () =>
    Array.from({ length: 1 + below(4) }, (): LogPiece => {
      if (below(25) === 0) return { gap: 'LOST', bytes: below(50) }
      const bytes = text()
      return { stream: allStreams[below(3)] ?? 'STDOUT', bytes: bytes.subarray(0, bytes.length - below(3)) }
    })
  return Array.from({ length: count }, pieces)
}

/** Counts the chunks that were read. */
function counting() {
  const counted = { chunks: 0 }
  const counter: Sql = {
    async query<Row>(text: string, values?: readonly unknown[], name?: string) {
      const rows = await sql.query<Row>(text, values, name)
      if (text.includes('c.data')) counted.chunks += rows.length
      return rows
    },
  }
  return { counted, counter }
}

test.each([1, 2, 3])('a page can start at any line, in live and merged chunks (seed %i)', async (seed) => {
  const { jobId, runId } = await storeLog(sql, userId, [randomAppends(seed, 150)])
  const [whole] = await readAll(jobId)
  const begins = whole?.lines ?? []
  const last = Math.max(...begins.map(({ number }) => number))
  const check = async () => {
    for (let line = 1; line <= last; line += 1 + Math.floor(last / 50)) {
      const found = await page({ jobId, run: 1, fromLine: line }, 1)
      expect(found.lines[0]).toMatchObject({ number: line, run: 1 })
    }
  }
  await check()
  expect(await mergeChunks(database.db, runId)).toBeGreaterThan(0)
  await check()
  const beyond = await page({ jobId, run: 1, fromLine: last + 1 })
  expect(beyond).toMatchObject({ text: '', lines: [], isFinal: true })
  expect(beyond.start).toEqual((await readAll(jobId)).at(-1)?.cursor)
})

test('a page late in a log reads few chunks', async () => {
  const lines = Array.from({ length: 200_000 }, (_, index) => `line ${index + 1} of a long log\n`)
  const appends = Array.from({ length: 40 }, (_, at) => [out(lines.slice(at * 5_000, (at + 1) * 5_000).join(''))])
  const { jobId } = await storeLog(sql, userId, [appends])
  const { counted, counter } = counting()
  const place = { jobId, streams: allStreams, linesMax: 2 }
  const found = await readLog(counter, { ...place, run: 1, fromLine: 150_000 })
  expect(found.text).toBe('line 150000 of a long log\nline 150001 of a long log\n')
  expect(counted.chunks).toBeLessThan(10)
  const back = await readLog(counter, { ...place, before: found.start })
  expect(back.text).toBe('line 149998 of a long log\nline 149999 of a long log\n')
  expect(counted.chunks).toBeLessThan(40)
})

test('a page of a run without output is empty, and a page that starts at a removed line begins with a gap', async () => {
  const { jobId, runIds } = await storeLog(sql, userId, [[[out('a\nb\n')]], [[out('c\n')], [out('d\n')]], []])
  expect(await page({ jobId, run: 3, fromLine: 7 })).toMatchObject({ text: '', isFinal: true })
  expect(await page({ jobId, run: 2, fromLine: 2 })).toMatchObject({ text: 'd\n', start: { run: 2, offset: 2 } })
  await sql.query("UPDATE log_chunk SET at = at - interval '1 hour' WHERE run_id = $1 AND start_offset = 0", [
    runIds[1],
  ])
  await sql.query("UPDATE log_chunk SET at = at - interval '1 hour' WHERE run_id = $1", [runIds[0]])
  const [now] = await sql.query<{ at: Date }>("SELECT berth_now() - interval '10 minutes' AS at")
  await expireLogs(sql, [jobId], now?.at ?? null)
  expect(await page({ jobId, run: 2, fromLine: 1 })).toMatchObject({
    text: 'd\n',
    gaps: [{ startOffset: 0, endOffset: 2, reason: 'RETENTION' }],
  })
  expect((await page({ jobId, run: 2, fromLine: 2 })).lines).toMatchObject([{ number: 2, text: 'd' }])
})

test('a page can start with the first line stored at or after a given time', async () => {
  const { jobId, runIds } = await storeLog(sql, userId, [
    [[out('a\nb')], [out('egin\nc\n')], [out('d\n')]],
    [[out('e\n')], [out('f\n')]],
  ])
  const times = (count: number, from: number) =>
    Array.from({ length: count }, (_, index) => new Date(Date.UTC(2026, 0, 1, 0, 0, from + 10 * index)))
  const set = (runId: string | undefined, ats: readonly Date[]) =>
    sql.query(
      `UPDATE log_chunk c SET at = t.at FROM (
         SELECT start_offset, ($2::timestamptz[])[row_number() OVER (ORDER BY start_offset)] AS at FROM log_chunk WHERE run_id = $1) t
       WHERE c.run_id = $1 AND c.start_offset = t.start_offset`,
      [runId, ats],
    )
  await set(runIds[0], times(3, 0))
  await set(runIds[1], times(2, 100))
  const firstAt = async (second: number, run?: number) =>
    (await page({ jobId, at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)), ...(run && { run }) })).lines[0]?.text
  expect(await firstAt(-5)).toBe('a')
  expect(await firstAt(0)).toBe('a')
  expect(await firstAt(1)).toBe('c')
  expect(await firstAt(20)).toBe('d')
  expect(await firstAt(21)).toBe('e')
  expect(await firstAt(21, 1)).toBeUndefined()
  expect(await firstAt(105)).toBe('f')
  expect(await firstAt(111)).toBeUndefined()
  expect(await firstAt(111, 1)).toBeUndefined()
})

test.each([4, 5, 6])('pages read backwards contain every byte and gap once (seed %i)', async (seed) => {
  const { jobId } = await storeLog(sql, userId, [randomAppends(seed, 15), [], randomAppends(seed + 100, 15)])
  for (const streams of [allStreams, ['STDERR'] as const]) {
    const forward = await readAll(jobId, streams)
    const back = await readBack({ jobId, streams }, 7)
    expect(textOf(back)).toBe(textOf(forward))
    expect(back.flatMap(({ gaps }) => gaps).map(({ run, startOffset }) => [run, startOffset])).toEqual(
      forward.flatMap(({ gaps }) => gaps).map(({ run, startOffset }) => [run, startOffset]),
    )
    // Lines of two other streams may continue in the page.
    for (const { lines } of back) expect(lines.length).toBeLessThanOrEqual(9)
  }
})

test('the last page contains the last lines of the log', async () => {
  const { jobId } = await storeLog(sql, userId, [[[out('a\nb\n')]], [[out('c\n'), err('d\ne')]]])
  expect(await page({ jobId, lastLines: 2 })).toMatchObject({
    text: 'd\ne',
    isFinal: true,
    start: { run: 2, offset: 2 },
  })
  expect(await page({ jobId, lastLines: 4 })).toMatchObject({ text: 'b\nc\nd\ne', start: { run: 1, offset: 2 } })
  expect(await page({ jobId, lastLines: 9 })).toMatchObject({ text: 'a\nb\nc\nd\ne', start: { run: 1, offset: 0 } })
  expect(await page({ jobId, lastLines: 9, run: 1 })).toMatchObject({ text: 'a\nb\n', cursor: { run: 1, offset: 4 } })
  expect(await page({ jobId, lastLines: 9, run: 2 })).toMatchObject({ text: 'c\nd\ne', start: { run: 2, offset: 0 } })
})

test.each(['x', 'ü', '\u0001'])('a line longer than a page is read backwards in parts (%j)', async (character) => {
  const long = character.repeat(2 ** 21 / Buffer.byteLength(character))
  const appends = [[out('first\n')], ...[long, '\nnext\n'].map((text) => [out(text)])]
  const { jobId } = await storeLog(sql, userId, [appends])
  const back = await readBack({ jobId }, 5_000)
  expect(textOf(back) === `first\n${long}\nnext\n`).toBe(true)
  for (const { text } of back) expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThanOrEqual(2 ** 20)
  expect(back.length).toBeLessThan(20)
})

test('a page read backwards has at most 1 MiB of JSON, and begins at the start of a line', async () => {
  const lines = Array.from({ length: 4_000 }, (_, index) => `${index} ${'y"\\'.repeat(200)}\n`)
  const appends = Array.from({ length: 100 }, (_, at) => [out(lines.slice(at * 40, (at + 1) * 40).join(''))])
  const { jobId } = await storeLog(sql, userId, [appends])
  const back = await readBack({ jobId }, 5_000)
  expect(textOf(back)).toBe(lines.join(''))
  for (const { text, lines: parts } of back) {
    expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThanOrEqual(2 ** 20)
    expect(parts[0]?.text).toMatch(/^\d+ y/)
  }
  expect(back.length).toBeLessThan(6)
})

test('gaps that do not fit on one page are spread over several pages when read backwards', async () => {
  const gaps = Array.from({ length: 1_500 }, (): LogPiece => ({ gap: 'LOST', bytes: 1 }))
  const { jobId } = await storeLog(sql, userId, [[[out('a\n'), ...gaps, out('b\n')]]])
  const back = await readBack({ jobId }, 10)
  expect(textOf(back)).toBe('a\nb\n')
  expect(back.flatMap((each) => each.gaps)).toHaveLength(1_500)
})

test('a page read backwards from a cursor ends there, even if its last line has grown since', async () => {
  const { jobId, runId } = await addJob(sql, userId)
  const head = await append(sql, await openLog(sql, runId), { pieces: [out('a\nb')], position: null, bytesMax })
  const first = await page({ jobId, lastLines: 5 })
  expect(first).toMatchObject({ text: 'a\nb', isFinal: false })
  await append(sql, head, { pieces: [out('c\n')], position: null, bytesMax })
  expect(await page({ jobId, before: first.cursor }, 1)).toMatchObject({ text: 'b', cursor: first.cursor })
  expect(await page({ jobId, lastLines: 1 })).toMatchObject({ text: 'bc\n' })
})

test('each gap is listed with the number of the line that follows it', async () => {
  const { jobId, runIds } = await storeLog(sql, userId, [
    [[out('a\n')], [{ gap: 'DISK_FULL', bytes: 7 }], [out('b\nc')], [{ gap: 'LOST', bytes: 3 }]],
    [[out('d\n')]],
  ])
  expect(await readLogGaps(sql, jobId, undefined)).toMatchObject([
    { run: 1, startOffset: 2, endOffset: 9, reason: 'DISK_FULL', line: 2 },
    { run: 1, startOffset: 12, endOffset: 15, reason: 'LOST', line: 3 },
  ])
  expect(await readLogGaps(sql, jobId, 2)).toEqual([])
  await sql.query('DELETE FROM log_chunk WHERE run_id = $1 AND start_offset < 9', [runIds[0]])
  expect((await readLogGaps(sql, jobId, 1))[0]).toMatchObject({ endOffset: 9, reason: 'RETENTION', line: 2 })
  await sql.query('DELETE FROM log_chunk WHERE run_id = $1', [runIds[0]])
  expect(await readLogGaps(sql, jobId, 1)).toMatchObject([{ endOffset: 15, reason: 'RETENTION', line: null }])
})
