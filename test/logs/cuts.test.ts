import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type LogHead, openLog, sealLog } from '../../src/logs/append.ts'
import { lineBytesMax } from '../../src/logs/batch.ts'
import type { Chunk, LogPiece } from '../../src/logs/chunk.ts'
import { countBegunBytes } from '../../src/logs/cut.ts'
import { createLogTail } from '../../src/logs/follow.ts'
import { createFreshOutput, type FreshOutput } from '../../src/logs/fresh-output.ts'
import type { LogStream } from '../../src/logs/lines.ts'
import { type LogPage, readLog } from '../../src/logs/read.ts'
import type { TailMessage } from '../../src/logs/tail-message.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { Wakeups } from '../../src/platform/wakeup.ts'
import { machineTime } from '../support/clock.ts'
import { openDatabase } from '../support/database.ts'
import { addJob, addUser, finishJob } from '../support/factories.ts'
import { append } from '../support/log.ts'
import { tries } from '../support/whole.ts'

const database = await openDatabase()
const userId = await addUser(database.db.sql, 'ada')

const all: LogStream[] = ['STDOUT', 'STDERR', 'SYSTEM']
const log = createLog('error')

/** Readers get every second write as fresh output, and read the others from the table. */
async function newLog(fresh?: FreshOutput) {
  const { sql } = database.db
  const { jobId, runId } = await addJob(sql, userId)
  let head: LogHead = await openLog(sql, runId)
  let writes = 0
  return {
    jobId,
    write: async (pieces: readonly LogPiece[]) => {
      const from = head.end
      const onStored = (chunks: readonly Chunk[]) => {
        if (++writes % 2 === 0) fresh?.tell({ jobId, run: 1, runId, from, chunks })
      }
      head = await append(sql, head, { pieces, position: null, bytesMax: 2 ** 34, onStored })
    },
    finish: async () => {
      await sealLog(sql, [runId])
      await finishJob(sql, jobId)
    },
  }
}

/** Pieces of a text: words of every width, line ends, complete and broken escape sequences, invalid bytes. */
const atoms: Buffer[] = [
  'a',
  'word ',
  '\n',
  '\n',
  '\r\n',
  '€',
  '漢字',
  '😀',
  '\u001b[31m',
  '\u001b[0m',
  '\u001b]0;title\u0007',
  '\u001b',
  'x'.repeat(300),
].map((text) => Buffer.from(text))
atoms.push(
  Buffer.from([0xff]),
  Buffer.from([0xe2, 0x82]),
  Buffer.from([0xf0, 0x9f]),
  Buffer.from([0x80]),
  Buffer.from([0]),
)

const bytes = fc.array(fc.constantFrom(...atoms), { maxLength: 60 }).map((parts) => Buffer.concat(parts))
const piece = fc.record({ stream: fc.constantFrom(...all), bytes })
const writes = fc.array(fc.array(piece, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 })
const chosen = fc.subarray(all, { minLength: 1 })

interface Expected {
  text: string
  lines: { number: number; stream: LogStream; text: string }[]
}

/** Computes the expected text of a log, byte by byte from its definition. */
function expected(pieces: readonly { stream: LogStream; bytes: Buffer }[], streams: readonly LogStream[]): Expected {
  const open = new Map<LogStream, { number: number; stream: LogStream; bytes: number[] }>()
  const lines: { number: number; stream: LogStream; bytes: number[] }[] = []
  const text: number[] = []
  for (const { stream, bytes: part } of pieces)
    for (const byte of part) {
      if (streams.includes(stream)) text.push(byte)
      const line = open.get(stream) ?? { number: lines.length + 1, stream, bytes: [] }
      if (!open.has(stream)) lines.push(line)
      open.set(stream, line)
      if (byte === 10) open.delete(stream)
      else line.bytes.push(byte)
    }
  return {
    text: Buffer.from(text).toString('utf8'),
    lines: lines
      .filter(({ stream }) => streams.includes(stream))
      .map(({ number, stream, bytes: line }) => ({ number, stream, text: Buffer.from(line).toString('utf8') })),
  }
}

