import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Loading the modules leaves 100 MB of garbage, which an idle process would keep. Compiled code waits in memory for the
 * end of the process, too; written to its files now, also a process that is killed leaves it to the next one.
 */
export function releaseStartMemory(): void {
  flushCompileCache()
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}
