import { describe, expect, it } from 'vitest'
import { foldSpans, parseLine, readLastState, toPlainText } from '../../web/features/log/ansi.ts'
import { formatJsonLine } from '../../web/features/log/json-line.ts'
import { allStreams } from '../../web/features/log/line-store.ts'
import { formatElapsed } from '../../web/features/log/line-time.ts'
import { LogLines } from '../../web/features/log/log-lines.ts'
import { findMatch, nothingFound, searchLog, splitMatches, toHighlighter } from '../../web/features/log/log-search.ts'
import { formatRange, parseRange, parseTarget } from '../../web/features/log/range.ts'
import { buildRows, drawTicks } from '../../web/features/log/rows.ts'
import {
  barPxMax,
  computeBarPx,
  findEndPlace,
  measureOffset,
  movePlace,
  toPlace,
  toScrollTop,
} from '../../web/features/log/scroller.ts'
import { until } from '../support/until.ts'

describe('a line of a terminal', () => {
  it('is parsed into spans with colours, styles and backgrounds', () => {
    const spans = parseLine('\x1b[1;32mok\x1b[0m \x1b[38;5;196;48;2;1;2;3mred\x1b[39;49m plain')
    expect(spans.map(({ text, color, background, marks }) => [text, color, background, marks])).toEqual([
      ['ok', 'var(--ansi-2)', undefined, ['bold']],
      [' ', undefined, undefined, []],
      ['red', 'rgb(255 0 0)', 'rgb(1 2 3)', []],
      [' plain', undefined, undefined, []],
    ])
  })

  it('is shown in its last state if carriage returns overwrote it', () => {
    expect(toPlainText('10 %\r20 %\r30 %')).toBe('30 %')
    expect(readLastState('10 %\r20 %\r30 %')).toEqual({ text: '30 %', updates: 3 })
    expect(toPlainText('done\r')).toBe('done')
    expect(readLastState('done\r').updates).toBe(0)
    expect(toPlainText('spin |\b/\b-')).toBe('spin -')
  })

  it('has links to http addresses, and shows other links as text', () => {
    const link = (href: string) => parseLine(`\x1b]8;;${href}\x07here\x1b]8;;\x07`)[0]
    expect(link('https://example.org')).toMatchObject({ text: 'here', href: 'https://example.org' })
    for (const href of ['javascript:alert(1)', ' https://x', 'data:text/html,x', 'file:///etc/passwd', '//x'])
      expect(link(href)).toMatchObject({ text: 'here', href: undefined })
  })

  it.each([
    '\x1b]0;title\x07text',
    '\x1b]52;c;aGk=\x1b\\text',
    '\x1bPq#0\x1b\\text',
    '\x1b_hidden\x07text',
    '\x1b[2Jtext',
    '\x1b[10;10Htext',
    '\x1b[1A\x1b[2Ktext',
    '\x1b[?25ltext',
    '\x1bctext',
    'text\x1b',
    'text\x1b[',
    'text\x1b]0;never ended',
  ])('loses the escape sequence in %j', (text) => {
    expect(toPlainText(text).replace(/\[$/, '')).toBe('text')
  })

  it('shows control characters and direction marks as harmless symbols', () => {
    expect(toPlainText('a\0b\x07c\x7fd\x9b31m')).toBe('a␀b␇c⟨U+007F⟩d⟨U+009B⟩31m')
    expect(toPlainText('\u202Etxt.exe\u2066')).toBe('⟨U+202E⟩txt.exe⟨U+2066⟩')
    expect(toPlainText('tab\tعربي <b>')).toBe('tab\tعربي <b>')
  })

  it('has a limited number of spans, and is folded if its text is long', () => {
    const rainbow = Array.from({ length: 20_000 }, (_, i) => `\x1b[${31 + (i % 6)}mx`).join('')
    const spans = parseLine(rainbow)
    expect(spans.length).toBe(400)
    expect(toPlainText(rainbow)).toBe('x'.repeat(20_000))
    expect(
      foldSpans(spans, 1_000)
        .map(({ text }) => text)
        .join(''),
    ).toBe('x'.repeat(1_000))
    expect(foldSpans(spans, 20_000)).toBe(spans)
  })
})

it('formatJsonLine formats JSON objects, and leaves other lines', () => {
  expect(formatJsonLine('{"a":[1,{"b":null}]}')).toBe(JSON.stringify({ a: [1, { b: null }] }, null, 2))
  for (const text of ['{}', 'x {"a":1}', '{"a":1', '{"a":}']) expect(formatJsonLine(text)).toBeNull()
})

it('formatElapsed formats the time since the start of a run', () => {
  expect([0, 62_340, 3_723_400].map(formatElapsed)).toEqual(['+0:00.0', '+1:02.3', '+1:02:03.4'])
})

it('parseTarget reads a line, a date or a time of day', () => {
  const endMs = new Date(2026, 10, 24, 15, 0, 0).getTime()
  expect(parseTarget('1,200', endMs)).toEqual({ line: 1_200 })
  expect(parseTarget('L7', endMs)).toEqual({ line: 7 })
  expect(parseTarget('14:02:11', endMs)).toEqual({ at: new Date(2026, 10, 24, 14, 2, 11).toISOString() })
  expect(parseTarget('16:00', endMs)).toEqual({ at: new Date(2026, 10, 23, 16, 0, 0).toISOString() })
  expect(parseTarget('2026-11-24T10:00:00Z', endMs)).toEqual({ at: '2026-11-24T10:00:00.000Z' })
  expect(parseTarget('soon', endMs)).toBeNull()
})

it.each([
  ['#L120', { from: 120, to: 120 }],
  ['#L120-L140', { from: 120, to: 140 }],
  ['#L140-120', { from: 120, to: 140 }],
  ['#L0', null],
  ['#x', null],
])('the fragment %s selects lines', (hash, range) => {
  expect(parseRange(hash)).toEqual(range)
  if (range) expect(parseRange(`#${formatRange(range)}`)).toEqual(range)
})

it('buildRows puts gaps at their positions', () => {
  const gap = (beforeLine: number) => ({ startOffset: beforeLine, beforeLine, bytes: 10, reason: 'DISK_FULL' as const })
  const rows = buildRows(4, [gap(1), gap(3), gap(5)])
  const shown = rows.slice(0, rows.count).map((row) => (row.gap ? 'gap' : row.number))
  expect(shown).toEqual(['gap', 1, 2, 'gap', 3, 4, 'gap'])
  expect(rows.indexOf(3)).toBe(4)
})

it('buildRows contains only the lines of the chosen streams', () => {
  const gap = { startOffset: 9, beforeLine: 5, bytes: 10, reason: 'LOST' as const }
  const rows = buildRows(9, [gap], [2, 4, 7])
  expect(rows.slice(0, 9).map(({ gap, number }) => (gap ? 'gap' : number))).toEqual([2, 4, 'gap', 7])
  expect([1, 4, 5, 9].map(rows.indexOf)).toEqual([0, 1, 3, 4])
})

it('drawTicks draws at most one tick for each position that has lines', () => {
  const rows = buildRows(1_000_000, [])
  const places = (lines: readonly number[]) =>
    [...drawTicks(lines, rows, 400).matchAll(/M0 (\d+)/g)].map(([, at]) => Number(at))
  expect(places([1, 2, 500_001, 1_000_000])).toEqual([1, 201, 399])
  expect(places(Array.from({ length: 100_000 }, (_, i) => 10 * i + 1)).length).toBe(200)
  expect(drawTicks([3], buildRows(4, []), 400)).toBe('M0 201h8')
})

describe('the scroll bar', () => {
  const geometry = (rowCount: number, tall: ReadonlyMap<number, number> = new Map()) => ({
    rowCount,
    rowPx: 18,
    windowPx: 600,
    tall,
  })

  it('scrolls natively if the browser can lay out all rows', () => {
    expect(toPlace(1_800, geometry(10_000))).toBeCloseTo(100, 6)
    expect(computeBarPx(geometry(10_000))).toBe(180_000)
  })

  it('reaches the first and the last of ten million lines, and restores each position', () => {
    const long = geometry(10_000_000)
    expect(computeBarPx(long)).toBe(barPxMax)
    expect(toPlace(0, long)).toBe(0)
    expect(toPlace(barPxMax - 600, long)).toBe(10_000_000 - 600 / 18)
    for (const place of [1, 500_000.5, 9_999_900]) expect(toPlace(toScrollTop(place, long), long)).toBeCloseTo(place, 3)
  })

  it('moves by pixels if rows have different heights', () => {
    const mixed = geometry(
      100,
      new Map([
        [10, 90],
        [99, 180],
      ]),
    )
    expect(movePlace(9, 18 + 45, mixed)).toBe(10.5)
    expect(movePlace(10.5, -45 - 9, mixed)).toBe(9.5)
    expect(movePlace(0, -50, mixed)).toBe(0)
    expect(measureOffset(10.5, 12, mixed)).toBe(45 + 18)
    expect(measureOffset(10.5, 9, mixed)).toBe(-45 - 18)
    expect(measureOffset(findEndPlace(mixed), 99, mixed)).toBeCloseTo(600 - 180, 6)
  })
})

describe('the lines of a log', () => {
  const line = (number: number, text = `line ${number}`, more: object = {}) => ({
    number,
    at: '2026-11-24T18:00:00Z',
    stream: 'STDOUT',
    text,
    truncated: false,
    ...more,
  })
  const gap = { startOffset: 100, endOffset: 150, gapReason: 'DISK_FULL', line: 322 }

  /** Starts a log of `count` lines; `live`: the messages of its stream. */
  function startLines(count: number, { live = [], gaps = [] }: { live?: readonly object[]; gaps?: object[] } = {}) {
    const asked: object[] = []
    const messages = [...live]
    const client = {
      request: async (
        _: unknown,
        { from: start, first = 0, lastLines }: { from?: { line: number }; first?: number; lastLines?: number },
      ) => {
        if (start || lastLines !== undefined) asked.push(start ? { from: start.line, first } : { lastLines })
        const from = start?.line ?? Math.max(1, count - (lastLines ?? 0) + 1)
        const to = Math.min(count, start ? from + Math.min(first, 400) - 1 : count)
        const lines = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => line(from + i))
        const runs = { nodes: [{ number: 1, logBytes: 9_000, logLines: count }] }
        const logs = { lines, gaps: [], cursor: 'c', isFinal: live.length === 0 }
        return { job: { id: 'job_1', logGaps: gaps, runs, logs } }
      },
      async *tail() {
        yield* messages.splice(0)
      },
    }
    const options = { client: client as never, jobId: 'job_1', run: 1, lineCount: 0, nowMs: Date.now }
    const lines = new LogLines({ ...options, schedule: (run) => run() })
    lines.start()
    return { lines, asked }
  }
  const isRead = ({ lines }: ReturnType<typeof startLines>) =>
    until(() => lines.state().bytes !== null, { what: 'the end is read' })

  it('are read from the end first, and other pages when shown, also in several responses', async () => {
    const log = startLines(5_000)
    await isRead(log)
    const { lines, asked } = log
    expect(lines.state().lineCount).toBe(5_000)
    expect(lines.line(5_000)?.text).toBe('line 5000')
    expect(lines.line(1_400)).toBeUndefined()
    lines.show([1_380, 1_420])
    await until(() => lines.line(1_500), { what: 'the page is read' })
    expect(lines.line(1_001)?.text).toBe('line 1001')
    expect(asked).toEqual([{ lastLines: 100 }, { from: 1_001, first: 500 }, { from: 1_401, first: 100 }])
  })

  it('are not read for pages that the user passes while dragging the scroll bar', async () => {
    const log = startLines(100_000)
    await isRead(log)
    for (let from = 1; from < 90_000; from += 1_000) log.lines.show([from, from + 40])
    await until(() => log.lines.line(89_001), { what: 'the page where the bar stops is read' })
    expect(log.asked.length).toBeLessThan(10)
  })

  it('include all gaps from the start, and are called complete only without gaps', async () => {
    const whole = startLines(1_500)
    await isRead(whole)
    expect(whole.lines.state()).toMatchObject({ bytes: 9_000, gaps: [], isFinal: true })
    const torn = startLines(900, { gaps: [gap] })
    await isRead(torn)
    expect(torn.lines.state().gaps).toEqual([{ startOffset: 100, beforeLine: 322, bytes: 50, reason: 'DISK_FULL' }])
  })

  it('grow with the stream, which joins parts of a line around lines of another output stream', async () => {
    const batch = (...rows: object[]) => ({ __typename: 'LogBatch', lines: rows, isFinal: false, cursor: 'c' })
    const open = { truncated: true }
    const live = [
      batch(line(3, 'a', open)),
      batch(line(4, 'error', { stream: 'STDERR' }), line(3, 'b', open), line(5, 'c')),
      { __typename: 'LogGap', ...gap, line: null },
      batch(line(3, ''), line(6, 'd')),
    ]
    const log = startLines(2, { live })
    await until(() => log.lines.state().isFinal, { what: 'the stream ends' })
    expect([3, 4, 5, 6].map((number) => log.lines.line(number)?.text)).toEqual(['ab', 'error', 'c', 'd'])
    expect(log.lines.state()).toMatchObject({ lineCount: 6, gaps: [{ beforeLine: 6 }] })
  })

  it('are read again from the start after the log was replaced', async () => {
    const reset = { __typename: 'StreamReset', resetReason: 'RETENTION', cursor: 'c' }
    const log = startLines(3, { live: [reset] })
    await until(() => log.asked.length > 1, { what: 'the end is read again' })
    log.lines.stop()
    expect(log.asked.slice(0, 2)).toEqual([{ lastLines: 100 }, { lastLines: 100 }])
  })
})

