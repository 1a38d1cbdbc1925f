/**
 * Limits for JSON that the API accepts. Executors check closures on disk against the same limits, so the database can
 * store all of them.
 */

export const closureBytesMax = 256 * 1024

/** PostgreSQL refuses JSON that is nested deeper than its stack, which holds some ten thousand levels. */
export const jsonDepthMax = 64

/** Goes level by level instead of recursively: a body of 4 MiB can be nested deeper than the call stack. */
export function isDeeperThan(value: object, max: number): boolean {
  let level: object[] = [value]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > max) return true
    level = level.flatMap((each) => Object.values(each).filter((inner) => typeof inner === 'object' && inner !== null))
  }
  return false
}

/** true: a number is beyond the range of a double, which JSON would turn into null. */
export function hasInfiniteNumber(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(hasInfiniteNumber)
  return typeof value === 'number' && !Number.isFinite(value)
}
