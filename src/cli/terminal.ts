import type { Writable } from 'node:stream'
import { styleText } from 'node:util'
import measure from 'fast-string-truncated-width'

/** Results on stdout, messages to people on stderr. */
export interface Terminal {
  /** Resolves when the reader can take more. */
  write(text: string): Promise<void>
  /** Control characters are replaced, because the line may contain texts of other people. */
  say(line: string): void
  readonly colour: boolean
  /** Width of the screen; infinite if the output is not a screen or its size is unknown. */
  readonly columns: number
  /** Replaces the content of the screen and cuts it to fit; null: the output is not a screen. */
  readonly replaceScreen: ((view: string) => Promise<void>) | null
}

export type Style = Parameters<typeof styleText>[0]

export interface Streams {
  stdout: Writable & { isTTY?: boolean; rows?: number | undefined; columns?: number | undefined }
  stderr: Writable
  /** Default: on a terminal. */
  colour?: boolean | undefined
}

export function createTerminal({ stdout, stderr, colour = Boolean(stdout.isTTY) }: Streams): Terminal {
  const write = (text: string) =>
    new Promise<void>((resolve) => {
      if (text === '' || stdout.write(text)) resolve()
      else stdout.once('drain', resolve)
    })
  const columns = () => (stdout.isTTY && stdout.columns) || unknownSize
  return {
    colour,
    get columns() {
      return columns()
    },
    replaceScreen: stdout.isTTY
      ? (view) => write(`${clearScreen}${fitted(view, stdout.rows || unknownSize, columns())}`)
      : null,
    say: (line) => void stderr.write(`${printable(line)}\n`),
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

/** Moves the cursor to the top left and clears the screen. */
const clearScreen = '\u001B[H\u001B[J'
const resetStyle = '\u001B[0m'
const unknownSize = Number.POSITIVE_INFINITY

/** The last row stays empty for the cursor. */
function fitted(view: string, rows: number, columns: number): string {
  const lines = view.split('\n').slice(0, Math.max(1, rows - 1))
  return lines.map((line) => cut(line, columns)).join('\n')
}

function cut(line: string, columns: number): string {
  const { truncated, index } = measure(line, { limit: columns })
  return truncated ? `${line.slice(0, index)}${resetStyle}` : line
}

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
