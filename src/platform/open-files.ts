import { readFileSync } from 'node:fs'

/** Maximum number of files and connections of this process; Infinity if the system does not report it. */
export function openFilesMax(): number {
  if (process.platform !== 'linux') return Number.POSITIVE_INFINITY
  const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
}
