import { useId, useMemo } from 'react'
import { metricUnit } from '../../parts/chart-units.ts'
import { TimeChart } from '../../parts/time-chart.tsx'
import { joinSteps, type MetricValues } from './metric-series.ts'

/** The metrics of one run. */
export interface MetricSource {
  /** The name of the run in the legend; default: the name of the metric. */
  name?: string
  color: string
  metrics: readonly MetricValues[]
}

const height = 140

/** A chart for each metric name, with a series for each run that has it. The caller lays the charts out. */
export function MetricCharts({ sources }: { sources: readonly MetricSource[] }) {
  const pointer = useId()
  const charts = useMemo(() => {
    const names = new Set(sources.flatMap(({ metrics }) => metrics.map(({ name }) => name)))
    return [...names].toSorted().map((name) => {
      const found = sources.flatMap((source) => {
        const metric = source.metrics.find((each) => each.name === name)
        return metric ? [{ name: source.name ?? name, color: source.color, points: metric.points }] : []
      })
      const { at, values } = joinSteps(found.map(({ points }) => points))
      return { name, at, series: found.map(({ name, color }, i) => ({ name, color, values: values[i] ?? [] })) }
    })
  }, [sources])
  return charts.map(({ name, at, series }) => (
    <TimeChart
      key={name}
      title={name}
      axis="STEP"
      scale="FIT"
      pointer={pointer}
      unit={metricUnit}
      at={at}
      series={series}
      height={height}
    />
  ))
}
