import { useMemo } from 'react'
import type { UsageBy } from '../../generated/graphql.ts'
import type { Series } from '../../parts/chart-series.ts'
import { type ChartUnit, numberUnit, secondsUnit } from '../../parts/chart-units.ts'
import { formatMoney } from '../../parts/format.ts'
import { TimeChart } from '../../parts/time-chart.tsx'
import type { Usage } from './read-usage.ts'
import styles from './usage.module.css'
import { chartByKey, chartWaits, listMoments, sumPoints, type Timeline, type UsagePoint } from './usage-series.ts'

interface UsageChartsProps {
  usage: Usage
  by: UsageBy
  pool: string | undefined
  onZoom: (fromMs: number, toMs: number) => void
}

interface ChartData {
  title: string
  series: readonly Series[]
  unit: ChartUnit
  isStacked: boolean
  reference?: { value: number; label: string }
}

/** The charts of the page. They share the time axis; dragging over one zooms all. */
export function UsageCharts({ usage, by, pool, onZoom }: UsageChartsProps) {
  const timeline = useMemo(() => listMoments(usage.byPool, usage.bucketSeconds), [usage])
  const charts = useMemo(() => listCharts(usage, timeline, { by, pool }), [usage, timeline, by, pool])
  return (
    <section aria-labelledby="charts">
      <header className={styles.sectionHead}>
        <h2 id="charts">Over time</h2>
      </header>
      <div className={styles.charts}>
        {charts.map((chart) => (
          <TimeChart key={chart.title} {...chart} at={timeline.at} span={usage.span} onZoom={onZoom} />
        ))}
      </div>
    </section>
  )
}

function listCharts(
  { byKey, byPool, bucketSeconds }: Usage,
  timeline: Timeline,
  { by, pool }: { by: UsageBy; pool: string | undefined },
): readonly ChartData[] {
  const word = by.toLowerCase()
  const states = [
    {
      name: 'running',
      color: 'var(--state-running)',
      values: sumPoints(byPool, timeline, ({ averageRunning }) => averageRunning),
    },
    {
      name: 'queued',
      color: 'var(--state-queued)',
      values: sumPoints(byPool, timeline, ({ averageQueued }) => averageQueued),
    },
    {
      name: 'blocked',
      color: 'var(--state-blocked)',
      values: sumPoints(byPool, timeline, ({ averageBlocked }) => averageBlocked),
    },
  ].filter(({ name, values }) => name !== 'blocked' || values.some(Boolean))
  const capacity = (measure: (point: UsagePoint) => number) =>
    Math.max(0, ...sumPoints(byPool, timeline, measure).map(Number))
  const held = (title: string, measure: (point: UsagePoint) => number, all: number): ChartData[] =>
    all > 0
      ? [
          {
            title: `${title} in use by ${word}`,
            series: chartByKey(byKey, timeline, measure),
            unit: numberUnit,
            isStacked: true,
            reference: { value: all, label: `${numberUnit.format(all)} in the ${pool ? 'pool' : 'pools'}` },
          },
        ]
      : []
  const bucket = secondsUnit.format(bucketSeconds)
  const waits = (title: string, measure: (point: UsagePoint) => number | null): ChartData => ({
    title,
    series: chartWaits(byPool, timeline, measure),
    unit: secondsUnit,
    isStacked: false,
  })
  return [
    { title: 'Running and waiting jobs', series: states, unit: numberUnit, isStacked: true },
    ...held(
      'GPUs',
      ({ averageGpu }) => averageGpu,
      capacity(({ gpuCapacity }) => gpuCapacity),
    ),
    ...held(
      'Cores',
      ({ averageCpu }) => averageCpu,
      capacity(({ cpuCapacity }) => cpuCapacity),
    ),
    ...listCosts(byKey, timeline, `Cost by ${word}, for each ${bucket}`),
    waits('Wait, half of the runs (p50)', ({ waitP50Seconds }) => waitP50Seconds),
    waits('Wait, 95 of 100 runs (p95)', ({ waitP95Seconds }) => waitP95Seconds),
  ]
}

/** Makes a cost chart for each currency, because amounts in different currencies cannot be added. */
function listCosts(points: readonly UsagePoint[], timeline: Timeline, title: string): readonly ChartData[] {
  const paid = points.filter(({ cost }) => cost !== null && cost.amount > 0)
  return [...Map.groupBy(paid, ({ cost }) => cost?.currency ?? null)].map(([currency, own]) => ({
    title: currency === null ? title : `${title} (${currency})`,
    series: chartByKey(own, timeline, ({ cost }) => cost?.amount ?? 0),
    unit: { format: (amount) => formatMoney({ amount, currency }) },
    isStacked: true,
  }))
}
