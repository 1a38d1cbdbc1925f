import { useMemo } from 'react'
import { measures } from '../../features/jobs/measures.ts'
import { TimeChart } from '../../parts/time-chart.tsx'
import { alignSeries } from './common-axis.ts'
import styles from './compare.module.css'
import { type ComparedJob, describeSeries } from './compared-job.ts'

/** Charts of the usage of the last runs. Times count from the start of each run. */
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
            series={jobs.map((job, i) => ({ ...describeSeries(job, i), values: values[i] ?? [] }))}
          />
        ))}
      </div>
    </section>
  )
}
