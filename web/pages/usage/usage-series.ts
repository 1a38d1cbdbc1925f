import type { PoolUsageQuery } from '../../generated/graphql.ts'
import { otherColor, rankColors, type Series, seriesColors } from '../../parts/chart-series.ts'

/** `key` is the name of a user or team, or the key that filters use. */
export type UsagePoint = Omit<NonNullable<PoolUsageQuery['usage']>[number], 'user' | 'team'>

const noTeam = '(without a team)'
export const nameKey = (key: string | null): string => key ?? noTeam

export interface Timeline {
  /** Start times of the buckets. */
  at: readonly number[]
  /** Start times of the buckets with measurements. In other buckets the usage is unknown, not 0. */
  measured: ReadonlySet<number>
}

/** Lists all buckets from the first to the last measured one. */
export function listMoments(byPool: readonly UsagePoint[], bucketSeconds: number): Timeline {
  const measured = new Set(byPool.map(({ at }) => Date.parse(at)))
  const stepMs = bucketSeconds * 1_000
  const at: number[] = []
  const [first, last] = [Math.min(...measured), Math.max(...measured)]
  for (let atMs = first; atMs <= last; atMs += stepMs) at.push(atMs)
  return { at, measured }
}

/** Sums the values of all keys in each bucket. */
export function sumPoints(
  points: readonly UsagePoint[],
  { at, measured }: Timeline,
  measure: (point: UsagePoint) => number,
): readonly (number | null)[] {
  const sums = new Map<number, number>()
  for (const point of points) {
    const ms = Date.parse(point.at)
    sums.set(ms, (sums.get(ms) ?? 0) + measure(point))
  }
  return at.map((ms) => (measured.has(ms) ? (sums.get(ms) ?? 0) : null))
}

/** Makes a series for each of the keys with the largest values, and one for all other keys. */
export function chartByKey(
  points: readonly UsagePoint[],
  timeline: Timeline,
  measure: (point: UsagePoint) => number,
): readonly Series[] {
  const used = points.filter((point) => measure(point) > 0)
  const byKey = Map.groupBy(used, ({ key }) => nameKey(key))
  const colors = rankColors(used.map((point) => [nameKey(point.key), measure(point)]))
  const series = [...colors].map(([name, color]) => ({
    name,
    color,
    values: sumPoints(byKey.get(name) ?? [], timeline, measure),
  }))
  if (byKey.size === colors.size) return series
  const rest = used.filter(({ key }) => !colors.has(nameKey(key)))
  const name = `${byKey.size - colors.size} others`
  return [...series, { name, color: otherColor, values: sumPoints(rest, timeline, measure) }]
}

/** Makes a line for each key, because wait times cannot be summed. */
export function chartWaits(
  points: readonly UsagePoint[],
  { at }: Timeline,
  measure: (point: UsagePoint) => number | null,
): readonly Series[] {
  const keys = [...Map.groupBy(points, ({ key }) => nameKey(key))].slice(0, seriesColors.length)
  return keys.map(([name, own], i) => {
    const values = new Map(own.map((point) => [Date.parse(point.at), measure(point)]))
    return { name, color: seriesColors[i] ?? otherColor, values: at.map((ms) => values.get(ms) ?? null) }
  })
}

export interface Total extends UsagePoint {
  gpuHours: number
  coreHours: number
}

/** Lists the totals of each key, the largest use first. `whole`: one bucket of the whole time for each key. */
export const listTotals = (whole: readonly UsagePoint[]): readonly Total[] =>
  whole
    .map((point) => ({ ...point, gpuHours: point.gpuSeconds / 3_600, coreHours: point.cpuSeconds / 3_600 }))
    .toSorted((a, b) => b.gpuHours - a.gpuHours || b.coreHours - a.coreHours || b.finished - a.finished)