/** Joins the pieces of each line by its number. */
function joined(lines: readonly { number: number; stream: LogStream; text: string; truncated: boolean }[]) {
  const whole = new Map<number, Expected['lines'][number]>()
  for (const { number, stream, text } of lines) {
    const line = whole.get(number) ?? { number, stream, text: '' }
    whole.set(number, { ...line, text: line.text + text })
  }
  return [...whole.values()].sort((a, b) => a.number - b.number)
}

const single = fc.record({
  stream: fc.constantFrom(...all),
  parts: fc.array(fc.array(bytes, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 8 }),
})

async function pagesOf(jobId: string, streams: readonly LogStream[], linesMax: number): Promise<LogPage[]> {
  const pages: LogPage[] = []
  do {
    const after = pages.at(-1)?.cursor
    pages.push(await readLog(database.db.sql, { jobId, after, streams, linesMax }))
    expect(pages.at(-1)?.lines.length).toBeLessThanOrEqual(linesMax)
  } while (!pages.at(-1)?.isFinal)
  return pages
}

describe('for any output, however it is split,', () => {
  test('pages of any size return the same text and lines', async () => {
    await fc.assert(
      fc.asyncProperty(writes, chosen, fc.integer({ min: 1, max: 50 }), async (parts, streams, linesMax) => {
        const { jobId, write, finish } = await newLog()
        for (const pieces of parts) await write(pieces)
        await finish()
        const want = expected(parts.flat(), streams)
        const whole = await readLog(database.db.sql, { jobId, streams, linesMax: 5_000 })
        expect(whole.text).toBe(want.text)
        expect(joined(whole.lines)).toEqual(want.lines)
        expect(whole.lines.every(({ truncated }) => !truncated)).toBe(true)
        const pages = await pagesOf(jobId, streams, linesMax)
        expect(pages.at(-1)?.cursor).toEqual(whole.cursor)
        expect(joined(pages.flatMap(({ lines }) => lines)).map(({ number }) => number)).toEqual(
          want.lines.map(({ number }) => number),
        )
      }),
      { numRuns: tries(60) },
    )
  })

  test('pages of one stream, read after every write, return its text without splitting a character', async () => {
    await fc.assert(
      fc.asyncProperty(single, fc.integer({ min: 1, max: 20 }), async ({ stream, parts }, linesMax) => {
        const { jobId, write, finish } = await newLog()
        const pages: LogPage[] = []
        const read = async () => {
          const after = pages.at(-1)?.cursor
          pages.push(await readLog(database.db.sql, { jobId, after, streams: [stream], linesMax }))
        }
        const pieces = parts.map((buffers) => buffers.map((part) => ({ stream, bytes: part })))
        for (const some of pieces) {
          await write(some)
          await read()
        }
        await finish()
        do await read()
        while (!pages.at(-1)?.isFinal)
        const want = expected(pieces.flat(), [stream])
        expect(pages.map(({ text }) => text).join('')).toBe(want.text)
        expect(joined(pages.flatMap(({ lines }) => lines))).toEqual(want.lines)
      }),
      { numRuns: tries(60) },
    )
  })

  test('a tail returns the same text from each of its cursors', async () => {
    const wakeups = new Wakeups({ address: null, topics: ['log'], clock: systemClock, log })
    const fresh = createFreshOutput()
    const tail = createLogTail({ db: database.db, wakeups, clock: systemClock, time: machineTime, log, fresh })
    await fc.assert(
      fc.asyncProperty(single, async ({ stream, parts }) => {
        const { jobId, write, finish } = await newLog(fresh)
        const read = async (after?: TailMessage['cursor']) => {
          const batches: (TailMessage & { kind: 'batch' })[] = []
          for await (const message of tail.follow({ jobId, after, streams: [stream], maxBatchBytes: 4_096 }))
            if (message.kind === 'batch') batches.push(message)
          return batches
        }
        const live = read()
        const pieces = parts.map((buffers) => buffers.map((part) => ({ stream, bytes: part })))
        for (const some of pieces) {
          await write(some)
          wakeups.poke('log')
        }
        await finish()
        wakeups.poke('log')
        const batches = await live
        const { text, lines } = expected(pieces.flat(), [stream])
        expect(batches.map((batch) => batch.text).join('')).toBe(text)
        expect(joined(batches.flatMap((batch) => batch.lines))).toEqual(lines)
        for (const [index, { cursor }] of batches.entries()) {
          const rest = await read(cursor)
          expect(rest.map((batch) => batch.text).join('')).toBe(
            batches
              .slice(index + 1)
              .map((batch) => batch.text)
              .join(''),
          )
        }
      }),
      { numRuns: tries(25) },
    )
    expect(tail.openFollowers()).toBe(0)
    await wakeups.stop()
  })

  test('the last lines of the chosen streams are counted exactly', async () => {
    await fc.assert(
      fc.asyncProperty(single, fc.integer({ min: 0, max: 30 }), async ({ stream, parts }, lastLines) => {
        const { jobId, write, finish } = await newLog()
        const pieces = parts.map((buffers) => buffers.map((part) => ({ stream, bytes: part })))
        for (const some of pieces) {
          await write(some)
          await write([{ stream: stream === 'SYSTEM' ? 'STDOUT' : 'SYSTEM', bytes: Buffer.from('other\n') }])
        }
        await finish()
        const page = await readLog(database.db.sql, { jobId, lastLines, streams: [stream], linesMax: 5_000 })
        const { lines } = expected(pieces.flat(), [stream])
        expect(page.lines.map(({ text }) => text)).toEqual(
          lines.slice(lines.length - Math.min(lastLines, lines.length)).map(({ text }) => text),
        )
      }),
      { numRuns: tries(60) },
    )
  })
})

