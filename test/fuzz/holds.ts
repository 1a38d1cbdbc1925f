import { readFileSync } from 'node:fs'

/**
 * Measures how long this thread blocks its event loop, by a timer every 10 ms. The delay of the timer, minus the time
 * for which the kernel ran other processes instead, is a block. Waiting for a disk counts.
 */
export interface Holds {
  /** Returns the longest block since the last call, in ms. */
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
      // A block that ends with this call is measured by the timer that is due now.
      await new Promise((resolve) => setTimeout(resolve, beatMs))
      const held = heldMs
      heldMs = 0
      return held
    },
    stop: () => clearInterval(timer),
  }
}

const look = () => ({ atMs: performance.now(), waitedMs: waitedMs() })

/** Returns how long this thread waited for a processor, the second number. Only Linux reports this. */
function waitedMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / nsPerMs
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}
