import { useNow } from '../../app/server-clock.ts'
import { formatClock, formatDuration } from '../../parts/format.ts'
import type { JobRow } from '../../rows/job-store.ts'

const soonMs = 60_000

/** "14:20–15:05"; without a forecast "from 15:05", if it cannot start now. */
export function StartEstimate({ job: { scheduling } }: { job: Pick<JobRow, 'scheduling'> }) {
  const nowMs = useNow()
  const { p50, p90, earliest } = scheduling?.estimatedStart ?? {}
  const clock = (at: string) => formatClock(Math.max(Date.parse(at), nowMs), nowMs)
  if (!p50) return earliest && Date.parse(earliest) > nowMs + soonMs ? `from ${clock(earliest)}` : null
  const last = p90 && clock(p90) !== clock(p50) ? `–${clock(p90)}` : ''
  return `${clock(p50)}${last}`
}

/** From the progress so far; null: nothing is known. */
function estimateLeftMs({ progress, currentRun }: Pick<JobRow, 'progress' | 'currentRun'>, nowMs: number) {
  const fraction = progress?.fraction ?? 0
  if (!progress || fraction <= 0.01 || fraction >= 1 || currentRun.startedAt === null) return null
  const reportedMs = Date.parse(progress.at)
  const ranMs = reportedMs - Date.parse(currentRun.startedAt)
  const leftMs = (ranMs / fraction) * (1 - fraction) - (nowMs - reportedMs)
  return leftMs > 0 ? leftMs : null
}

/** "~ 41 min" from the progress, or "≤ 2 h" from the limit of its run time. */
export function TimeLeft({ job }: { job: Pick<JobRow, 'progress' | 'currentRun' | 'maxRunTimeSeconds'> }) {
  const nowMs = useNow()
  const leftMs = estimateLeftMs(job, nowMs)
  if (leftMs !== null) return <span title="From the progress so far">~ {formatDuration(leftMs)}</span>
  const { maxRunTimeSeconds, currentRun } = job
  if (maxRunTimeSeconds === null || currentRun.startedAt === null) return null
  const limitMs = Date.parse(currentRun.startedAt) + maxRunTimeSeconds * 1_000
  return <span title="From the limit of its run time">≤ {formatDuration(limitMs - nowMs)}</span>
}
