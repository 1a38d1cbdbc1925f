import { requireField } from '@berth-jobs/berth/client'
import { useMemo } from 'react'
import { MetricCharts } from '../../features/jobs/metric-charts.tsx'
import { readMetric } from '../../features/jobs/metric-series.ts'
import { RunMetricsDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { Empty, Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import styles from './usage-tab.module.css'
import type { PageJob } from './use-job.ts'
import { useRunValues } from './use-run-values.ts'

const reader = {
  name: 'metrics',
  readAgainMs: 5_000,
  load: async (id: string, signal: AbortSignal) => {
    const { node } = await client.request(RunMetricsDocument, { id, points: 500 }, { attempts: 4, signal })
    return node && 'metrics' in node ? requireField(node.metrics) : []
  },
}

/** Charts of a run's metrics. The newest values come with the job; earlier points are read every few seconds. */
export function MetricsTab({ job, run }: { job: PageJob; run: number }) {
  const { value, failure, isActive, read } = useRunValues({ job, run }, reader)
  const live = isActive ? job.currentRun.metrics : null
  const sources = useMemo(() => {
    const newest = new Map(live?.map(({ name, last }) => [name, last]))
    const metrics = (value ?? []).map((metric) => readMetric(metric, newest.get(metric.name)))
    return [{ color: 'var(--accent)', metrics }]
  }, [value, live])
  if (!value) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  return (
    <section className={styles.box} aria-label="Metrics">
      {failure && <FailedInline failure={failure} onRetry={read} />}
      {value.length === 0 ? (
        <Empty title="The run reported no metrics">
          A program reports them with <code>berth.metrics({'{"loss": 0.3}'})</code> in Python, or with{' '}
          <code>berth progress --metric loss=0.3</code>.
        </Empty>
      ) : (
        <MetricCharts sources={sources} />
      )}
    </section>
  )
}
