import { spawnSync } from 'node:child_process'
import { setImmediate as otherTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { LineMatcher } from '../../src/domain/line-matcher.ts'
import { openLog } from '../../src/logs/append.ts'
import type { LogPiece } from '../../src/logs/chunk.ts'
import type { Matcher } from '../../src/logs/line-scan.ts'
import type { LogStream } from '../../src/logs/lines.ts'
import { mergeChunks } from '../../src/logs/merge-chunks.ts'
import { LineTooCostly, type LogMatch, type LogSearch, searchedBytesMax, searchLog } from '../../src/logs/search.ts'
import { processorMs } from '../../src/platform/slices.ts'
import { openDatabase } from '../support/database.ts'
import { addJob, addUser, storeLog } from '../support/factories.ts'
import { append, err, out } from '../support/log.ts'

const database = await openDatabase()
const { sql } = database.db
const userId = await addUser(sql, 'ada')
const bytesMax = 2 ** 34

interface Wish {
  query: string
  regex?: boolean
  ignoreCase?: boolean
  streams?: readonly LogStream[]
  backwards?: boolean
  first?: number
  run?: number
  after?: LogSearch['cursor']
  matcher?: Matcher
  processorMs?: () => number
}

const search = (jobId: string, { query, regex = false, ignoreCase = false, ...wish }: Wish) =>
  searchLog(sql, {
    jobId,
    streams: ['STDOUT', 'STDERR'],
    backwards: false,
    first: 1_000,
    matcher: new LineMatcher(query, { regex, ignoreCase }),
    processorMs,
    ...wish,
  })

/** Finds all matches, with as many searches as necessary. */
async function searchAll(jobId: string, wish: Wish) {
  const matches: LogMatch[] = []
  let scannedBytes = 0
  let after = wish.after
  for (let searches = 1; ; searches++) {
    const found = await search(jobId, { ...wish, ...(after && { after }) })
    expect(found.matches.length).toBeLessThanOrEqual(wish.first ?? 1_000)
    matches.push(...found.matches)
    scannedBytes += found.scannedBytes
    after = found.cursor
    if (found.isComplete) return { matches, searches, scannedBytes, cursor: found.cursor }
  }
}

const numbersOf = (matches: readonly LogMatch[]) => matches.map(({ line }) => line)

function countByGrep(bytes: Buffer, args: readonly string[]): number {
  const { stdout } = spawnSync('grep', ['-c', '-a', ...args], {
    input: bytes,
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  })
  return Number(stdout.toString())
}

/** Generates words of lines, in a fixed order that looks random. */
function* words(seed: number): Generator<string, never> {
  const list = [
    'loss',
    '0.41',
    'Error:',
    'error',
    'größe',
    'epoch',
    '31/50',
    'at line',
    '😀',
    '\t',
    '{"a":1}',
    'Traceback',
  ]
  for (let state = seed; ; ) {
    state = (state * 48_271) % 2_147_483_647
    yield list[state % list.length] as string
  }
}

const lineOf = (source: Generator<string, never>, count: number) =>
  Array.from({ length: count }, () => source.next().value).join(' ')

const cases: readonly (readonly [string, string[], Omit<Wish, 'query'>])[] = [
  ['error', ['-F'], {}],
  ['ERROR', ['-F', '-i'], { ignoreCase: true }],
  ['größe', ['-F'], {}],
  ['^Error', ['-E'], { regex: true }],
  ['(error|Traceback)$', ['-E'], { regex: true }],
  ['31/50 .* loss', ['-E'], { regex: true }],
  ['[0-9]\\.[0-9]{2} e', ['-E'], { regex: true }],
  ['^$', ['-E'], { regex: true }],
  ['.', ['-E'], { regex: true }],
  ['nothing', ['-F'], {}],
]

test('a search finds the same lines as grep, in live and merged chunks, forwards and backwards', async () => {
  const source = words(1)
  const lines = Array.from({ length: 15_000 }, (_, at) => (at % 97 === 0 ? '' : lineOf(source, 1 + (at % 9))))
  const bytes = Buffer.from(lines.join('\n'))
  const sizes = [1, 300, 70_001, 262_144, 5, 40_000]
  const appends: LogPiece[][] = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] as number
    appends.push([out(bytes.subarray(at, at + size))])
    at += size
  }
  const { jobId, runId } = await storeLog(sql, userId, [appends])
  for (const merged of [false, true]) {
    if (merged) await mergeChunks(database.db, runId)
    for (const [query, args, wish] of cases) {
      const forwards = await searchAll(jobId, { query, ...wish })
      expect([query, forwards.matches.length]).toEqual([query, countByGrep(bytes, [...args, '--', query])])
      expect(forwards.scannedBytes).toBe(bytes.length)
      for (const { line, text } of forwards.matches.slice(0, 50)) expect(text).toBe(lines[line - 1])
      const backwards = await searchAll(jobId, { query, ...wish, backwards: true, first: 777 })
      expect(numbersOf(backwards.matches)).toEqual(numbersOf(forwards.matches).reverse())
    }
  }
})

