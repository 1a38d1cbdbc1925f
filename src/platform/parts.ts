import type { Log } from './log.ts'
import type { Loop } from './loop.ts'

/** Functions that stop the components of a process, in the order of their creation. */
export type Parts = (() => Promise<void>)[]

export function startLoop(loop: Loop, parts: Parts): void {
  loop.start()
  parts.push(() => loop.stop())
}

/** Stops each component once, the newest first. */
export async function endAll(parts: Parts, log: Log): Promise<true> {
  for (let end = parts.pop(); end; end = parts.pop())
    await end().catch((error: unknown) => log.error({ err: error }, 'a component did not stop cleanly'))
  return true
}
