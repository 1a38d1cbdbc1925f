import { formatClock } from '../../../parts/format.ts'

const soonMs = 60_000

interface KnownEstimate {
  p50: string | null
  p90: string | null
  earliest: string | null
}

/** "14:20–15:05"; without a forecast "from 15:05", the earliest start; null: unknown. */
export function describeEstimate({ p50, p90, earliest }: KnownEstimate, nowMs: number): string | null {
  const clock = (at: string) => formatClock(Math.max(Date.parse(at), nowMs), nowMs)
  if (!p50) return earliest && Date.parse(earliest) > nowMs + soonMs ? `from ${clock(earliest)}` : null
  const last = p90 && clock(p90) !== clock(p50) ? `–${clock(p90)}` : ''
  return `${clock(p50)}${last}`
}
