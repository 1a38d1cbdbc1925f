import { useMemo } from 'react'
import { MetricCharts } from '../../features/jobs/metric-charts.tsx'
import { readMetric } from '../../features/jobs/metric-series.ts'
import { CompareMetricsDocument, type CompareMetricsQuery } from '../../generated/graphql.ts'
import { useQuery } from '../../ground/resource.ts'
import { FailedInline } from '../../parts/page-states.tsx'
import styles from './compare.module.css'
import { type ComparedJob, describeSeries } from './compared-job.ts'

const points = 240
const readAgainMs = 5_000

/** Charts of the metrics of the last runs, one for each metric name. Hidden if there are no metrics. */
export function MetricsTogether({ jobs }: { jobs: readonly ComparedJob[] }) {
  const ids = jobs.map(({ id }) => id)
  const isActive = jobs.some(({ stateCategory }) => stateCategory !== 'FINAL')
  const everyMs = isActive ? readAgainMs : undefined
  const { value, failure, read } = useQuery(CompareMetricsDocument, { ids, points }, { everyMs })
  const sources = useMemo(
    () =>
      jobs.map((job, i) => ({
        ...describeSeries(job, i),
        metrics: metricsOf(value?.nodes[i]).map((metric) => readMetric(metric)),
      })),
    [value, ids.join()],
  )
  if (failure && !value) return <FailedInline failure={failure} onRetry={read} />
  if (sources.every(({ metrics }) => metrics.length === 0)) return null
  return (
    <section aria-label="Metrics">
      <h2 className={styles.heading}>Metrics</h2>
      <div className={styles.charts}>
        <MetricCharts sources={sources} />
      </div>
    </section>
  )
}

const metricsOf = (node: CompareMetricsQuery['nodes'][number] | undefined) =>
  node && 'currentRun' in node ? (node.currentRun.metrics ?? []) : []
