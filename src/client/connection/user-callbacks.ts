/** Calls a function of the program. An error of the function surfaces as uncaught, and streams continue. */
export function runUserCallback(work: () => void): void {
  try {
    work()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
