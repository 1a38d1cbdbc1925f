import { requireField } from '@berth-jobs/berth/client'
import { compareAsked, measures } from '../../features/jobs/measures.ts'
import type { Spec } from '../../features/spec/spec-input.ts'
import { RunUsageDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { seriesColors } from '../../parts/chart-series.ts'
import { Empty, Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { TimeChart } from '../../parts/time-chart.tsx'
import styles from './usage-tab.module.css'
import type { PageJob } from './use-job.ts'
import { useRunValues } from './use-run-values.ts'

const reader = {
  name: 'usage',
  readAgainMs: 10_000,
  load: async (id: string, signal: AbortSignal) => {
    const { node } = await client.request(RunUsageDocument, { id, points: 240 }, { attempts: 4, signal })
    return node && 'samples' in node ? requireField(node.samples) : []
  },
}

/** Charts of a run's usage over time, with the requested amounts. */
export function UsageTab({ job, spec, run }: { job: PageJob; spec: Spec; run: number }) {
  const { value, failure, isActive, read } = useRunValues({ job, run }, reader)
  if (!value) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  const shown = measures.filter((measure) => value.some((sample) => measure.read(sample) !== null))
  const at = value.map((sample) => Date.parse(sample.at))
  return (
    <section className={styles.box} aria-label="Usage">
      {failure && <FailedInline failure={failure} onRetry={read} />}
      {shown.length === 0 && (
        <Empty title="Nothing was measured">
          {isActive
            ? 'A run is measured every 10 seconds. The first values appear here by themselves.'
            : 'The run was shorter than 10 seconds, its executor cannot measure it, or the samples were deleted with the log.'}
        </Empty>
      )}
      {shown.map((measure, i) => {
        const asked = measure.asked(spec)
        return (
          <div key={measure.title}>
            <p className={styles.compared}>{compareAsked(measure, value, spec)}</p>
            <TimeChart
              title={measure.title}
              at={at}
              unit={measure.unit}
              series={[{ name: 'used', color: seriesColors[i] ?? 'var(--accent)', values: value.map(measure.read) }]}
              reference={asked === null ? undefined : { value: asked, label: `asked ${measure.unit.format(asked)}` }}
            />
          </div>
        )
      })}
    </section>
  )
}
