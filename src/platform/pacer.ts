/**
 * Lets `perTurn` callers pass in each turn of the event loop, in the order of their calls, so that a thousand callers
 * that are woken at once do not block it. undefined: the caller passes now.
 */
export function createPacer(perTurn: number): () => Promise<void> | undefined {
  const waiting: (() => void)[] = []
  let passed = 0
  let isCounting = false

  function turn() {
    passed = Math.min(perTurn, waiting.length)
    for (const pass of waiting.splice(0, perTurn)) pass()
    isCounting = passed > 0
    if (isCounting) setImmediate(turn)
  }

  return () => {
    if (!isCounting) {
      isCounting = true
      setImmediate(turn)
    }
    if (passed < perTurn && waiting.length === 0) {
      passed += 1
      return undefined
    }
    return new Promise((resolve) => waiting.push(resolve))
  }
}
