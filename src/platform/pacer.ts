import type { Clock } from './clock.ts'

const turnMsMax = 10

/**
 * Returns a function that limits how many woken callers run in one turn of the event loop: `perTurn`, and none after
 * `turnMsMax`. Others wait, in order. The function returns undefined if the caller may run now.
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