test('a long line is split into pieces with the same line number and without split characters', async () => {
  const { jobId, write, finish } = await newLog()
  const long = '€'.repeat(100_000)
  await write([{ stream: 'STDOUT', bytes: Buffer.from(`${long}\nshort\n`) }])
  await finish()
  const { lines, text } = await readLog(database.db.sql, { jobId, streams: all, linesMax: 5_000 })
  expect(text).toBe(`${long}\nshort\n`)
  const pieces = lines.slice(0, -1)
  expect(pieces.map((line) => line.text).join('')).toBe(long)
  expect(pieces.every(({ number, truncated }, index) => number === 1 && truncated === index < pieces.length - 1)).toBe(
    true,
  )
  expect(lines.at(-1)).toMatchObject({ number: 2, text: 'short', truncated: false })
  for (const line of lines) expect(Buffer.byteLength(line.text)).toBeLessThanOrEqual(lineBytesMax)
})

test.for([
  ['abc', 0],
  ['ab€', 0],
  ['\u001b[31m', 0],
  ['x\u001b', 1],
  ['x\u001b[', 2],
  ['x\u001b[31;1', 6],
  ['\u001b]0;title', 9],
  ['\u001b]0;t\u0007', 0],
  ['\u001b]0;t\u001b', 6],
  ['\u001b]0;t\u001b\\', 0],
  ['\u001b(', 2],
  ['\u001b(B', 0],
  ['\u001b[3\nx', 0],
] as const)('%j ends with an incomplete escape sequence of %d bytes', ([text, count]) => {
  expect(countBegunBytes(Buffer.from(text))).toBe(count)
})

test.for([
  [[0xe2], 1],
  [[0xe2, 0x82], 2],
  [[0xe2, 0x82, 0xac], 0],
  [[0xf0, 0x9f, 0x98], 3],
  [[0x80], 0],
  [[0xff], 0],
  [[0xc3], 1],
] as const)('the bytes %j end with an incomplete character of %d bytes', ([numbers, count]) => {
  expect(countBegunBytes(Buffer.from(numbers))).toBe(count)
})
