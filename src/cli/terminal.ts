import type { Writable } from 'node:stream'
import { styleText } from 'node:util'

/** The output of a command: results on stdout, messages to people on stderr. */
export interface Terminal {
  /** Resolves when the reader can take more. */
  write(text: string): Promise<void>
  /** A line for a person. It may contain texts of other people, so control characters are replaced. */
  say(line: string): void
  readonly colour: boolean
  /** A person is watching: earlier output can be replaced in its place. */
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
 * Characters that texts of other people must not bring to a terminal: control characters, which move the cursor or ring
 * the bell, and marks that reorder or break a line.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

export const printable = (text: string): string => text.replace(unprintable, '\ufffd')

export function styled(terminal: Terminal, style: Style, text: string): string {
  return terminal.colour ? styleText(style, text, { validateStream: false }) : text
}
