/** Runs a generator to its end, and returns its result. */
export function drain<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
