import { describe, expect, it } from 'vitest'
import { findGroupAround, findGroups, type Mark, readMarks, toGroupName } from '../../web/features/log/groups.ts'
import { buildRows, drawTicks, hideGroups } from '../../web/features/log/rows.ts'

const marksOf = (...lines: [number, string][]) => readMarks(lines.map(([line, text]) => ({ line, text })))

it('groups begin at the marks of GitHub Actions and Buildkite', () => {
  const marks = marksOf([1, '::group::Install'], [5, '::endgroup::'], [7, '--- :node: Build'], [9, '+++ Test'])
  expect(marks.map(({ line, kind }) => [line, kind])).toEqual([
    [1, 'FOLDED'],
    [5, 'END'],
    [7, 'FOLDED'],
    [9, 'OPEN'],
  ])
  expect(['::group::Install', '--- Build', '+++ Test'].map(toGroupName)).toEqual(['Install', 'Build', 'Test'])
})

it('headers of diffs, results of tests and titles between dashes do not begin groups', () => {
  expect(
    marksOf([1, '--- a/file'], [2, '+++ b/file'], [3, '--- PASS: TestIt (0.00s)'], [4, '--- Logging error ---']),
  ).toEqual([])
  expect(marksOf([1, '--- Build'], [3, '+++ Test'])).toHaveLength(2)
})

it('a group ends at its end mark or before the next group, and the last one is open', () => {
  const marks: Mark[] = [
    { line: 2, kind: 'FOLDED' },
    { line: 4, kind: 'END' },
    { line: 6, kind: 'FOLDED' },
    { line: 9, kind: 'OPEN' },
    { line: 10, kind: 'FOLDED' },
    { line: 12, kind: 'FOLDED' },
  ]
  const groups = findGroups(marks, 20)
  expect(groups).toEqual([
    { from: 2, to: 4, isOpen: false },
    { from: 6, to: 8, isOpen: false },
    { from: 10, to: 11, isOpen: false },
    { from: 12, to: 20, isOpen: true },
  ])
  expect([2, 3, 4, 5, 8].map((line) => findGroupAround(groups, line)?.from)).toEqual([undefined, 2, 2, undefined, 6])
})

describe('the rows of a log with folded groups', () => {
  const group = (from: number, to: number) => ({ from, to, isOpen: false })
  const numbers = (rows: ReturnType<typeof buildRows>) =>
    rows.slice(0, rows.count).map(({ gap, number }) => (gap ? 'gap' : number))

  it('contain only the first line of each group', () => {
    const rows = hideGroups(buildRows(10, []), [group(2, 4), group(6, 10)])
    expect(numbers(rows)).toEqual([1, 2, 5, 6])
    expect([1, 2, 3, 4, 5, 6, 10].map(rows.indexOf)).toEqual([0, 1, 1, 1, 2, 3, 3])
  })

  it('keep gaps outside of folded groups at their positions', () => {
    const gap = (beforeLine: number) => ({ startOffset: beforeLine, beforeLine, bytes: 1, reason: 'LOST' }) as const
    const rows = hideGroups(buildRows(8, [gap(2), gap(4), gap(7)]), [group(3, 5)])
    expect(numbers(rows)).toEqual([1, 'gap', 2, 3, 6, 'gap', 7, 8])
    expect(rows.indexOf(7)).toBe(6)
  })

  it('contain all lines of a group if its first line is hidden by the choice of streams', () => {
    expect(numbers(hideGroups(buildRows(9, [], [3, 4, 7, 8]), [group(2, 5), group(7, 9)]))).toEqual([3, 4, 7])
  })

  it('are computed for a million lines, also the ticks of the scroll bar', () => {
    const folded = Array.from({ length: 10_000 }, (_, i) => group(100 * i + 1, 100 * i + 100))
    const rows = hideGroups(buildRows(1_000_000, []), folded)
    expect(rows.count).toBe(10_000)
    expect([0, 5_000, 9_999].map((row) => rows.at(row)?.number)).toEqual([1, 500_001, 999_901])
    expect(rows.indexOf(500_050)).toBe(5_000)
    expect(drawTicks([500_050], rows, 400)).toBe('M0 201h8')
  })
})
