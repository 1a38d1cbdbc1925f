/**
 * A histogram of waits: the first bucket is below 1 s, then two buckets for each doubling. So percentiles over any time
 * need no stored jobs; they are exact within a factor of 1.2. The counts are the digits of one number in the base 10⁹,
 * so that `sum` of PostgreSQL adds them bucket by bucket.
 */

const bucketsPerDoubling = 2
/** Waits of half a year and longer are in the last bucket. */
const bucketsMax = 48
const digits = 9
const base = 10n ** BigInt(digits)

/** SQL of the number that encodes one wait of `seconds`. */
export const countWaitSql = (seconds: string) => `
  ('1' || repeat('0', ${digits} * CASE WHEN ${seconds} < 1 THEN 0
    ELSE least(${bucketsMax - 1}, 1 + floor(${bucketsPerDoubling} * ln(${seconds}) / ln(2)))::int END))::numeric`

/** Decodes the counts of all buckets from the number, given as text. */
export function parseWaits(number: string): number[] {
  const counts: number[] = []
  for (let rest = BigInt(number); rest > 0n; rest /= base) counts.push(Number(rest % base))
  return counts
}

const lowerBound = (bucket: number) => (bucket === 0 ? 0 : 2 ** ((bucket - 1) / bucketsPerDoubling))

/** Estimates the wait that the fraction `fraction` of all waits do not exceed; null: there were no waits. */
export function estimateWait(counts: readonly number[], fraction: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const wanted = fraction * total
  let before = 0
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && before + count >= wanted) {
      const [from, to] = [lowerBound(bucket), lowerBound(bucket + 1)]
      return from + ((to - from) * Math.max(0, wanted - before)) / count
    }
    before += count
  }
  return lowerBound(counts.length)
}
