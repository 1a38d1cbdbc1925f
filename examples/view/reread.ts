const pauseMs = 1_000

/** A function that reads the list again: once at a time, at most once a second, and until it succeeds. */
export function createReread(read: () => Promise<unknown>): () => void {
  let isReading = false
  let isWanted = false
  async function run() {
    isReading = true
    while (isWanted) {
      isWanted = false
      await read().catch(() => {
        isWanted = true
      })
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
    isReading = false
  }
  return () => {
    isWanted = true
    if (!isReading) void run()
  }
}
