import { useNow } from '../../../ground/server-clock.ts'
import { formatDuration } from '../../../parts/format.ts'
import { describeEstimate } from './describe-estimate.ts'
import type { JobRow } from './job-store.ts'

export function StartEstimate({ job: { scheduling } }: { job: Pick<JobRow, 'scheduling'> }) {
  const nowMs = useNow()
  return scheduling?.estimatedStart ? describeEstimate(scheduling.estimatedStart, nowMs) : null
}

/** Estimates the remaining run time from the progress so far; null: the job reports too little. */
function estimateLeftMs({ progress, currentRun }: Pick<JobRow, 'progress' | 'currentRun'>, nowMs: number) {
  const fraction = progress?.fraction ?? 0
  if (!progress || fraction <= 0.01 || fraction >= 1 || currentRun.startedAt === null) return null
  const reportedMs = Date.parse(progress.at)
  const ranMs = reportedMs - Date.parse(currentRun.startedAt)
  const leftMs = (ranMs / fraction) * (1 - fraction) - (nowMs - reportedMs)
  return leftMs > 0 ? leftMs : null
}

/** The remaining run time: "~ 41 min" by the progress, or "≤ 2 h" by the maximum run time. */
export function TimeLeft({ job }: { job: Pick<JobRow, 'progress' | 'currentRun' | 'maxRunTimeSeconds'> }) {
  const nowMs = useNow()
  const leftMs = estimateLeftMs(job, nowMs)
  if (leftMs !== null) return <span title="From the progress so far">~ {formatDuration(leftMs)}</span>
  const { maxRunTimeSeconds, currentRun } = job
  if (maxRunTimeSeconds === null || currentRun.startedAt === null) return null
  const limitMs = Date.parse(currentRun.startedAt) + maxRunTimeSeconds * 1_000
  return <span title="From the limit of its run time">≤ {formatDuration(limitMs - nowMs)}</span>
}
