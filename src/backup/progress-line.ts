import type { Clock } from '../platform/clock.ts'

/** Shows progress on a line of a terminal that is overwritten. Without a terminal, nothing is shown. */
const everyMs = 200

export interface Progress {
  table: string
  /** Bytes written so far, over all tables. */
  bytes: number
}

export function createProgressLine(clock: Clock) {
  const { isTTY } = process.stderr
  let shownMs = Number.NEGATIVE_INFINITY
  return {
    show({ table, bytes }: Progress) {
      if (!isTTY || clock.monotonicMs() - shownMs < everyMs) return
      shownMs = clock.monotonicMs()
      process.stderr.write(`\r\x1b[K${formatBytes(bytes)}, table ${table}`)
    },
    clear: () => {
      if (isTTY && shownMs > Number.NEGATIVE_INFINITY) process.stderr.write('\r\x1b[K')
    },
  }
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

export function formatBytes(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}

export const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
