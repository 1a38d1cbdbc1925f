import { requireField } from '@berth-jobs/berth/client'
import { compareAsked, measures } from '../../features/jobs/measures.ts'
import type { Spec } from '../../features/spec/spec-input.ts'
import { RunUsageDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'
import { seriesColors } from '../../parts/chart-series.ts'
import { Empty, Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { TimeChart } from '../../parts/time-chart.tsx'
import styles from './usage-tab.module.css'
import type { PageJob } from './use-job.ts'

const points = 240
const readAgainMs = 10_000

/** What a run used over time, against what was asked for. */
export function UsageTab({ job, spec, run }: { job: PageJob; spec: Spec; run: number }) {
  const runId = job.runs.nodes.find(({ number }) => number === run)?.id ?? job.currentRun.id
  const isActive = job.stateCategory === 'ACTIVE' && run === job.currentRun.number
  const { value, failure, read } = useResource(
    `usage ${runId}`,
    async (signal) => {
      const { node } = await client.request(RunUsageDocument, { id: runId, points }, { attempts: 4, signal })
      return node && 'samples' in node ? requireField(node.samples) : []
    },
    { everyMs: isActive ? readAgainMs : undefined },
  )
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
