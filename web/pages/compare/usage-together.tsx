import { useMemo } from 'react'
import { measures } from '../../features/jobs/measures.ts'
import { TimeChart } from '../../parts/time-chart.tsx'
import { alignSeries } from './common-axis.ts'
import styles from './compare.module.css'
import { type ComparedJob, seriesOf } from './compared-job.ts'

/** The usage of the last runs, each from its own start. */
export function UsageTogether({ jobs }: { jobs: readonly ComparedJob[] }) {
  const charts = useMemo(
    () =>
      measures.map((measure) => {
        const series = jobs.map(({ runs }) => {
          const [run] = runs.nodes
          const startMs = run?.startedAt ? Date.parse(run.startedAt) : 0
          return (run?.samples ?? []).map((sample) => ({
            atMs: Date.parse(sample.at) - startMs,
            value: measure.read(sample),
          }))
        })
        const isMeasured = series.some((each) => each.filter(({ value }) => value !== null).length > 1)
        return { measure, isMeasured, ...alignSeries(series) }
      }),
    [jobs],
  )
  const shown = charts.filter(({ isMeasured }) => isMeasured)
  return (
    <section aria-label="Usage">
      <h2 className={styles.heading}>Usage</h2>
      {shown.length === 0 && (
        <p className={styles.faint}>
          Too little was measured: the runs were short, or their executors cannot measure them.
        </p>
      )}
      <div className={styles.charts}>
        {shown.map(({ measure, at, values }) => (
          <TimeChart
            key={measure.title}
            title={measure.title}
            at={at}
            axis="ELAPSED"
            unit={measure.unit}
            series={jobs.map((job, i) => ({ ...seriesOf(job, i), values: values[i] ?? [] }))}
          />
        ))}
      </div>
    </section>
  )
}
