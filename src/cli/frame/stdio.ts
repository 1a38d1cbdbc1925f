import type { Readable, Writable } from 'node:stream'

/** The streams of the process for a session, which carries bytes, not lines. */
export interface Stdio {
  stdin: Readable
  stdout: Writable
  stderr: Writable
  /** The terminal; null: stdin or stdout is not a terminal. */
  terminal: SessionTerminal | null
  /** Calls `callback` on Ctrl-C instead of ending the process, until the returned function is called. */
  onInterrupt: (callback: () => void) => () => void
}

interface Size {
  columns: number
  rows: number
}

export interface SessionTerminal {
  size: () => Size
  onResize: (callback: (size: Size) => void) => () => void
  /** Sets raw mode, so that keys arrive as they are typed, until the returned function is called. */
  setRaw: () => () => void
}
