import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')
// Other flags than those of the start reject the compiled code of modules that this worker loads later.
setFlagsFromString('--no-expose-gc')

/** Bytes that this process holds, without garbage. */
export function measureHeldBytes(): number {
  // Buffers of the first collection are freed in the background; the second one waits for that.
  collectGarbage()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
