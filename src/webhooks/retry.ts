/** Pauses between the tries of a delivery. */

const firstMs = 1_000
const longestMs = 3_600_000
/** Factor between pauses. The ninth pause is the longest. */
const growth = (longestMs / firstMs) ** (1 / 8)
/** Random part of the pause, so that deliveries that failed together are not repeated together. */
const jitter = 0.2

const bound = (ms: number) => Math.round(Math.min(Math.max(ms, firstMs), longestMs))

/** Returns the pause after `tries` tries: 1 s after the first one, 1 h after the ninth one. */
export const computePauseMs = (tries: number, random: number = Math.random()): number =>
  bound(firstMs * growth ** (tries - 1) * (1 - jitter + 2 * jitter * random))

/** Returns the pause that the receiver requests, in seconds or as a date; undefined: missing or unreadable. */
export function readRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return bound(Number(header) * 1_000)
  const atMs = Date.parse(header)
  return Number.isNaN(atMs) ? undefined : bound(atMs - nowMs)
}
