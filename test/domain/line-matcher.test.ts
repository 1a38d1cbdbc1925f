import { expect, test } from 'vitest'
import { LineMatcher } from '../../src/domain/line-matcher.ts'
import { BadPattern } from '../../src/domain/pattern.ts'

const exact = { regex: true, ignoreCase: false }

/** The lines that match, found in slices of so many bytes. */
function findLines(matcher: LineMatcher, text: string, sliceBytes = 7): string[] {
  const bytes = Buffer.from(text)
  const found: string[] = []
  matcher.reset()
  for (let from = 0; from < bytes.length; ) {
    let to = Math.min(bytes.length, from + sliceBytes)
    while (((bytes[to] ?? 0) & 0xc0) === 0x80) to++
    const at = matcher.find(bytes, from, to)
    if (at >= 0) {
      const begin = at === 0 ? 0 : bytes.lastIndexOf(10, at - 1) + 1
      const end = bytes.indexOf(10, at)
      found.push(bytes.subarray(begin, end).toString())
      from = end + 1
    } else from = to
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

test.each(patterns)('a pattern matches the same lines as in JavaScript: %s', (pattern) => {
  for (const ignoreCase of [false, true]) {
    const wanted = new RegExp(pattern, ignoreCase ? 'iu' : 'u')
    const matcher = new LineMatcher(pattern, { regex: true, ignoreCase })
    expect(findLines(matcher, text)).toEqual(lines.filter((line) => wanted.test(line)))
    for (const size of [1, 3, 10_000]) expect(findLines(matcher, text, size)).toEqual(findLines(matcher, text))
  }
})

test('a plain text is matched literally', () => {
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
  expect(matcher.find(bytes, 0, bytes.length)).toBe(-1)
  expect(matcher.matchesAtEnd()).toBe(true)
})

test('bytes that are not UTF-8 are one character each', () => {
  const matcher = new LineMatcher('^a..b$', exact)
  const bytes = Buffer.from([0x61, 0xff, 0xc3, 0x62, 10])
  matcher.reset()
  expect(matcher.find(bytes, 0, bytes.length)).toBe(4)
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
])('the matches of %s in %s are located', (pattern, line, places) => {
  const found = new LineMatcher(pattern, exact).ranges(line, 100)
  expect(found.map(({ start, end }) => [start, end])).toEqual(places)
})

test('the number of located matches is limited', () => {
  expect(new LineMatcher('a', exact).ranges('a'.repeat(1_000), 100)).toHaveLength(100)
})

test.each(['', 'a\nb', 'x'.repeat(256), '(', 'a**', '*', '^*', '[', '\\b', '(?=a)', 'a{300}', '(a{50}){50}'])(
  'a pattern is refused: %j',
  (pattern) => expect(() => new LineMatcher(pattern, exact)).toThrow(BadPattern),
)

test.each(['(a|aa)+$', '(a*)*b', '(.*)(.*)(.*)x', '(a|b)*a(a|b){12}', '([ab]{1,9}){1,9}c'])(
  'a pattern takes linear time, or is refused: %s',
  (pattern) => {
    const bits = Array.from({ length: 200_000 }, (_, at) => ((at * 7_919) % 13 < 6 ? 'a' : 'b')).join('')
    const began = performance.now()
    try {
      findLines(new LineMatcher(pattern, exact), `${bits}\n`, 4_096)
      new LineMatcher(pattern, exact).ranges(bits.slice(0, 2_000), 100)
    } catch (error) {
      expect(error).toBeInstanceOf(BadPattern)
    }
    // Seconds would be minutes for a pattern that tries all ways.
    expect(performance.now() - began).toBeLessThan(10_000)
  },
)
