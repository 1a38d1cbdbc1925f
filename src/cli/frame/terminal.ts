import { styleText } from 'node:util'
import measure from 'fast-string-truncated-width'
import { Screen, type ScreenStream } from './screen.ts'

/** Results on stdout, messages to people on stderr. */
export interface Terminal {
  /** Resolves when the reader can take more. */
  write(text: string | Uint8Array): Promise<void>
  /** Control characters are replaced, because the line may contain texts of other people. */
  say(line: string): void
  /** Replaces the line of progress on stderr, if that is a terminal; null removes it. */
  progress(line: string | null): void
  /** Shows a notification of the desktop and rings the bell, if stderr is a terminal. */
  notify(text: string): void
  readonly colour: boolean
  /** Width of the screen; infinite if the output is not a screen or its size is unknown. */
  readonly columns: number
  /** Height of the screen; infinite if unknown. */
  readonly rows: number
  /** Opens a live view, which ends with the process; null: the output is not a screen. */
  openScreen(): Screen | null
}

export type Style = Parameters<typeof styleText>[0]

export interface Streams {
  stdout: ScreenStream & { isTTY?: boolean }
  stderr: ScreenStream & { isTTY?: boolean }
  /** Default: on a terminal. */
  colour?: boolean | undefined
  /** Calls back before the process ends. */
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
    // On stderr a message would stand in the middle of the view.
    say: (line) => void (screen?.isOpen ? screen.note(printable(line)) : stderr.write(`${printable(line)}\n`)),
    progress: (line) => {
      if (stderr.isTTY) stderr.write(`\r\u001B[K${line === null ? '' : shortened(printable(line), columns() - 1)}`)
    },
    // OSC 9; terminals that do not know it only ring.
    notify: (text) => {
      if (stderr.isTTY) stderr.write(`\u001B]9;${printable(text)}\u0007\u0007`)
    },
    write,
  }
}

/** FORCE_COLOR wins over NO_COLOR, as in Node; undefined: neither is set. */
export function readColour({
  NO_COLOR,
  FORCE_COLOR,
}: Readonly<Record<string, string | undefined>>): boolean | undefined {
  if (FORCE_COLOR) return !['0', 'false'].includes(FORCE_COLOR)
  return NO_COLOR ? false : undefined
}

const unknownSize = Number.POSITIVE_INFINITY

/** Cuts a text without style; a cut text ends with "…". */
export function shortened(text: string, columns: number): string {
  const { truncated, ellipsed, index } = measure(text, { limit: columns, ellipsis: '…' })
  return truncated ? `${text.slice(0, index)}${ellipsed ? '…' : ''}` : text
}

export const measureWidth = (text: string): number => measure(text).width

export const padded = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - measureWidth(text)))

/** Texts of other people must not bring these characters to a terminal. U+200C and U+200D join letters and emoji. */
export const unprintable = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\u200c\u200d]]/gv

export const printable = (text: string): string => text.replace(unprintable, '\ufffd')

export function styled(terminal: Terminal, style: Style, text: string): string {
  return terminal.colour ? styleText(style, text, { validateStream: false }) : text
}
