import { formatBytes, formatDuration } from './format.ts'

export interface ChartUnit {
  format: (value: number) => string
  /** Possible distances between the ticks of the axis; default: 1, 2, 5, 10 … */
  steps?: number[]
}

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })
const bytesPowerMax = 60
const second = 1
const [minute, hour, day] = [60 * second, 3_600 * second, 86_400 * second]

export const numberUnit: ChartUnit = { format: (value) => number.format(value) }

export const bytesUnit: ChartUnit = {
  format: formatBytes,
  steps: Array.from({ length: bytesPowerMax }, (_, power) => 2 ** power),
}

export const secondsUnit: ChartUnit = {
  format: (seconds) => (seconds > 0 && seconds < 1 ? '< 1 s' : formatDuration(seconds * 1_000)),
  steps: [
    ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
    ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
    ...[1, 2, 4, 6, 12].map((count) => count * hour),
    ...[1, 2, 5, 10, 30, 100].map((count) => count * day),
  ],
}

export const percentUnit: ChartUnit = { format: (value) => `${number.format(value)} %` }

const digits = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 })
const scientific = new Intl.NumberFormat('en', { notation: 'scientific', maximumSignificantDigits: 3 })
const [smallest, largest] = [0.001, 10_000_000]

/** For metrics of jobs, which may be numbers of any magnitude. */
export const metricUnit: ChartUnit = {
  format: (value) => {
    const size = Math.abs(value)
    return (size === 0 || (size >= smallest && size < largest) ? digits : scientific).format(value)
  },
}
