import { useNow } from '../ground/server-clock.ts'
import { useSettings } from '../ground/settings.ts'
import { formatClock, formatDuration, formatExact, formatMoment, formatRelative } from './format.ts'

/** A moment by the clock of the server: relative, or with `t` by the clock on the wall; exact on hover. */
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

/** A moment of a record by the clock, with its seconds; relative and exact on hover. */
export function Moment({ at }: { at: string }) {
  const nowMs = useNow(10_000)
  const atMs = Date.parse(at)
  return (
    <time dateTime={at} title={`${formatRelative(atMs, nowMs)}, ${formatExact(atMs)}`}>
      {formatMoment(atMs, nowMs)}
    </time>
  )
}

/** From one moment to another, or until now. */
export function Duration({ from, to }: { from: string; to?: string | null | undefined }) {
  return to ? <span>{formatDuration(Date.parse(to) - Date.parse(from))}</span> : <RunningDuration from={from} />
}

function RunningDuration({ from }: { from: string }) {
  return <span>{formatDuration(useNow() - Date.parse(from))}</span>
}
