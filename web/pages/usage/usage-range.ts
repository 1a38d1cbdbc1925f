/** The time range of the usage page. */
export interface UsageRange {
  fromMs: number
  toMs: number
  /** true: the range ends now. */
  isOpen: boolean
}

export const presets = ['1h', '6h', '24h', '7d', '30d', '365d'] as const
export const defaultFrom = '24h'

const hourMs = 3_600_000
const unitMs: Readonly<Record<string, number>> = { h: hourMs, d: 24 * hourMs }
const minuteSeconds = 60

/** Reads "24h" as a time before now, and other values as dates; null: the text is neither. */
function readMoment(text: string, nowMs: number): number | null {
  const [, count, unit = ''] = text.match(/^(\d{1,4})([hd])$/) ?? []
  const atMs = count === undefined ? Date.parse(text) : nowMs - Number(count) * (unitMs[unit] ?? 0)
  return Number.isNaN(atMs) ? null : atMs
}

/** Reads the range from the URL; null: the values are not a range. */
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

/** Chooses a round bucket length in seconds, so that the range has at most `bucketsMax` buckets. */
export function chooseBucket({ fromMs, toMs }: Pick<UsageRange, 'fromMs' | 'toMs'>): number {
  const seconds = (toMs - fromMs) / 1_000
  return lengths.find((length) => seconds / length <= bucketsMax) ?? Math.ceil(seconds / bucketsMax)
}

export const lengthenBucket = (seconds: number): number => lengths.find((length) => length > seconds) ?? seconds * 2

/** Aligns the start to the bucket length, so that a refresh shows the same buckets. */
export const alignFrom = ({ fromMs }: Pick<UsageRange, 'fromMs'>, bucketSeconds: number): number =>
  Math.floor(fromMs / (bucketSeconds * 1_000)) * bucketSeconds * 1_000

/** Doubles the range around its middle, up to now. */
export function widenRange({ fromMs, toMs }: UsageRange, nowMs: number): { from: string; to: string | undefined } {
  const halfMs = (toMs - fromMs) / 2
  const to = toMs + halfMs
  return { from: new Date(fromMs - halfMs).toISOString(), to: to >= nowMs ? undefined : new Date(to).toISOString() }
}
