import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')
// Flags other than those at the start invalidate the compiled code of modules that this worker loads later.
setFlagsFromString('--no-expose-gc')

/** Memory of this process after garbage collection, in bytes. */
export function measureHeldBytes(): number {
  // Buffers of the first collection are freed in the background; the second one waits for that.
  collectGarbage()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
