import { InvalidArgumentError } from 'commander'

/** Parses a time to ms; NaN: not a time. Stricter than `Date.parse`, which reads 2027-02-30 as March 2, and 5 as May. */
export function parseTime(text: string): number {
  const day = /^\d{4}-\d\d-\d\d/.exec(text)?.[0]
  const at = Date.parse(text)
  return day && isDay(day) ? at : Number.NaN
}

function isDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`)
  return Number.isFinite(date.getTime()) && date.toISOString().startsWith(day)
}

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Parses `90s`, `10m`, `2h` or `1d` to ms; NaN: not a duration. */
function parseDuration(text: string): number {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return amount ? Number(amount) * unitMs[unit as keyof typeof unitMs] : Number.NaN
}

const expected = 'Expected 30d, 12h, 90m or a time such as 2030-01-31T12:00:00Z.'

/** Reads a time, or a duration from now on, by the clock of this machine. */
export const readFutureTime = (given: string): string => readTimeAround(given, 1)

/** Reads a time, or a duration before now. */
export const readPastTime = (given: string): string => readTimeAround(given, -1)

function readTimeAround(given: string, sign: number): string {
  const duration = parseDuration(given)
  const at = Number.isNaN(duration) ? parseTime(given) : nowMs() + sign * duration
  if (Number.isNaN(at)) throw new InvalidArgumentError(expected)
  return new Date(at).toISOString()
}

/** Reads `90s`, `10m`, `2h` or `1d`, also with a fraction. Refuses a number without a unit, which Slurm reads as minutes. */
export function readSeconds(text: string): number {
  const [, amount, unit = ''] = text.match(/^(\d+(?:\.\d+)?)([smhd])$/) ?? []
  if (amount === undefined) throw new InvalidArgumentError('Write 90s, 10m, 2h or 1d.')
  return (Number(amount) * unitMs[unit as keyof typeof unitMs]) / 1_000
}

export const nowMs = () => performance.timeOrigin + performance.now()
