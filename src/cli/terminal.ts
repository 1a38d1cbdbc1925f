import type { Writable } from 'node:stream'
import { styleText } from 'node:util'

/** The output of a command: results on stdout, messages to people on stderr. */
export interface Terminal {
  /** Resolves when the reader can take more. */
  write(text: string): Promise<void>
  /** A line for a person. It may contain texts of other people, so control characters are replaced. */
  say(line: string): void
  readonly colour: boolean
  /** Replaces what a person sees on the screen. What does not fit is cut off. `null`: the output is not a screen. */
  readonly replaceScreen: ((view: string) => Promise<void>) | null
}

export type Style = Parameters<typeof styleText>[0]

export interface Streams {
  stdout: Writable & { isTTY?: boolean; rows?: number | undefined }
  stderr: Writable
  noColour: boolean
}

export function createTerminal({ stdout, stderr, noColour }: Streams): Terminal {
  const write = (text: string) =>
    new Promise<void>((resolve) => {
      if (text === '' || stdout.write(text)) resolve()
      else stdout.once('drain', resolve)
    })
  return {
    colour: Boolean(stdout.isTTY) && !noColour,
    replaceScreen: stdout.isTTY
      ? (view) => write(`${clearScreen}${wrapOff}${firstLines(view, stdout.rows)}${wrapOn}`)
      : null,
    say: (line) => void stderr.write(`${printable(line)}\n`),
    write,
  }
}

/** Moves the cursor to the top left and clears the screen. */
const clearScreen = '\u001B[H\u001B[J'
/** Without wrapping, a terminal cuts long lines at its right edge. */
const wrapOff = '\u001B[?7l'
const wrapOn = '\u001B[?7h'

/** The last row stays empty for the cursor. A terminal that does not know its size says 0 rows. */
const firstLines = (view: string, rows: number | undefined) =>
  rows
    ? view
        .split('\n')
        .slice(0, rows - 1)
        .join('\n')
    : view

/**
 * Characters that texts of other people must not bring to a terminal: control characters, which move the cursor or ring
 * the bell, and marks that reorder or break a line.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

export const printable = (text: string): string => text.replace(unprintable, '\ufffd')

export function styled(terminal: Terminal, style: Style, text: string): string {
  return terminal.colour ? styleText(style, text, { validateStream: false }) : text
}
