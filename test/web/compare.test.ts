import { expect, it } from 'vitest'
import { alignSeries } from '../../web/pages/compare/common-axis.ts'
import { describeChange, differ } from '../../web/pages/compare/facts.ts'
import { findLogDifference, type LogPart, linesPerRead } from '../../web/pages/compare/log-difference.ts'
import { diffLogs } from '../../web/pages/compare/log-rows.ts'
import { findDifferences } from '../../web/pages/compare/spec-difference.ts'
import { chooseHeatStep, findAxes, sortValues } from '../../web/pages/sweep/sweep-axes.ts'

it('findDifferences compares specs field by field, and lists of named values by name', () => {
  const a = { command: ['sh', '-c', 'x y'], resources: { gpu: 1, cpu: 2 }, environment: [{ name: 'A', value: '1' }] }
  const b = {
    command: ['sh', '-c', 'x y'],
    resources: { gpu: 2, cpu: 2 },
    environment: [
      { name: 'B', value: '2' },
      { name: 'A', value: '1' },
    ],
  }
  expect(findDifferences([a, b])).toEqual([
    { path: 'resources.gpu', values: ['1', '2'] },
    { path: 'environment.B', values: [undefined, '2'] },
  ])
  expect(findDifferences([a, a])).toEqual([])
})

const logs = (...texts: readonly (readonly string[])[]) => {
  const lines = texts.map((each) => each.map((text, i): LogPart => ({ number: i + 1, text })))
  return async (source: number, from: number) => (lines[source] ?? []).slice(from - 1, from - 1 + linesPerRead)
}
const many = Array.from({ length: 2_500 }, (_, i) => `step ${i}`)

it('findLogDifference returns the first different line, also after many equal pages', async () => {
  const read = logs(many, many.with(2_400, 'nan'))
  expect(await findLogDifference(2, read)).toMatchObject({ line: 2_401, texts: ['step 2400', 'nan'] })
})

it('findLogDifference returns the end of the shorter log, and null for equal logs', async () => {
  expect(await findLogDifference(2, logs(['a', 'b'], ['a']))).toMatchObject({ line: 2, texts: ['b', undefined] })
  expect(await findLogDifference(2, logs(many, many))).toMatchObject({ line: null, compared: 2_500, isWhole: true })
})

it('findLogDifference joins the parts of a long line', async () => {
  const read = async (source: number, from: number): Promise<LogPart[]> => {
    if (from > 1) return []
    return source === 0
      ? [
          { number: 1, text: 'ab' },
          { number: 1, text: 'cd' },
        ]
      : [{ number: 1, text: 'abcd' }]
  }
  expect(await findLogDifference(2, read)).toMatchObject({ line: null, isWhole: true })
})

it('alignSeries puts series on one time axis, with no values before and after a series', () => {
  const { at, values } = alignSeries([
    [
      { atMs: 0, value: 0 },
      { atMs: 240, value: 240 },
    ],
    [
      { atMs: 0, value: 5 },
      { atMs: 120, value: 5 },
    ],
  ])
  expect(at.at(-1)).toBe(240)
  expect(values[0]?.[100]).toBe(100)
  expect([values[1]?.[120], values[1]?.[121]]).toEqual([5, null])
})

it('findAxes returns the labels that differ in a sweep, and sorts numbers by value', () => {
  const job = (lr: string, seed: string) => ({
    labels: [
      { key: 'sweep', value: 'a' },
      { key: 'lr', value: lr },
      { key: 'seed', value: seed },
      { key: 'same', value: 'x' },
    ],
  })
  const axes = findAxes([job('0.1', '10'), job('0.01', '9')], 'sweep')
  expect([...axes]).toEqual([
    ['lr', ['0.01', '0.1']],
    ['seed', ['9', '10']],
  ])
  expect(sortValues(['adam', 'Sgd', 'adam2'])).toEqual(['adam', 'adam2', 'Sgd'])
})

it('chooseHeatStep spreads the colours from the lowest to the highest value', () => {
  expect([1, 2, 5, null].map((each) => chooseHeatStep(each, [1, 2, 5, null]))).toEqual([1, 2, 5, null])
  expect(chooseHeatStep(3, [3, 3])).toBe(1)
})

it('an amount is compared with that of the first job, and marked if it differs by a tenth', () => {
  expect([describeChange(120, 100), describeChange(50, 100), describeChange(100, 100)]).toEqual([
    '+20 %',
    '−50 %',
    null,
  ])
  expect([describeChange(5_000, 100), describeChange(1, null), describeChange(1, 0)]).toEqual(['× 50', null, null])
  expect([differ([100, 105]), differ([100, 120]), differ([1, null]), differ([null, null])]).toEqual([
    false,
    true,
    true,
    false,
  ])
})

it('diffLogs folds equal lines', () => {
  const lines = Array.from({ length: 20 }, (_, i) => `step ${i}`)
  const found = diffLogs(lines, [...lines.with(10, 'nan'), 'end'])
  expect(found).toMatchObject({ added: 2, removed: 1, isCut: false })
  const texts = found?.rows.map((row) => (row.kind === 'FOLD' ? row.count : `${row.kind} ${row.lines} ${row.text}`))
  expect(texts).toEqual([
    7,
    'BOTH 8,8 step 7',
    'BOTH 9,9 step 8',
    'BOTH 10,10 step 9',
    'FIRST 11, step 10',
    'SECOND ,11 nan',
    'BOTH 12,12 step 11',
    'BOTH 13,13 step 12',
    'BOTH 14,14 step 13',
    3,
    'BOTH 18,18 step 17',
    'BOTH 19,19 step 18',
    'BOTH 20,20 step 19',
    'SECOND ,21 end',
  ])
})

it('diffLogs limits the number of rows', () => {
  const [first, second] = ['a', 'b'].map((name) => Array.from({ length: 600 }, (_, i) => `${name} ${i}`))
  const found = diffLogs(first ?? [], second ?? [])
  expect(found).toMatchObject({ added: 600, removed: 600, isCut: true })
  expect(found?.rows).toHaveLength(1_000)
})

it('diffLogs returns null for logs with too little in common', () => {
  const [first, second] = ['a', 'b'].map((name) => Array.from({ length: 1_600 }, (_, i) => `${name} ${i}`))
  expect(diffLogs(first ?? [], second ?? [])).toBeNull()
})
