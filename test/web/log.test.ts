import { describe, expect, it } from 'vitest'
import { parseLine, toPlainText } from '../../web/log/ansi.ts'
import { LogLines } from '../../web/log/log-lines.ts'
import { findMatch, searchLog, splitMatches, toHighlighter } from '../../web/log/log-search.ts'
import { formatRange, parseRange } from '../../web/log/range.ts'
import { buildRows } from '../../web/log/rows.ts'
import { barLength, nativePxMax, toScrollTop, toTop } from '../../web/log/scroller.ts'
import { until } from '../support/until.ts'

describe('a line of a terminal', () => {
  it('has colours, marks and backgrounds', () => {
    const { spans } = parseLine('\x1b[1;32mok\x1b[0m \x1b[38;5;196;48;2;1;2;3mred\x1b[39;49m plain')
    expect(spans.map(({ text, color, background, marks }) => [text, color, background, marks])).toEqual([
      ['ok', 'var(--ansi-2)', undefined, ['bold']],
      [' ', undefined, undefined, []],
      ['red', 'rgb(255 0 0)', 'rgb(1 2 3)', []],
      [' plain', undefined, undefined, []],
    ])
  })

  it('shows the last state of a line that was written over', () => {
    expect(parseLine('10 %\r20 %\r30 %')).toMatchObject({ spans: [{ text: '30 %' }], updates: 2 })
    expect(toPlainText('done\r')).toBe('done')
  })

  it('links to http addresses, and shows other links as text', () => {
    const link = (href: string) => parseLine(`\x1b]8;;${href}\x07here\x1b]8;;\x07`).spans[0]
    expect(link('https://example.org')).toMatchObject({ text: 'here', href: 'https://example.org' })
    expect(link('javascript:alert(1)')).toMatchObject({ text: 'here', href: undefined })
  })

  it.each(['\x1b]0;title\x07text', '\x1b[2Jtext', '\x1b[?25ltext', '\x1bctext'])('drops the sequence of %j', (text) => {
    expect(toPlainText(text)).toBe('text')
  })
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

it('gaps are rows at their places', () => {
  const gap = (beforeLine: number) => ({ startOffset: beforeLine, beforeLine, bytes: 10, reason: 'DISK_FULL' as const })
  const rows = buildRows(4, [gap(1), gap(3), gap(5)])
  const shown = rows.slice(0, rows.count).map((row) => (row.gap ? 'gap' : row.number))
  expect(shown).toEqual(['gap', 1, 2, 'gap', 3, 4, 'gap'])
  expect(rows.indexOf(3)).toBe(4)
})

describe('the scroll bar', () => {
  const geometry = (rowCount: number) => ({ rowCount, rowPx: 18, windowPx: 600 })

  it('is the place itself while a browser can lay out all rows', () => {
    expect(toTop(1_234, geometry(10_000))).toBe(1_234)
    expect(barLength(geometry(10_000))).toBe(180_000)
  })

  it('reaches the first and the last of ten million lines, and comes back to each place', () => {
    const long = geometry(10_000_000)
    expect(barLength(long)).toBe(nativePxMax)
    expect(toTop(0, long)).toBe(0)
    expect(toTop(nativePxMax - 600, long)).toBe(180_000_000 - 600)
    for (const top of [18, 9_000_018, 179_999_000]) expect(toTop(toScrollTop(top, long), long)).toBeCloseTo(top, 3)
  })
})

describe('the lines of a log', () => {
  const line = (number: number, text = `line ${number}`) => ({
    number,
    at: '2026-11-24T18:00:00Z',
    stream: 'STDOUT',
    text,
    truncated: false,
  })

  /** `gapAfter`: output is missing after this line. */
  function startLines(count: number, live: readonly object[] = [], gapAfter = 0) {
    const asked: { fromLine?: number; last?: number }[] = []
    const client = {
      request: async (
        _: unknown,
        { fromLine, first = 0, last }: { fromLine?: number; first?: number; last?: number },
      ) => {
        asked.push({ ...(fromLine !== undefined && { fromLine }), ...(last !== undefined && { last }) })
        const from = fromLine ?? Math.max(1, count - (last ?? 0) + 1)
        const to = Math.min(count, fromLine === undefined ? count : from + Math.min(first, 400) - 1)
        const lines = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => line(from + i))
        const isIn = gapAfter >= from && gapAfter < to
        const gaps = isIn ? [{ startOffset: 100, endOffset: 150, reason: 'DISK_FULL' }] : []
        return {
          job: { id: 'job_1', logs: { lines, gaps, cursor: 'c', firstLine: from, isFinal: live.length === 0 } },
        }
      },
      async *subscribe() {
        for (const tail of live) yield { tail }
      },
    }
    const lines = new LogLines({ client: client as never, jobId: 'job_1', run: 1, schedule: (run) => run() })
    lines.start()
    return { lines, asked }
  }

  it('begin with the last page; others are read when they are shown, also by several answers', async () => {
    const { lines, asked } = startLines(5_000)
    await until(() => !lines.state().isLoading, { what: 'the end is read' })
    expect(lines.state().lineCount).toBe(5_000)
    expect(lines.line(5_000)?.text).toBe('line 5000')
    expect(lines.line(1_500)).toBeUndefined()
    lines.show(1_480, 1_520)
    await until(() => lines.line(2_000), { what: 'the page is read' })
    expect(lines.line(1_001)?.text).toBe('line 1001')
    expect(asked).toEqual([{ last: 1_000 }, { fromLine: 1_001 }, { fromLine: 1_401 }, { fromLine: 1_801 }])
  })

  it('show a gap at its place, and are complete only when every page was read without one', async () => {
    const whole = startLines(1_500)
    await until(() => !whole.lines.state().isLoading, { what: 'the end is read' })
    expect(whole.lines.state().isWhole).toBe(false)
    whole.lines.show(1, 40)
    await until(() => whole.lines.state().isWhole, { what: 'all pages are read' })
    expect(whole.lines.state().gaps).toEqual([])

    const { lines } = startLines(900, [], 321)
    const placed = () => lines.state().gaps[0]?.beforeLine === 322
    await until(placed, { what: 'the place is found' })
    expect(lines.state().gaps).toEqual([{ startOffset: 100, beforeLine: 322, bytes: 50, reason: 'DISK_FULL' }])
  })

  it('grow with the stream; a line that comes in parts is one line', async () => {
    const batch = (...rows: object[]) => ({ __typename: 'LogBatch', lines: rows, isFinal: false, cursor: 'c' })
    const { lines } = startLines(2, [batch(line(3, 'a')), batch(line(3, 'b'), line(4, 'c')), batch(line(4, 'd'))])
    await until(() => lines.state().isFinal, { what: 'the stream ends' })
    expect([3, 4].map((number) => lines.line(number)?.text)).toEqual(['ab', 'cd'])
    expect(lines.state().lineCount).toBe(4)
  })
})

describe('a search', () => {
  const query = { text: 'a.c', isRegex: false, ignoreCase: true }

  it('goes on until the whole log was searched, and lists each line once', async () => {
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
    expect(steps.at(-1)).toMatchObject({ lines: [3, 9], scannedBytes: 25, isComplete: true })
  })

  it('moves from match to match, and around the ends', () => {
    expect([findMatch([3, 9], 3, 1), findMatch([3, 9], 9, 1), findMatch([3, 9], 3, -1)]).toEqual([9, 3, 9])
    expect(findMatch([], 3, 1)).toBeUndefined()
  })

  it('marks its text in a line', () => {
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
