/** Bounds of JSON that the API takes. Executors check closures on disk by them, so the database refuses none. */

export const closureBytesMax = 256 * 1024

/** PostgreSQL refuses JSON that is nested deeper than its stack, which holds some ten thousand levels. */
export const jsonDepthMax = 64

/** Level by level, not by recursion: a body of 4 MiB can nest deeper than any stack. */
export function isDeeper(value: object, max: number): boolean {
  let level: object[] = [value]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > max) return true
    level = level.flatMap((each) => Object.values(each).filter((inner) => typeof inner === 'object' && inner !== null))
  }
  return false
}

/** A number is beyond the range of a double: JSON would turn it into null. */
export function hasInfinite(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(hasInfinite)
  return typeof value === 'number' && !Number.isFinite(value)
}
