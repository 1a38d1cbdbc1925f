import type { Writable } from 'node:stream'
import { styleText } from 'node:util'

/** Where the command speaks: results on stdout, everything said to a person on stderr. */
export interface Terminal {
  /** Resolves when the reader has taken enough that more may be written. */
  write(text: string): Promise<void>
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
    say: (line) => void stderr.write(`${line}\n`),
    write: (text) =>
      new Promise((resolve) => {
        if (text === '' || stdout.write(text)) resolve()
        else stdout.once('drain', resolve)
      }),
  }
}

export function styled(terminal: Terminal, style: Style, text: string): string {
  return terminal.colour ? styleText(style, text, { validateStream: false }) : text
}
