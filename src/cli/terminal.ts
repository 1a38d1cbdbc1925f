import type { Writable } from 'node:stream'
import { styleText } from 'node:util'

/** Where the command speaks: results on stdout, everything said to a person on stderr. */
export interface Terminal {
  /** Resolves when the reader has taken enough that more may be written. */
  write(text: string): Promise<void>
  /** One line for a person. It may quote other people, so it is shown without control characters. */
  say(line: string): void
  readonly colour: boolean
  /** Somebody looks at it: what was shown can be shown anew in its place. */
  readonly live: boolean
}

export type Style = Parameters<typeof styleText>[0]

export interface Streams {
  stdout: Writable & { isTTY?: boolean }
  stderr: Writable
  noColour: boolean
}

export function createTerminal({ stdout, stderr, noColour }: Streams): Terminal {
  return {
    colour: Boolean(stdout.isTTY) && !noColour,
    live: Boolean(stdout.isTTY),
    say: (line) => void stderr.write(`${printable(line)}\n`),
    write: (text) =>
      new Promise((resolve) => {
        if (text === '' || stdout.write(text)) resolve()
        else stdout.once('drain', resolve)
      }),
  }
}

/**
 * What texts of other people must not contain on a terminal: control characters, which move the cursor or ring the bell,
 * and the marks that reorder a line or break it.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

export const printable = (text: string): string => text.replace(unprintable, '\ufffd')

export function styled(terminal: Terminal, style: Style, text: string): string {
  return terminal.colour ? styleText(style, text, { validateStream: false }) : text
}
