/** Calls a function of the program. Its error surfaces as uncaught and ends no stream. */
export function runUserCallback(work: () => void): void {
  try {
    work()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
