/** Calls a function of the program. Its error is the program's: it neither ends a stream nor gets lost. */
export function runUserCallback(work: () => void): void {
  try {
    work()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
