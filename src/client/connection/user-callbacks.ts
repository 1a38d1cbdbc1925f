/** Calls a function of the program. Its error is the program's: it neither ends a stream nor gets lost. */
export function callOut(work: () => void): void {
  try {
    work()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
