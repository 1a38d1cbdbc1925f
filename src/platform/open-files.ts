import { readFileSync } from 'node:fs'

/**
 * How many files and connections this process may have open, which Node raises as far as it may. Infinity where the
 * system does not say.
 */
export function openFilesMax(): number {
  if (process.platform !== 'linux') return Number.POSITIVE_INFINITY
  const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
}