test('a search joins the pieces of a line although another stream wrote between them', async () => {
  const { jobId } = await storeLog(sql, userId, [
    [
      [out('needle in'), err('a\nhay'), out(' parts\nhay\n'), err(' and needle\n')],
      [out('nee'), err('needle\n')],
      [err('x\n'.repeat(100))],
      [out('dle\nhay')],
      [{ gap: 'LOST', bytes: 10 }],
      [out('needle at the end')],
    ],
  ])
  const { matches } = await searchAll(jobId, { query: 'needle' })
  expect(matches.map(({ line, stream, text }) => [line, stream, text])).toEqual([
    [1, 'STDOUT', 'needle in parts'],
    [3, 'STDERR', 'hay and needle'],
    [5, 'STDOUT', 'needle'],
    [6, 'STDERR', 'needle'],
    [108, 'STDOUT', 'needle at the end'],
  ])
  expect(numbersOf((await searchAll(jobId, { query: 'needle', streams: ['STDERR'] })).matches)).toEqual([3, 6])
  const one = await searchAll(jobId, { query: 'needle', first: 1 })
  expect(one.matches).toEqual(matches)
  expect(one.searches).toBeGreaterThanOrEqual(5)
  const back = await searchAll(jobId, { query: 'needle', first: 1, backwards: true })
  expect(back.matches).toEqual(matches.toReversed())
})

test('a search covers all runs of a job, or one of them', async () => {
  const { jobId } = await storeLog(sql, userId, [[[out('a1\nb1\n')]], [], [[out('a2\n')], [out('b2\na3\n')]]])
  const places = async (wish: Partial<Wish>) =>
    (await searchAll(jobId, { query: 'a', ...wish })).matches.map(({ run, line }) => [run, line])
  expect(await places({})).toEqual([
    [1, 1],
    [3, 1],
    [3, 3],
  ])
  expect(await places({ backwards: true, first: 1 })).toEqual([
    [3, 3],
    [3, 1],
    [1, 1],
  ])
  expect(await places({ run: 3 })).toEqual([
    [3, 1],
    [3, 3],
  ])
  expect(await places({ run: 1, backwards: true })).toEqual([[1, 1]])
  expect(await places({ run: 2 })).toEqual([])
})

test('a search continues with new output of a running job, also in its last, incomplete line', async () => {
  const { jobId, runId } = await addJob(sql, userId)
  let head = await append(sql, await openLog(sql, runId), { pieces: [out('hay\nnee')], position: null, bytesMax })
  const more = async (text: string) => {
    head = await append(sql, head, { pieces: [out(text)], position: null, bytesMax })
  }
  const first = await search(jobId, { query: 'needle' })
  expect(first).toMatchObject({ matches: [], isComplete: true })
  await more('dle')
  const second = await search(jobId, { query: 'needle', after: first.cursor })
  expect(second).toMatchObject({ matches: [{ line: 2, text: 'needle' }], isComplete: true })
  await more(' again\nneedle\n')
  const third = await search(jobId, { query: 'needle', after: second.cursor })
  expect(third).toMatchObject({ matches: [{ line: 3, text: 'needle' }], isComplete: true })
})

test('a search stops at its limit of bytes, and can be continued', async () => {
  const block = out(`${'a line without it\n'.repeat(60_000)}`)
  const { jobId } = await storeLog(sql, userId, [[...Array.from({ length: 20 }, () => [block]), [out('the needle\n')]]])
  const first = await search(jobId, { query: 'needle' })
  expect(first).toMatchObject({ matches: [], isComplete: false })
  expect(first.scannedBytes).toBeLessThan(searchedBytesMax + 300_000)
  const all = await searchAll(jobId, { query: 'needle' })
  expect(numbersOf(all.matches)).toEqual([1_200_001])
  expect(all.searches).toBeGreaterThan(1)
})

/** A pattern that needs a new transition for almost each character of random text. */
const costly = { query: '(a.{80}|b.{80})c', regex: true }

/** Generates lines of 100 random characters. One line in `matchEvery` matches. */
function randomLines(count: number, matchEvery = 50): string[] {
  let seed = 7
  const next = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed
  }
  return Array.from({ length: count }, (_, at) => {
    const line = Array.from({ length: 100 }, () => (next() % 2 === 0 ? 'a' : 'b')).join('')
    return at % matchEvery === 7 ? `${line.slice(0, 90)}c${line.slice(90)}` : line
  })
}

/** Returns the largest growth of a count within one turn of the event loop during the work. */
async function growthInTurn(count: () => number, work: () => Promise<unknown>): Promise<number> {
  let isOver = false
  let [last, longest] = [count(), 0]
  const watching = (async () => {
    for (; !isOver; await otherTurn()) {
      longest = Math.max(longest, count() - last)
      last = count()
    }
  })()
  await work()
  isOver = true
  await watching
  return Math.max(longest, count() - last)
}

