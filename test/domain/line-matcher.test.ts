import { expect, test } from 'vitest'
import { LineMatcher } from '../../src/domain/line-matcher.ts'
import { BadPattern } from '../../src/domain/pattern.ts'

const exact = { regex: true, ignoreCase: false }

const unlimited = Number.POSITIVE_INFINITY

/** Finds the matching lines in slices with a maximum number of bytes and a maximum of work. */
function findLines(matcher: LineMatcher, text: string, sliceBytes = 7, sliceWork = unlimited): string[] {
  const bytes = Buffer.from(text)
  const found: string[] = []
  matcher.reset()
  for (let from = 0; from < bytes.length; ) {
    let to = Math.min(bytes.length, from + sliceBytes)
    while (((bytes[to] ?? 0) & 0xc0) === 0x80) to++
    const { at, matches } = matcher.find(bytes, from, to, sliceWork)
    if (matches) {
      const begin = at === 0 ? 0 : bytes.lastIndexOf(10, at - 1) + 1
      const end = bytes.indexOf(10, at)
      found.push(bytes.subarray(begin, end).toString())
      from = end + 1
    } else from = at
  }
  return found
}

const lines = [
  '',
  'a',
  'ab',
  'aab',
  'b',
  'abc\t',
  'Ab',
  'ü',
  'Üa',
  'aß😀b',
  '😀',
  'a.b',
  'x'.repeat(50),
  '  end',
  'end ',
  'endend',
]
const text = lines.map((line) => `${line}\n`).join('')

const patterns = [
  'a',
  'ab',
  '^a',
  'b$',
  '^$',
  '^a*$',
  'a|b',
  '(ab|a)b',
  'a.b',
  '[ab]{2}',
  '\\d',
  '\\w\\s',
  '\\.',
  '[^a-z]',
  'x{3,50}',
  '^(end)+$',
  '😀',
  'ß.b',
  '^.$',
  '.',
  'x*',
  '(^a|b$)',
  '[ü-ÿ]',
  '(?:en)d',
]

test.each(patterns)('a pattern matches the same lines as a regular expression of JavaScript: %s', (pattern) => {
  for (const ignoreCase of [false, true]) {
    const wanted = new RegExp(pattern, ignoreCase ? 'iu' : 'u')
    const matcher = new LineMatcher(pattern, { regex: true, ignoreCase })
    expect(findLines(matcher, text)).toEqual(lines.filter((line) => wanted.test(line)))
    for (const size of [1, 3, 10_000]) expect(findLines(matcher, text, size)).toEqual(findLines(matcher, text))
    expect(findLines(new LineMatcher(pattern, { regex: true, ignoreCase }), text, 10_000, 1)).toEqual(
      findLines(matcher, text),
    )
  }
})

test('a text that is not a pattern is matched literally', () => {
  const found = (query: string, ignoreCase = false) =>
    findLines(new LineMatcher(query, { regex: false, ignoreCase }), text)
  expect(found('a.b')).toEqual(['a.b'])
  expect(found('AB')).toEqual([])
  expect(found('AB', true)).toEqual(['ab', 'aab', 'abc\t', 'Ab'])
  expect(found('üA', true)).toEqual(['Üa'])
  expect(found('^')).toEqual([])
})

test('the last line may have no newline', () => {
  const matcher = new LineMatcher('end$', exact)
  const bytes = Buffer.from('the end')
  matcher.reset()
  expect(matcher.find(bytes, 0, bytes.length, unlimited)).toEqual({ at: bytes.length, matches: false })
  expect(matcher.matchesAtEnd()).toBe(true)
})

test('each byte that is not UTF-8 is matched as one character', () => {
  const matcher = new LineMatcher('^a..b$', exact)
  const bytes = Buffer.from([0x61, 0xff, 0xc3, 0x62, 10])
  matcher.reset()
  expect(matcher.find(bytes, 0, bytes.length, unlimited)).toEqual({ at: 4, matches: true })
})

test.each([
  [
    'a',
    'banana',
    [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
  ],
  ['an|anan', 'banana', [[1, 5]]],
  [
    '^b|a$',
    'banana',
    [
      [0, 1],
      [5, 6],
    ],
  ],
  ['x*', 'axxb', [[1, 3]]],
  [
    '.',
    '😀ü',
    [
      [0, 2],
      [2, 3],
    ],
  ],
  ['q', 'banana', []],
])('the matches of the pattern %s in %s are located', (pattern, line, places) => {
  const found = new LineMatcher(pattern, exact).ranges(line, 100)
  expect(found.map(({ start, end }) => [start, end])).toEqual(places)
})

test('the number of located matches is limited', () => {
  expect(new LineMatcher('a', exact).ranges('a'.repeat(1_000), 100)).toHaveLength(100)
})

test.each(['', 'a\nb', 'x'.repeat(256), '(', 'a**', '*', '^*', '[', '\\b', '(?=a)', 'a{300}', '(a{50}){50}'])(
  'the pattern %j is refused',
  (pattern) => expect(() => new LineMatcher(pattern, exact)).toThrow(BadPattern),
)

const costly = ['(a|aa)+$', '(a*)*b', '(.*)(.*)(.*)x', '(a|b)*a(a|b){12}c', '([ab]{1,9}){1,5}c', '(a.{80}|b.{80})c']
let seed = 1
const nextBit = () => {
  seed = (seed * 48_271) % 2_147_483_647
  return seed % 2 === 0 ? 'a' : 'b'
}
const bits = Array.from({ length: 20_000 }, nextBit).join('')

test.each(costly)('a pattern takes work that is linear in the text, and stops at its limit of work: %s', (pattern) => {
  const matcher = new LineMatcher(pattern, exact)
  const bytes = Buffer.from(bits)
  /** Work of a transition from 200 active steps, and of a call. */
  const atMost = 2_000
  for (let at = 0; at < bytes.length; ) {
    const before = matcher.work
    const found = matcher.find(bytes, at, bytes.length, 5_000)
    expect(matcher.work - before).toBeLessThan(5_000 + found.at - at + atMost)
    expect(found.at + Number(found.matches)).toBeGreaterThan(at)
    at = found.at + Number(found.matches)
  }
  expect(matcher.work).toBeLessThan(bits.length * atMost)
})

test('the work to locate the matches in a line is limited', () => {
  const matcher = new LineMatcher('(a.{80}|b.{80})*c', exact)
  expect(matcher.ranges(bits.slice(0, 2_000), 100)).toEqual([])
  expect(matcher.work).toBeLessThan(105_000)
})

test('locating matches counts as work for each position where a match may begin, and for each character', () => {
  const nowhere = new LineMatcher('y{3,80}', exact)
  expect(nowhere.ranges('x'.repeat(1_000), 100)).toEqual([])
  expect(nowhere.work).toBeGreaterThan(20_000)
  const longLine = new LineMatcher('^.*y', exact)
  expect(longLine.ranges('x'.repeat(1_000), 100)).toEqual([])
  expect(longLine.work).toBeGreaterThan(5_000)
})
