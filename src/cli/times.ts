/** Milliseconds of a written time; NaN: not a time. `Date.parse` alone reads 2027-02-30 as March 2. */
export function parseTime(text: string): number {
  const day = /^\d{4}-\d\d-\d\d/.exec(text)?.[0]
  const at = Date.parse(text)
  return day && !isDay(day) ? Number.NaN : at
}

function isDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`)
  return Number.isFinite(date.getTime()) && date.toISOString().startsWith(day)
}
