import { quoteShell } from '../../parts/format.ts'

/** Splits a command line into words as a shell does: quotes and backslashes, without expansion. */
export function splitWords(text: string): string[] {
  const words: string[] = []
  const pattern = /\s*((?:"(?:\\[\s\S]|[^"\\])*"?|'[^']*'?|\\[\s\S]|[^\s"'\\])+)/gy
  for (const [, word = ''] of text.matchAll(pattern)) words.push(unquote(word))
  return words
}

const unquote = (word: string): string =>
  word.replace(/"((?:\\[\s\S]|[^"\\])*)"?|'([^']*)'?|\\([\s\S])/g, (_, double, single, escaped) =>
    double === undefined ? (single ?? escaped) : double.replace(/\\(["\\$`])/g, '$1'),
  )

export const joinWords = (words: readonly string[]): string => words.map(quoteWord).join(' ')

const quoteWord = (word: string): string => (/^[\w@%+=:,./\-${}]+$/.test(word) ? word : quoteShell(word))

/** true: the command runs a script in a shell. */
export const isScript = (command: unknown): command is [string, '-c', string] =>
  Array.isArray(command) &&
  command.length === 3 &&
  /^(\/bin\/)?(ba)?sh$/.test(String(command[0])) &&
  command[1] === '-c' &&
  typeof command[2] === 'string'

/** true: the text has variables, operators, line breaks, backticks or `*` that only a shell would replace or obey. */
export const needsShell = (text: string): boolean =>
  /[|&;<>`\n*]|\$[\w{(]/.test(text.replace(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/g, keepReplaced))

/** Double quotes keep their variables and backticks. */
const keepReplaced = (quoted: string): string => (quoted.startsWith('"') ? quoted.replace(/\\.|[^$`\w{(]/g, ' ') : ' ')
