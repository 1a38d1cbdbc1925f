import type { PoolHistoryQuery } from '../../generated/graphql.ts'
import { formatClock, formatCount } from '../../parts/format.ts'
import { drawLine, height, roundTenth as round, width } from './draw-line.ts'
import styles from './pools.module.css'

type Point = PoolHistoryQuery['usage'][number]

/** 24 hours: the share in use as an area, and the waiting jobs as a line with its own scale. */
export function Sparkline({ points, hasGpus }: { points: readonly Point[]; hasGpus: boolean }) {
  const used = points.map(({ gpu, cpu }) => (hasGpus ? gpu : cpu))
  const capacity = Math.max(...points.map(({ gpuCapacity, cpuCapacity }) => (hasGpus ? gpuCapacity : cpuCapacity)))
  const queued = points.map((point) => point.queued)
  const usedMax = Math.max(...used)
  const queuedMax = Math.max(...queued)
  const firstMs = Date.parse(points[0]?.at ?? '')
  const words = `Last 24 hours: at most ${formatCount(round(usedMax))} of ${formatCount(round(capacity))} ${hasGpus ? 'GPUs' : 'cores'} in use, at most ${formatCount(Math.round(queuedMax))} jobs queued`
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
          <span data-kind="used">{hasGpus ? 'GPUs' : 'cores'} in use</span>
          <span data-kind="queued">queued, up to {formatCount(Math.round(queuedMax))}</span>
        </span>
        <span>now</span>
      </figcaption>
    </figure>
  )
}
