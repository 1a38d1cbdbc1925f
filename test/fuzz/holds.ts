import { readFileSync } from 'node:fs'

/**
 * How long this thread blocked its event loop. A beat is due every 10 ms. Its delay is a hold, less the
 * time for which the thread was ready and the kernel gave the processor to others: a busy machine does not count.
 * Waiting for a disk within a turn counts.
 */
export interface Holds {
  /** The longest since the last question, in ms. */
  take(): Promise<number>
  stop(): void
}

const beatMs = 10
const nsPerMs = 1e6

export function watchHolds(): Holds {
  let heldMs = 0
  let last = look()
  const timer = setInterval(() => {
    const now = look()
    heldMs = Math.max(heldMs, now.atMs - last.atMs - (now.waitedMs - last.waitedMs) - beatMs)
    last = now
  }, beatMs)
  timer.unref()
  return {
    async take() {
      // A hold that ends with this question is counted by the beat that is due now.
      await new Promise((resolve) => setTimeout(resolve, beatMs))
      const held = heldMs
      heldMs = 0
      return held
    },
    stop: () => clearInterval(timer),
  }
}

const look = () => ({ atMs: performance.now(), waitedMs: waitedMs() })

/** How long this thread waited for a processor: the second number. Only Linux tells. */
function waitedMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / nsPerMs
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}
