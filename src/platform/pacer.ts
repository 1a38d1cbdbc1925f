/**
 * Lets so many pass in one turn of the event loop, the others in the next turns, in the order in which they came: a
 * thousand that are woken at once do not keep everything else waiting.
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
