import { clock, clockSeconds, shortDay as date, formatDuration } from './format.ts'

const dayMs = 86_400_000
const minuteMs = 60_000

/** A mark of a time axis: the clock, and the date where a day begins or marks are days apart. */
export function formatAxisTime(ms: number, stepMs: number, beforeMs: number | undefined): string {
  if (stepMs >= dayMs) return date.format(ms)
  const text = (stepMs < minuteMs ? clockSeconds : clock).format(ms)
  const isNewDay = beforeMs === undefined ? text === '00:00' : date.format(beforeMs) !== date.format(ms)
  return isNewDay ? `${date.format(ms)} ${text}` : text
}

/** A mark of an axis that counts from a start. */
export const formatElapsed = (ms: number): string => formatDuration(ms).replace(/ 00 (min|s)$/, '')

const compact = new Intl.NumberFormat('en', { notation: 'compact' })

export const formatStep = (step: number): string => compact.format(step)
