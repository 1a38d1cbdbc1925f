import type { PoolHistoryQuery } from '../../generated/graphql.ts'
import { useMay } from '../../ground/use-may.ts'
import { formatClock, formatCount, formatDuration } from '../../parts/format.ts'
import { drawLine, height, roundTenth as round, width } from './draw-line.ts'
import styles from './pools.module.css'

type Point = NonNullable<PoolHistoryQuery['usage']>[number]

interface SparklineProps {
  points: readonly Point[]
  hasGpus: boolean
  bucketSeconds: number
}

/** 24 hours: the share in use as an area, and the waiting jobs as a line with its own scale. */
export function Sparkline({ points, hasGpus, bucketSeconds }: SparklineProps) {
  // Without the permission, only jobs of the viewer are counted.
  const isOwn = !useMay()('JOB_VIEW_ALL')
  const used = points.map(({ averageGpu, averageCpu }) => (hasGpus ? averageGpu : averageCpu))
  const capacity = Math.max(...points.map(({ gpuCapacity, cpuCapacity }) => (hasGpus ? gpuCapacity : cpuCapacity)))
  const queued = points.map((point) => point.averageQueued)
  const usedMax = Math.max(...used)
  const queuedMax = Math.max(...queued)
  const firstMs = Date.parse(points[0]?.at ?? '')
  const unit = hasGpus ? 'GPUs' : 'cores'
  const inUse = isOwn ? `${unit} of your jobs` : `${unit} in use`
  const queuedWords = isOwn ? 'your jobs queued' : 'jobs queued'
  const words = `Averages of ${formatDuration(bucketSeconds * 1_000)} in the last 24 hours: up to ${formatCount(round(usedMax))} of ${formatCount(round(capacity))} ${inUse}, up to ${formatCount(round(queuedMax))} ${queuedWords}`
  return (
    <figure className={styles.chart}>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={words}>
        <title>{words}</title>
        <polygon
          className={styles.area}
          points={`0,${height} ${drawLine(used, Math.max(capacity, usedMax))} ${width},${height}`}
        />
        {queuedMax > 0 && <polyline className={styles.queued} points={drawLine(queued, queuedMax)} />}
      </svg>
      <figcaption>
        <span>{formatClock(firstMs, Date.now())}</span>
        <span className={styles.legend}>
          <span data-kind="used">{inUse}</span>
          <span data-kind="queued">
            {queuedWords}, average up to {formatCount(round(queuedMax))}
          </span>
        </span>
        <span>now</span>
      </figcaption>
    </figure>
  )
}
