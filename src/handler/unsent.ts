import { appendFileSync, statSync, truncateSync } from 'node:fs'

/**
 * The file in which the server finds the newest closure if this process is killed before it was sent
 * (src/executors/local/unsent.ts): one closure a line. A line that is cut off by the kill does not count.
 */
export interface Unsent {
  /** Before a closure is sent. */
  keep(closure: string): void
  /** The newest closure is stored. */
  clear(): void
}

/** Of a server that does not answer; then the file begins anew. */
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
