import type { Log } from './log.ts'
import type { Loop } from './loop.ts'

/** How each component of a process is stopped, in the order in which they were built. */
export type Parts = (() => Promise<void>)[]

export function startLoop(loop: Loop, parts: Parts): void {
  loop.start()
  parts.push(() => loop.stop())
}

/** In the opposite order, and each once: a second call goes on with those that are left. */
export async function endAll(parts: Parts, log: Log): Promise<true> {
  for (let end = parts.pop(); end; end = parts.pop())
    await end().catch((error: unknown) => log.error({ err: error }, 'a component did not stop cleanly'))
  return true
}
