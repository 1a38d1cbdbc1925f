/** Times, durations and sizes as text. */
export { quoteShell } from '../../src/client/text/shell.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const two = (value: number) => String(value).padStart(2, '0')

/** "4 s", "12 min 05 s", "1 h 02 min", "3 d 4 h". */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return `${minutes} min ${two(seconds % 60)} s`
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return `${hours} h ${two(minutes % 60)} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** "just now", "4 min ago", "in 20 min"; older than a week: the date. */
export function formatRelative(atMs: number, nowMs: number): string {
  const distanceMs = Math.abs(nowMs - atMs)
  if (distanceMs < 5_000) return 'just now'
  if (distanceMs > 7 * dayMs) return formatDay(atMs)
  const text =
    distanceMs < minuteMs
      ? `${Math.floor(distanceMs / 1_000)} s`
      : distanceMs < hourMs
        ? `${Math.floor(distanceMs / minuteMs)} min`
        : distanceMs < dayMs
          ? `${Math.floor(distanceMs / hourMs)} h`
          : `${Math.floor(distanceMs / dayMs)} d`
  return atMs <= nowMs ? `${text} ago` : `in ${text}`
}

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
export const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
export const clockWithSeconds = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})
const exact = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
})
export const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

const formatDay = (ms: number): string => day.format(ms)
export const formatClockSeconds = (ms: number): string => clockWithSeconds.format(ms)
export const formatExact = (ms: number): string => exact.format(ms)

/** "14:20"; on another day "24 Nov 14:20". */
export function formatClock(ms: number, nowMs: number): string {
  return day.format(ms) === day.format(nowMs) ? clock.format(ms) : `${shortDay.format(ms)} ${clock.format(ms)}`
}

/** "14:20:05"; on another day "24 Nov 14:20:05". */
export function formatMoment(ms: number, nowMs: number): string {
  const text = formatClockSeconds(ms)
  return day.format(ms) === day.format(nowMs) ? text : `${shortDay.format(ms)} ${text}`
}

const sizeUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']
const sizeStep = 1_024

/** "1.02 GiB". */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log(bytes) / Math.log(sizeStep)), sizeUnits.length - 1)
  const value = bytes / sizeStep ** power
  const digits = power === 0 || Number.isInteger(value) || value >= 100 ? 0 : value >= 10 ? 1 : 2
  return `${value.toFixed(digits)} ${sizeUnits[power]}`
}

const whole = new Intl.NumberFormat('en')
export const formatCount = (count: number): string => whole.format(count)

const tenths = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
/** "12.5", "1,024". */
export const formatTenth = (value: number): string => tenths.format(value)

/** Compensates for rounding: 0.29 × 100 is a little less than 29. */
const tolerance = 1e-9

/** Rounds down: 0.996 → "99 %", so that only 1 is "100 %". */
export const formatPercent = (part: number): string => `${formatCount(Math.floor(100 * part + tolerance))} %`

const roundedBelow = 0.01

/** "EUR 4.20", "EUR 0.0017"; without a currency the amount alone. */
export function formatMoney({ amount, currency }: { amount: number; currency: string | null }): string {
  const isSmall = amount !== 0 && Math.abs(amount) < roundedBelow
  const digits = isSmall ? { minimumSignificantDigits: 2, maximumSignificantDigits: 2 } : {}
  if (currency === null) return isSmall ? amount.toLocaleString('en', digits) : amount.toFixed(2)
  return amount.toLocaleString('en', { style: 'currency', currency, currencyDisplay: 'code', ...digits })
}

export const plural = (count: number, noun: string): string => `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
