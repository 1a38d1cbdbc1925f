import type { Clock } from './clock.ts'

const turnMsMax = 10

/**
 * Lets `perTurn` callers, and none after `turnMsMax`, pass in each turn of the event loop, in order, so that a
 * thousand woken callers do not block it. undefined: the caller passes now.
 */
export function createPacer(
  perTurn: number,
  { monotonicMs }: Pick<Clock, 'monotonicMs'>,
): () => Promise<void> | undefined {
  const waiting: (() => void)[] = []
  let passed = 0
  let isCounting = false
  let beganMs = 0

  function turn() {
    beganMs = monotonicMs()
    passed = Math.min(perTurn, waiting.length)
    for (const pass of waiting.splice(0, perTurn)) pass()
    isCounting = passed > 0
    if (isCounting) setImmediate(turn)
  }

  return () => {
    if (!isCounting) {
      isCounting = true
      beganMs = monotonicMs()
      setImmediate(turn)
    }
    if (passed < perTurn && waiting.length === 0 && monotonicMs() - beganMs <= turnMsMax) {
      passed += 1
      return undefined
    }
    return new Promise((resolve) => waiting.push(resolve))
  }
}
