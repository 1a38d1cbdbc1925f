import { expect, it } from 'vitest'
import { stackValues } from '../../web/parts/chart-series.ts'
import { secondsUnit } from '../../web/parts/chart-units.ts'
import { toCsv } from '../../web/parts/csv.ts'
import { formatAxisTime, formatElapsed } from '../../web/parts/time-axis.ts'

it('stackValues adds the series below, and returns null only where no series has a value', () => {
  const series = [{ values: [1, null, 3] }, { values: [2, null, null] }]
  expect(stackValues(series)).toEqual([
    [1, null, 3],
    [3, null, 3],
  ])
})

it('toCsv quotes cells only if necessary', () => {
  expect(
    toCsv([
      ['time', 'a, "b"'],
      [1, null],
    ]),
  ).toBe('time,"a, ""b"""\r\n1,\r\n')
})

it('formatAxisTime shows the date where a day begins', () => {
  const atMs = (hour: number) => new Date(2026, 10, 26, hour).getTime()
  expect(formatAxisTime(atMs(18), 21_600_000, atMs(12))).toBe('18:00')
  expect(formatAxisTime(atMs(24), 21_600_000, atMs(18))).toBe('27 Nov 00:00')
  expect(formatAxisTime(atMs(24), 86_400_000, atMs(0))).toBe('27 Nov')
})

it('formatElapsed omits zero parts', () => {
  expect([0, 60_000, 5_400_000, 7_200_000].map(formatElapsed)).toEqual(['0 s', '1 min', '1 h 30 min', '2 h'])
  expect([0, 0.4, 90].map(secondsUnit.format)).toEqual(['0 s', '< 1 s', '1 min 30 s'])
})
