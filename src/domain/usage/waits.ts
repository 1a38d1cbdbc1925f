/**
 * Lengths of waits as counts: the first for waits below 1 s, then two for each doubling. So percentiles over any time
 * need no stored jobs; they are exact within a factor of 1.2. The counts are the digits of one number in the base 10⁹,
 * so that `sum` of PostgreSQL adds them place by place.
 */

const placesPerDoubling = 2
/** Waits of half a year and longer are in the last place. */
const placesMax = 48
const digits = 9
const base = 10n ** BigInt(digits)

/** A single wait of this many seconds as a number. */
export const countWaitSql = (seconds: string) => `
  ('1' || repeat('0', ${digits} * CASE WHEN ${seconds} < 1 THEN 0
    ELSE least(${placesMax - 1}, 1 + floor(${placesPerDoubling} * ln(${seconds}) / ln(2)))::int END))::numeric`

/** The counts of a number, given as text. */
export function parseWaits(number: string): number[] {
  const counts: number[] = []
  for (let rest = BigInt(number); rest > 0n; rest /= base) counts.push(Number(rest % base))
  return counts
}

const lowerBound = (place: number) => (place === 0 ? 0 : 2 ** ((place - 1) / placesPerDoubling))

/** The wait that `fraction` of all waits do not exceed; null: there were none. */
export function estimateWait(counts: readonly number[], fraction: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const wanted = fraction * total
  let before = 0
  for (const [place, count] of counts.entries()) {
    if (count > 0 && before + count >= wanted) {
      const [from, to] = [lowerBound(place), lowerBound(place + 1)]
      return from + ((to - from) * Math.max(0, wanted - before)) / count
    }
    before += count
  }
  return lowerBound(counts.length)
}
