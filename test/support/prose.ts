import type { Source } from './sources.ts'

/** A comment, a string, a paragraph or a cell of a table, with its position. */
export interface Passage {
  path: string
  line: number
  text: string
}

export function listPassages({ path, lines }: Source): Passage[] {
  const isPage = path.endsWith('.md')
  const passages: Passage[] = []
  let open: Passage | undefined
  for (const [i, content] of lines.entries()) {
    const line = i + 1
    const { begins, text } = isPage ? readPage(content) : readComment(content, /\.(sh|py)$/.test(path))
    if (text === undefined || text === '') open = undefined
    else if (open && !begins) open.text += ` ${text}`
    else {
      open = { path, line, text }
      passages.push(open)
    }
    if (isPage || text !== undefined) continue
    passages.push(...stringsOf(content).map((string) => ({ path, line, text: string })))
  }
  return isPage ? passages.flatMap(cellsOf) : passages
}

interface Line {
  /** true: it begins a passage even directly below another one. */
  begins: boolean
  text?: string
}

function readPage(line: string): Line {
  return { begins: /^\s*([*#>|-]|\d+\.)/.test(line), text: line.replace(/^\s*([*#>-]+|\d+\.)\s+/, '').trim() }
}

function readComment(line: string, hasHash: boolean): Line {
  const [, mark = '', text] =
    line.match(hasHash ? /^\s*(#)\s*(.*)/ : /^\s*(\/\*\*?|\/\/\/?|\*)\s?(.*?)(?:\*\/)?$/) ?? []
  return text === undefined ? { begins: true } : { begins: mark.startsWith('/*'), text: text.trim() }
}

const cellsOf = (passage: Passage): Passage[] =>
  passage.text.startsWith('|')
    ? passage.text
        .split('|')
        .map((cell) => ({ ...passage, text: cell.trim() }))
        .filter(({ text }) => text !== '')
    : [passage]

function stringsOf(line: string): string[] {
  const strings = line.matchAll(/'((?:[^'\\]|\\.){12,})'|`([^`]{12,})`|"([^"]{12,})"/g)
  return [...strings].map(([, a, b, c]) => a ?? b ?? c ?? '').filter((text) => /^[A-Za-z].* /.test(text))
}

/** Patterns that make a sentence hard to read, with the remedy. */
export const habits: readonly { habit: string; pattern: RegExp }[] = [
  {
    habit: 'odd verb: report, return, release, again',
    pattern:
      /\b(is|are|was|were|be) (told|said|heard|met)\b|\b(tells?|told) (it|nothing|of|no|as)\b|\b[Aa]nswers? (how|what|the|a)\b|\blets? go\b|\banew\b/,
  },
  {
    habit: 'pronoun without a noun: repeat the noun',
    pattern: /^(It|Its|They|Their)\b|\b(is|are|has|of|needs) (one|none|it|another)\.?$/,
  },
  { habit: '"what" for a thing: name the thing', pattern: /^What \w+[^?]*$|\b(than|of|from|with|until) what\b/ },
  {
    habit: 'no subject: begin with the noun',
    pattern: /^(Of|By|As|Between|In|With|Under|After|Not)\b[^,.:;]{0,60}\.?$/,
  },
  {
    habit: 'negated noun: negate the verb',
    pattern:
      /\b(is|are|was|be) no (?!longer|more)\w+|\b(is|are|holds?|tells?) (none|nothing)\b|\b(ends?|refuses?|tells?|lets?) no \w+/,
  },
]
