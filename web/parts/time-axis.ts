import { clock, clockWithSeconds, shortDay as date, formatDuration } from './format.ts'

const dayMs = 86_400_000
const minuteMs = 60_000

/** Labels a tick of a time axis: "14:20", or the date where a day begins or ticks are days apart. */
export function formatAxisTime(ms: number, stepMs: number, beforeMs: number | undefined): string {
  if (stepMs >= dayMs) return date.format(ms)
  const text = (stepMs < minuteMs ? clockWithSeconds : clock).format(ms)
  const isNewDay = beforeMs === undefined ? text === '00:00' : date.format(beforeMs) !== date.format(ms)
  return isNewDay ? `${date.format(ms)} ${text}` : text
}

/** Labels a tick of an axis of elapsed time. */
export const formatElapsed = (ms: number): string => formatDuration(ms).replace(/ 00 (min|s)$/, '')

const compact = new Intl.NumberFormat('en', { notation: 'compact' })

export const formatStep = (step: number): string => compact.format(step)
