/** Calls a callback of the program. If it throws, the error is reported as uncaught, and streams continue. */
export function runUserCallback(work: () => void): void {
  try {
    work()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
