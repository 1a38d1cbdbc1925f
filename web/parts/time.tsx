import { useNow } from '../ground/server-clock.ts'
import { useSettings } from '../ground/settings.ts'
import { formatClock, formatDuration, formatExact, formatMoment, formatRelative } from './format.ts'

/** A time relative to now, or after the key `t` as "14:20". The tooltip has the exact time. */
export function Time({ at }: { at: string }) {
  const nowMs = useNow()
  const { absoluteTimes } = useSettings()
  const atMs = Date.parse(at)
  return (
    <time dateTime={at} title={formatExact(atMs)}>
      {absoluteTimes ? formatClock(atMs, nowMs) : formatRelative(atMs, nowMs)}
    </time>
  )
}

/** A time with seconds, such as "14:20:05". The tooltip has the relative and the exact time. */
export function Moment({ at }: { at: string }) {
  const nowMs = useNow(10_000)
  const atMs = Date.parse(at)
  return (
    <time dateTime={at} title={`${formatRelative(atMs, nowMs)}, ${formatExact(atMs)}`}>
      {formatMoment(atMs, nowMs)}
    </time>
  )
}

/** The time from `from` to `to`; without `to`, until now. */
export function Duration({ from, to }: { from: string; to?: string | null | undefined }) {
  return to ? <span>{formatDuration(Date.parse(to) - Date.parse(from))}</span> : <RunningDuration from={from} />
}

function RunningDuration({ from }: { from: string }) {
  return <span>{formatDuration(useNow() - Date.parse(from))}</span>
}
