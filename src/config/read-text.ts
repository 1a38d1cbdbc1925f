import { isUtf8 } from 'node:buffer'
import { readFileSync, statSync } from 'node:fs'

/**
 * Reads a file of the configuration. Rejects devices and named pipes, which may block forever, except the pipes of a
 * shell (`<(…)`, `|`) in /dev/fd and /proc.
 */
export function readText(path: string): string {
  const stat = statSync(path)
  const isPipeOfShell = stat.isFIFO() && /^\/(dev\/(fd\/|stdin$)|proc\/)/.test(path)
  if (!stat.isFile() && !isPipeOfShell && path !== '/dev/null') throw new Error('it is not a file')
  const bytes = readFileSync(path)
  if (!isUtf8(bytes)) throw new Error('it is not in UTF-8')
  return bytes.toString('utf8')
}
