import type { Readable, Writable } from 'node:stream'

/** The streams of the process, for a session: bytes, not lines of text. */
export interface Stdio {
  stdin: Readable
  stdout: Writable
  stderr: Writable
  /** null: stdin or stdout is not a terminal. */
  terminal: SessionTerminal | null
  /** Calls back on Ctrl-C, which then does not end the process, until the returned function is called. */
  onInterrupt: (callback: () => void) => () => void
}

interface Size {
  columns: number
  rows: number
}

export interface SessionTerminal {
  size: () => Size
  onResize: (callback: (size: Size) => void) => () => void
  /** Passes each key on as it is typed, until the returned function is called. */
  setRaw: () => () => void
}