test('a search lets other work run after each slice, even if many searches run at once', async () => {
  const { jobId } = await storeLog(sql, userId, [[[out(randomLines(400).join('\n'))]]])
  const empty = await storeLog(sql, userId, [[[out('\n'.repeat(200_000))]]])
  const wishes = [
    ...Array.from({ length: 4 }, () => ({ jobId, ...costly })),
    { jobId, query: '(a.{50})*(b|c)', regex: true },
    { jobId: empty.jobId, query: '^$', regex: true, backwards: true },
  ].map((wish) => ({ ...wish, matcher: new LineMatcher(wish.query, { regex: true, ignoreCase: false }) }))
  const workOf = () => wishes.reduce((sum, { matcher }) => sum + matcher.work, 0)
  const longest = await growthInTurn(workOf, () => Promise.all(wishes.map(({ jobId, ...wish }) => search(jobId, wish))))
  expect(workOf()).toBeGreaterThan(4_000_000)
  // The cost of a slice, and of the ranges of a line.
  expect(longest).toBeLessThan(210_000)
})

test.each([
  ['many matches', [out('x\n'.repeat(50_000))], { matches: true, backwards: true, calls: 24_000, callsMax: 1_000 }],
  [
    'many short pieces of two streams',
    Array.from({ length: 10_000 }, () => [out('x\n'), err('y\n')]).flat(),
    { matches: false, backwards: false, calls: 20_000, callsMax: 250 },
  ],
])('a search of %s lets other work run, even if the pattern costs nothing', async (_what, pieces, wish) => {
  const { jobId } = await storeLog(sql, userId, [[pieces]])
  const { matches, backwards, calls, callsMax } = wish
  let count = 0
  const matcher = {
    work: 0,
    reset: () => undefined,
    find: (_bytes: Uint8Array, at: number, to: number) => {
      count++
      return { at: matches ? at : to, matches }
    },
    matchesAtEnd: () => false,
    ranges: () => {
      count++
      return []
    },
  }
  const longest = await growthInTurn(
    () => count,
    () => search(jobId, { query: 'x', matcher, backwards, first: 10_000, processorMs: () => 0 }),
  )
  expect(count).toBeGreaterThanOrEqual(calls)
  expect(longest).toBeLessThan(callsMax)
})

test('a search that used up its processor time stops within a chunk, and continues there', async () => {
  const lines = randomLines(1_000)
  const { jobId } = await storeLog(sql, userId, [[[out(lines.join('\n'))]]])
  const wanted = lines.flatMap((line, at) => (/^.{81,}c/.test(line) ? [at + 1] : []))
  expect(wanted).toHaveLength(20)
  for (const backwards of [false, true]) {
    let ms = 0
    const wish = { ...costly, backwards, processorMs: () => (ms += 2) }
    const first = await search(jobId, wish)
    expect(first.isComplete).toBe(false)
    expect(first.scannedBytes).toBeGreaterThan(20_000)
    expect(first.scannedBytes).toBeLessThan(60_000)
    const all = await searchAll(jobId, wish)
    expect(numbersOf(all.matches)).toEqual(backwards ? wanted.toReversed() : wanted)
    expect(all.scannedBytes).toBe(lines.join('\n').length)
  }
})

test('a search fails if one line needs more processor time than a search may use', async () => {
  const { jobId } = await storeLog(sql, userId, [[[out(`short\n${randomLines(1_000, 2_000).slice(8).join('')}`)]]])
  let ms = 0
  const wish = { ...costly, processorMs: () => (ms += 4) }
  const first = await search(jobId, wish)
  expect(first).toMatchObject({ matches: [], isComplete: false, scannedBytes: 6 })
  await expect(search(jobId, { ...wish, after: first.cursor })).rejects.toThrow(LineTooCostly)
  const last = await search(jobId, { ...wish, backwards: true })
  await expect(search(jobId, { ...wish, backwards: true, after: last.cursor })).rejects.toThrow(LineTooCostly)
})

test('a search reads the first 1 MiB of each line, and shows up to 2,000 characters', async () => {
  const { jobId } = await storeLog(sql, userId, [
    [
      [out(`${'ü'.repeat(300_000)}needle${'x'.repeat(2_000_000)}`)],
      [out('far needle\nneedle\n')],
      [out('😀'.repeat(3_000))],
    ],
  ])
  const { matches } = await searchAll(jobId, { query: 'needle' })
  expect(matches.map(({ line, text }) => [line, text.length])).toEqual([
    [1, 2_000],
    [2, 6],
  ])
  expect((await searchAll(jobId, { query: 'far' })).matches).toEqual([])
  expect((await searchAll(jobId, { query: '😀' })).matches[0]?.text).toBe('😀'.repeat(1_000))
})

test('a search of a stream with little output does not read the other streams', async () => {
  const other = out('a line of the other stream\n'.repeat(40_000))
  const { jobId } = await storeLog(sql, userId, [
    [[err('first\n')], ...Array.from({ length: 30 }, () => [other]), [err('last\n')]],
  ])
  const found = await search(jobId, { query: 'st', streams: ['STDERR'] })
  expect(found).toMatchObject({ matches: [{ text: 'first' }, { text: 'last' }], isComplete: true })
  expect(found.scannedBytes).toBeLessThan(2_000_000)
})
