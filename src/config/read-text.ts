import { readFileSync, statSync } from 'node:fs'

/**
 * The text of a file that the configuration is made of. What may never end or never begin is refused: a device, a named
 * pipe. The pipes that a shell makes for `<(…)` and `|` are read; they are below /dev and /proc.
 */
export function readText(path: string): string {
  const stat = statSync(path)
  const isPipeOfShell = stat.isFIFO() && /^\/(dev|proc)\//.test(path)
  if (!stat.isFile() && !isPipeOfShell && path !== '/dev/null') throw new Error('it is not a file')
  return readFileSync(path, 'utf8')
}
