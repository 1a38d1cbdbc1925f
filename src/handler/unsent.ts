import { appendFileSync, statSync, truncateSync } from 'node:fs'

/**
 * The file in which the server finds the newest closure of a killed process (src/executors/local/unsent-closures.ts):
 * one closure per line. An incomplete last line is ignored.
 */
export interface Unsent {
  /** Must be called before the closure is sent. */
  keep(closure: string): void
  /** Must be called when the newest closure is stored. */
  clear(): void
}

/** A larger file, after a long time without the server, is emptied before the next closure is written. */
const bytesMax = 4 * 1024 * 1024

export function createUnsent(path: string | undefined, complain: (text: string) => void): Unsent {
  function write(change: (path: string) => void) {
    try {
      if (path) change(path)
    } catch (error) {
      complain(`cannot store an unsent closure: ${(error as Error).message}`)
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