describe('a search', () => {
  const query = { text: 'a.c', isRegex: false, ignoreCase: true, streams: allStreams }

  it('continues until the whole log was searched, and lists each line once', async () => {
    const answers = [
      { cursor: '1', isComplete: false, scannedBytes: 10, matches: [{ line: 3 }, { line: 3 }] },
      { cursor: '2', isComplete: false, scannedBytes: 10, matches: [] },
      { cursor: '3', isComplete: true, scannedBytes: 5, matches: [{ line: 9 }] },
    ]
    const asked: unknown[] = []
    const client = {
      request: async (_: unknown, { after }: { after: unknown }) => {
        asked.push(after)
        return { job: { id: 'job_1', logSearch: answers.shift() } }
      },
    }
    const signal = new AbortController().signal
    const steps = []
    for await (const step of searchLog({ client: client as never, jobId: 'job_1', run: 1, query, signal }))
      steps.push(step)
    expect(asked).toEqual([null, '1', '2'])
    expect(steps.at(-1)).toMatchObject({ lines: [3, 9], count: 2, scannedBytes: 25, isComplete: true })
  })

  it('moves from match to match, and wraps around at the ends', () => {
    const move = (lines: number[], from: number, direction: 1 | -1, isComplete = true) =>
      findMatch({ ...nothingFound, lines, isComplete }, from, direction)
    expect([move([3, 9], 3, 1), move([3, 9], 9, 1), move([3, 9], 3, -1)]).toEqual([9, 3, 9])
    expect(move([], 3, 1)).toBeUndefined()
    // While the search runs, matches after those found so far are unknown.
    expect([move([3, 9], 3, 1, false), move([3, 9], 9, -1, false)]).toEqual([9, 3])
    expect([move([3, 9], 9, 1, false), move([3, 9], 12, -1, false), move([], 3, 1, false)]).toEqual(
      Array(3).fill('UNKNOWN'),
    )
  })

  it('highlights its matches in a line', () => {
    const split = (text: string, more = {}) => {
      const highlighter = toHighlighter({ ...query, ...more })
      return highlighter && splitMatches(text, highlighter)
    }
    expect(split('xA.Cy abc')).toEqual(['x', 'A.C', 'y abc'])
    expect(split('xabcy', { isRegex: true })).toEqual(['x', 'abc', 'y'])
    expect(split('x', { isRegex: true, text: '(' })).toBeNull()
    expect(split('xx', { isRegex: true, text: 'a*' })).toEqual(['xx'])
  })
})
