import type { PoolHistoryQuery } from '../../generated/graphql.ts'
import { useMay } from '../../ground/use-may.ts'
import { formatClock, formatCount, formatDuration } from '../../parts/format.ts'
import { drawLine, height, roundTenth as round, width } from './draw-line.ts'
import styles from './pools.module.css'

export type HistoryPoint = NonNullable<PoolHistoryQuery['usage']>[number]

interface HistoryProps {
  points: readonly HistoryPoint[]
  hasGpus: boolean
  bucketSeconds: number
}

/** Curves of the last 24 hours: resources in use and, below, the number of queued jobs. Each axis starts at 0. */
export function PoolHistory({ points, hasGpus, bucketSeconds }: HistoryProps) {
  // Without JOB_VIEW_ALL, the server counts only the viewer's jobs.
  const ofYours = useMay()('JOB_VIEW_ALL') ? '' : ' of your jobs'
  const used = points.map(({ averageGpu, averageCpu }) => (hasGpus ? averageGpu : averageCpu))
  const capacity = Math.max(...points.map(({ gpuCapacity, cpuCapacity }) => (hasGpus ? gpuCapacity : cpuCapacity)))
  const queued = points.map((point) => point.averageQueued)
  const since = formatClock(Date.parse(points[0]?.at ?? ''), Date.now())
  const averages = `averages of ${formatDuration(bucketSeconds * 1_000).replace(/ 00 s$/, '')} since ${since}`
  return (
    <div className={styles.history}>
      <Curve
        values={used}
        max={Math.max(capacity, ...used)}
        kind="used"
        title={`${hasGpus ? 'GPUs' : 'Cores'} in use${ofYours}`}
        range={`highest ${formatCount(round(Math.max(...used)))} of ${formatCount(round(capacity))}`}
      />
      {queued.some((each) => each > 0) && (
        <Curve
          values={queued}
          max={Math.max(...queued)}
          kind="queued"
          title={ofYours ? 'Your jobs queued' : 'Jobs queued'}
          range={`highest ${formatCount(round(Math.max(...queued)))}`}
        />
      )}
      <p className={styles.faint}>{averages}</p>
    </div>
  )
}

interface CurveProps {
  values: readonly number[]
  max: number
  kind: 'used' | 'queued'
  title: string
  range: string
}

const Curve = ({ values, max, kind, title, range }: CurveProps) => (
  <figure className={styles.curve}>
    <figcaption>
      <span>{title}</span>
      <span>{range}</span>
    </figcaption>
    <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={`${title}: ${range}`}>
      <polygon data-kind={kind} points={`0,${height} ${drawLine(values, max)} ${width},${height}`} />
    </svg>
  </figure>
)
