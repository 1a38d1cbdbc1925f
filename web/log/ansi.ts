/**
 * Terminal output as spans of text with their look: sixteen and more colours, background, bold, dim, italic, underlined,
 * reversed, and links of OSC 8. A line that was written over shows its last state.
 */
export interface Look {
  color?: string | undefined
  background?: string | undefined
  marks: readonly string[]
  href?: string | undefined
}

export interface Span extends Look {
  text: string
}

export const plainLook: Look = { marks: [] }

const markCodes: Readonly<Record<number, string>> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  7: 'reverse',
  9: 'strike',
}
const endCodes: Readonly<Record<number, readonly string[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['reverse'],
  29: ['strike'],
}

/** A style, a link, any other sequence, a return to the start of the line, or text. */
const pieces =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters of a terminal
  /\x1b\[([\d;]*)m|\x1b\]8;[^;\x07\x1b]*;([^\x07\x1b]*)(?:\x07|\x1b\\)|(\x1b\[[02]?K)|\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)|\r|[^\x1b\r]+/gs

export interface ParsedLine {
  spans: readonly Span[]
  /** How often the line was written over. */
  updates: number
}

/** One line without its ending. Each line begins plain: a page may begin anywhere. */
export function parseLine(text: string): ParsedLine {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters of a terminal
  if (!/[\x1b\r\b]/.test(text)) return { spans: text === '' ? [] : [{ text, ...plainLook }], updates: 0 }
  const line: DrawnLine = { spans: [], look: plainLook, isReturned: false, updates: 0 }
  for (const [piece, codes, href, erase] of text.matchAll(pieces)) {
    if (piece === '\r') line.isReturned = line.spans.length > 0
    else if (codes !== undefined) line.look = applyCodes(line.look, codes.split(';').map(Number))
    else if (href !== undefined) line.look = { ...line.look, href: /^https?:\/\//i.test(href) ? href : undefined }
    else if (erase !== undefined && line.isReturned) line.spans = []
    else if (!piece.startsWith('\x1b')) write(line, piece)
  }
  return { spans: line.spans, updates: line.updates }
}

interface DrawnLine {
  spans: Span[]
  look: Look
  isReturned: boolean
  updates: number
}

function write(line: DrawnLine, text: string) {
  if (line.isReturned) {
    line.spans = []
    line.updates++
  }
  line.isReturned = false
  line.spans.push({ text, ...line.look })
}

function applyCodes(before: Look, codes: readonly number[]): Look {
  let look = before
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0
    const kind = codes[at + 1]
    if ((code !== 38 && code !== 48) || (kind !== 5 && kind !== 2)) {
      look = applyCode(look, code)
      continue
    }
    const values = codes.slice(at + 2, at + (kind === 5 ? 3 : 5))
    const color = kind === 5 ? paletteColor(values[0] ?? 0) : `rgb(${values.join(' ')})`
    look = code === 38 ? { ...look, color } : { ...look, background: color }
    at += kind === 5 ? 2 : 4
  }
  return look
}

function applyCode(look: Look, code: number): Look {
  const mark = markCodes[code]
  const ended = endCodes[code]
  if (code === 0) return { ...plainLook, href: look.href }
  if (mark) return look.marks.includes(mark) ? look : { ...look, marks: [...look.marks, mark] }
  if (ended) return { ...look, marks: look.marks.filter((each) => !ended.includes(each)) }
  if (code === 39) return { ...look, color: undefined }
  if (code === 49) return { ...look, background: undefined }
  if (code >= 30 && code <= 37) return { ...look, color: namedColor(code - 30) }
  if (code >= 90 && code <= 97) return { ...look, color: namedColor(code - 82) }
  if (code >= 40 && code <= 47) return { ...look, background: namedColor(code - 40) }
  if (code >= 100 && code <= 107) return { ...look, background: namedColor(code - 92) }
  return look
}

/** Of the theme: a dark blue that is readable on black is not the one for white. */
const namedColor = (index: number) => `var(--ansi-${index})`

/** Of 256: sixteen by name, a cube of 216, 24 greys. */
function paletteColor(index: number): string {
  if (index < 16) return namedColor(index)
  if (index >= 232)
    return `rgb(${Array(3)
      .fill(8 + (index - 232) * 10)
      .join(' ')})`
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40)
  const cube = index - 16
  return `rgb(${[Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level).join(' ')})`
}

/** The text that a reader sees. */
export const toPlainText = (text: string): string =>
  parseLine(text)
    .spans.map((span) => span.text)
    .join('')
