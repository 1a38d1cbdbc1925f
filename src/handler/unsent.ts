import { appendFileSync, statSync, truncateSync } from 'node:fs'

/**
 * The file in which the server finds the newest closure if this process is killed before it was sent
 * (src/executors/local/unsent-closures.ts): one closure a line. A line that is cut off by the kill does not count.
 */
export interface Unsent {
  /** To be called before the closure is sent. */
  keep(closure: string): void
  /** To be called when the newest closure is stored. */
  clear(): void
}

/** A larger file, which grows while no server answers, is emptied before the next closure. */
const bytesMax = 4 * 1024 * 1024

export function createUnsent(path: string | undefined, complain: (text: string) => void): Unsent {
  function write(change: (path: string) => void) {
    try {
      if (path) change(path)
    } catch (error) {
      complain(`a closure that is not sent yet cannot be kept: ${(error as Error).message}`)
    }
  }
  return {
    keep: (closure) =>
      write((file) => {
        if (statSync(file).size > bytesMax) truncateSync(file)
        appendFileSync(file, `${closure}\n`)
      }),
    clear: () => write((file) => truncateSync(file)),
  }
}
