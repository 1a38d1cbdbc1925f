import { isUtf8 } from 'node:buffer'
import { readFileSync, statSync } from 'node:fs'

/**
 * The text of a file that the configuration is made of. What may never end or never begin is refused: a device, a named
 * pipe. So is another encoding, which would become other characters. The pipes that a shell makes for `<(…)` and `|` are read; they are below /dev and /proc.
 */
export function readText(path: string): string {
  const stat = statSync(path)
  const isPipeOfShell = stat.isFIFO() && /^\/(dev|proc)\//.test(path)
  if (!stat.isFile() && !isPipeOfShell && path !== '/dev/null') throw new Error('it is not a file')
  const bytes = readFileSync(path)
  if (!isUtf8(bytes)) throw new Error('it is not in UTF-8')
  return bytes.toString('utf8')
}
