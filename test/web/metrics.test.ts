import { expect, it } from 'vitest'
import { joinSteps, readMetric } from '../../web/features/jobs/metric-series.ts'
import { findTested, guessBest, sortByMetric, titleMetric } from '../../web/pages/sweep/sweep-metrics.ts'
import { metricUnit } from '../../web/parts/chart-units.ts'
import { formatStep } from '../../web/parts/time-axis.ts'

const point = (step: number, value: number) => ({ step, value })

it('readMetric ends with the newest value, even if it is newer than the stored points', () => {
  const metric = { name: 'loss', points: [point(1, 3), point(2, 2)], last: point(2, 2) } as never
  expect(readMetric(metric).points).toHaveLength(2)
  expect(readMetric(metric, point(3, 1)).points).toEqual([point(1, 3), point(2, 2), point(3, 1)])
  expect(readMetric(metric, point(1, 3)).points).toHaveLength(2)
})

it('joinSteps puts series with different steps on one axis', () => {
  expect(joinSteps([[point(1, 3), point(10, 2)], [point(5, 1)], []])).toEqual({
    at: [1, 5, 10],
    values: [
      [3, null, 2],
      [null, 1, null],
      [null, null, null],
    ],
  })
})

it('sortByMetric sorts the best job first and jobs without the metric last', () => {
  const jobs = ['a', 'b', 'c', 'd'].map((id) => ({ id }))
  const values = new Map([
    ['b', new Map([['loss', 0.5]])],
    ['c', new Map([['loss', 0.25]])],
    ['d', new Map([['acc', 1]])],
  ])
  const sorted = (best: 'lowest' | 'highest') =>
    sortByMetric(jobs, { name: 'loss', best }, values)
      .map(({ id }) => id)
      .join('')
  expect([sorted('lowest'), sorted('highest')]).toEqual(['cbad', 'bcad'])
})

it('guessBest guesses from the name of a metric whether low values are better', () => {
  expect(['val/loss', 'RMSE', 'accuracy', 'reward'].map(guessBest)).toEqual(['lowest', 'lowest', 'highest', 'highest'])
  expect([findTested(['lr', 'val/loss']), findTested(['lr']), findTested([])]).toEqual(['val/loss', 'lr', undefined])
  expect([titleMetric('lr', ['lr']), titleMetric('loss', ['lr'])]).toEqual(['lr (metric)', 'loss'])
})

it('metrics and steps of any magnitude are formatted as short texts', () => {
  expect([0, 0.123456, -1234.56, 0.00001234, 98765432].map(metricUnit.format)).toEqual([
    '0',
    '0.1235',
    '-1,235',
    '1.23E-5',
    '9.88E7',
  ])
  expect([20, 1_500, 2_000_000].map(formatStep)).toEqual(['20', '1.5K', '2M'])
})
