import { expect, it } from 'vitest'
import { alignFrom, chooseBucket, lengthenBucket, readRange, widenRange } from '../../web/pages/usage/usage-range.ts'
import { chartByKey, listMoments, listTotals, sumPoints, type UsagePoint } from '../../web/pages/usage/usage-series.ts'

const nowMs = Date.parse('2026-11-26T12:00:00Z')
const hourMs = 3_600_000
const at = (hour: number) => new Date(nowMs + hour * hourMs).toISOString()
const makePoint = (key: string | null, hour: number, more: Partial<UsagePoint> = {}) =>
  ({
    key,
    at: at(hour),
    averageGpu: 0,
    averageCpu: 0,
    started: 0,
    finished: 0,
    failed: 0,
    cost: null,
    ...more,
  }) as UsagePoint

it('readRange reads durations until now, and dates', () => {
  expect(readRange(undefined, undefined, nowMs)).toEqual({ fromMs: nowMs - 24 * hourMs, toMs: nowMs, isOpen: true })
  expect(readRange('2026-11-26T00:00:00Z', '2026-11-26T06:00:00Z', nowMs)).toMatchObject({ isOpen: false })
  expect(readRange('yesterday', undefined, nowMs)).toBeNull()
  expect(readRange('2026-11-26', '2026-11-25', nowMs)).toBeNull()
})

it('chooseBucket returns a round length for few buckets, and alignFrom a round start time', () => {
  const range = (hours: number) => ({ fromMs: nowMs - hours * hourMs, toMs: nowMs })
  expect([1, 24, 24 * 7, 24 * 365].map((hours) => chooseBucket(range(hours)))).toEqual([60, 600, 7_200, 604_800])
  expect(lengthenBucket(600)).toBe(900)
  expect(alignFrom({ fromMs: nowMs + 61_000 }, 600)).toBe(nowMs)
})

it('widenRange doubles the range, but not beyond now', () => {
  const range = { fromMs: nowMs - 2 * hourMs, toMs: nowMs - hourMs, isOpen: false }
  expect(widenRange(range, nowMs)).toEqual({ from: at(-2.5), to: at(-0.5) })
  expect(widenRange({ ...range, toMs: nowMs }, nowMs).to).toBeUndefined()
})

it('a bucket without a measurement is unknown, and a key without a point in a measured bucket is 0', () => {
  const byPool = [makePoint('gpu', 0, { averageGpu: 3 }), makePoint('cpu', 0, { averageGpu: 1 }), makePoint('gpu', 2)]
  const timeline = listMoments(byPool, 3_600)
  expect(sumPoints(byPool, timeline, ({ averageGpu }) => averageGpu)).toEqual([4, null, 0])
  expect(chartByKey([makePoint('ann', 0, { averageGpu: 2 })], timeline, ({ averageGpu }) => averageGpu)).toMatchObject([
    { name: 'ann', values: [2, null, 0] },
  ])
})

it('chartByKey adds keys with small values to one series', () => {
  const points = ['a', 'b', 'c', 'd', 'e', 'f'].map((key, i) => makePoint(key, 0, { averageGpu: 10 - i }))
  const series = chartByKey(points, listMoments(points, 3_600), ({ averageGpu }) => averageGpu)
  expect(series.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', '2 others'])
  expect(series.at(-1)?.values).toEqual([11])
})

it('listTotals sorts the totals, the largest use first', () => {
  const whole = [
    makePoint('ann', -2, { gpuSeconds: 3_600, cpuSeconds: 1_800, waitP50Seconds: 7 }),
    makePoint('ben', -2, { gpuSeconds: 7_200, cpuSeconds: 0 }),
  ]
  expect(listTotals(whole)).toMatchObject([
    { key: 'ben', gpuHours: 2, coreHours: 0 },
    { key: 'ann', gpuHours: 1, coreHours: 0.5, waitP50Seconds: 7 },
  ])
})
