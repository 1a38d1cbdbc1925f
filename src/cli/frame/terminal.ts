import { styleText } from 'node:util'
import measure from 'fast-string-truncated-width'
import { Screen, type ScreenStream } from './screen.ts'

/** Writes results to stdout, and messages for people to stderr. */
export interface Terminal {
  /** Writes to stdout. Resolves when the stream can take more. */
  write(text: string | Uint8Array): Promise<void>
  /** Writes a line to stderr. Replaces control characters, because the line may contain text from other users. */
  say(line: string): void
  /** Replaces the progress line on stderr if that is a terminal; null removes it. */
  progress(line: string | null): void
  /** Shows a desktop notification and rings the bell if stderr is a terminal. */
  notify(text: string): void
  readonly colour: boolean
  /** Width of the terminal; infinite if stdout is not a terminal or its size is unknown. */
  readonly columns: number
  /** Height of the terminal; infinite if unknown. */
  readonly rows: number
  /** Opens a live view, which closes at the end of the process; null: stdout is not a terminal. */
  openScreen(): Screen | null
}

export type Style = Parameters<typeof styleText>[0]

export interface Streams {
  stdout: ScreenStream & { isTTY?: boolean }
  stderr: ScreenStream & { isTTY?: boolean }
  /** true: uses colours; default: only on a terminal. */
  colour?: boolean | undefined
  /** Calls `callback` before the process ends. */
  onExit?: (callback: () => void) => void
}

export function createTerminal({
  stdout,
  stderr,
  colour = Boolean(stdout.isTTY),
  onExit = () => undefined,
}: Streams): Terminal {
  const write = (text: string | Uint8Array) =>
    new Promise<void>((resolve) => {
      if (text === '' || stdout.write(text)) resolve()
      else stdout.once('drain', resolve)
    })
  const columns = () => (stdout.isTTY && stdout.columns) || unknownSize
  let screen: Screen | undefined
  return {
    colour,
    get columns() {
      return columns()
    },
    get rows() {
      return (stdout.isTTY && stdout.rows) || unknownSize
    },
    openScreen() {
      if (!stdout.isTTY) return null
      const opened = new Screen(stdout)
      screen = opened
      onExit(() => opened.close())
      return opened
    },
    // Shows the message inside the live view, which stderr would overwrite.
    say: (line) => void (screen?.isOpen ? screen.note(sanitizeText(line)) : stderr.write(`${sanitizeText(line)}\n`)),
    progress: (line) => {
      if (stderr.isTTY) stderr.write(`\r\u001B[K${line === null ? '' : shortenText(sanitizeText(line), columns() - 1)}`)
    },
    // OSC 9 is a notification. Terminals without it only ring the bell.
    notify: (text) => {
      if (stderr.isTTY) stderr.write(`\u001B]9;${sanitizeText(text)}\u0007\u0007`)
    },
    write,
  }
}

/** FORCE_COLOR takes precedence over NO_COLOR, as in Node; undefined: neither is set. */
export function readColour({
  NO_COLOR,
  FORCE_COLOR,
}: Readonly<Record<string, string | undefined>>): boolean | undefined {
  if (FORCE_COLOR) return !['0', 'false'].includes(FORCE_COLOR)
  return NO_COLOR ? false : undefined
}

const unknownSize = Number.POSITIVE_INFINITY

/** Shortens a text without styles to `columns`. A shortened text ends with "…". */
export function shortenText(text: string, columns: number): string {
  const { truncated, ellipsed, index } = measure(text, { limit: columns, ellipsis: '…' })
  return truncated ? `${text.slice(0, index)}${ellipsed ? '…' : ''}` : text
}

export const measureWidth = (text: string): number => measure(text).width

export const padText = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - measureWidth(text)))

/** Matches characters that must not reach a terminal. U+200C and U+200D are allowed, because letters and emoji need them. */
export const unprintable = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\u200c\u200d]]/gv

export const sanitizeText = (text: string): string => text.replace(unprintable, '\ufffd')

export function applyStyle(terminal: Terminal, style: Style, text: string): string {
  return terminal.colour ? styleText(style, text, { validateStream: false }) : text
}
