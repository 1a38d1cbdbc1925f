/** The time of the usage page, and the length of its buckets. */
export interface UsageRange {
  fromMs: number
  toMs: number
  /** The end moves with the clock. */
  isOpen: boolean
}

export const presets = ['1h', '6h', '24h', '7d', '30d', '365d'] as const
export const defaultFrom = '24h'

const hourMs = 3_600_000
const unitMs: Readonly<Record<string, number>> = { h: hourMs, d: 24 * hourMs }
const minuteSeconds = 60

/** "24h" counts back from now; other values are dates. null: neither. */
function readMoment(text: string, nowMs: number): number | null {
  const [, count, unit = ''] = text.match(/^(\d{1,4})([hd])$/) ?? []
  const atMs = count === undefined ? Date.parse(text) : nowMs - Number(count) * (unitMs[unit] ?? 0)
  return Number.isNaN(atMs) ? null : atMs
}

/** null: the values of the URL are no time. */
export function readRange(from: string | undefined, to: string | undefined, nowMs: number): UsageRange | null {
  const fromMs = readMoment(from || defaultFrom, nowMs)
  const toMs = to ? readMoment(to, nowMs) : nowMs
  if (fromMs === null || toMs === null || fromMs >= toMs) return null
  return { fromMs, toMs, isOpen: !to }
}

const lengths = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080].map(
  (minutes) => minutes * minuteSeconds,
)
const bucketsMax = 150

/** Seconds of a bucket: round, and at most 150 buckets. */
export function chooseBucket({ fromMs, toMs }: Pick<UsageRange, 'fromMs' | 'toMs'>): number {
  const seconds = (toMs - fromMs) / 1_000
  return lengths.find((length) => seconds / length <= bucketsMax) ?? Math.ceil(seconds / bucketsMax)
}

/** The next longer bucket. */
export const lengthen = (seconds: number): number => lengths.find((length) => length > seconds) ?? seconds * 2

/** Begins of buckets are round, so that a page that is read again shows the same buckets. */
export const alignFrom = ({ fromMs }: Pick<UsageRange, 'fromMs'>, bucketSeconds: number): number =>
  Math.floor(fromMs / (bucketSeconds * 1_000)) * bucketSeconds * 1_000

/** The same middle, and twice the time, until now at most. */
export function widen({ fromMs, toMs }: UsageRange, nowMs: number): { from: string; to: string | undefined } {
  const halfMs = (toMs - fromMs) / 2
  const to = toMs + halfMs
  return { from: new Date(fromMs - halfMs).toISOString(), to: to >= nowMs ? undefined : new Date(to).toISOString() }
}
