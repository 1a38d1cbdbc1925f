import { reveal } from '../../parts/server-text.ts'

/**
 * Parses terminal output into styled spans: colours, background, bold, dim, italic, underline, reverse, and OSC 8 links. A
 * line that was overwritten (progress bars) shows its last state.
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

const plainLook: Look = { marks: [] }

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

/** Matches a style, a link, another escape sequence, a backspace, or text. */
const pieces =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters of a terminal
  /\x1b\[([\d;]*)m|\x1b\]8;[^;\x07\x1b]*;([^\x07\x1b]*)(?:\x07|\x1b\\)|\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|.|$)|[\b]|[^\x1b\b]+/gs

/** Maximum number of spans of a line. The rest of the line gets one style, for speed. */
const spansMax = 400

/** Parses a line without its line break. Styles do not carry over from earlier lines, which may not be loaded. */
export function parseLine(text: string): readonly Span[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters of a terminal
  if (!/[\x1b\r\b]/.test(text)) return text === '' ? [] : [{ text: reveal(text), ...plainLook }]
  const spans: Span[] = []
  let look = plainLook
  for (const [piece, codes, href] of readLastState(text).text.matchAll(pieces)) {
    if (codes !== undefined) look = applyCodes(look, codes.split(';').map(Number))
    else if (href !== undefined) look = { ...look, href: /^https?:\/\//i.test(href) ? href : undefined }
    else if (piece === '\b') eraseCharacter(spans)
    else if (!piece.startsWith('\x1b')) write(spans, { text: reveal(piece), ...look })
  }
  return spans
}

function write(spans: Span[], span: Span) {
  const last = spans.at(-1)
  if (last && spans.length >= spansMax) spans[spansMax - 1] = { ...last, text: last.text + span.text }
  else spans.push(span)
}

function eraseCharacter(spans: Span[]) {
  const last = spans.pop()
  if (last && last.text.length > 1) spans.push({ ...last, text: last.text.slice(0, -1) })
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

/** The 16 basic colours depend on the theme, because they must be readable on its background. */
const namedColor = (index: number) => `var(--ansi-${index})`

/** Converts an index of the 256-colour palette: 16 named colours, a cube of 216, and 24 greys. */
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

/** Returns the last state of a line that was overwritten by `\r`, and its number of states; 0: never overwritten. */
export function readLastState(text: string): { text: string; updates: number } {
  if (!text.includes('\r')) return { text, updates: 0 }
  const states = text.split('\r').filter((state) => state !== '')
  return { text: states.at(-1) ?? '', updates: states.length > 1 ? states.length : 0 }
}

/** Shortens a line to `charactersMax` characters. Returns the same array if the line is not longer. */
export function foldSpans(spans: readonly Span[], charactersMax: number): readonly Span[] {
  let left = charactersMax
  for (const [i, span] of spans.entries()) {
    if (span.text.length > left) return [...spans.slice(0, i), { ...span, text: span.text.slice(0, left) }]
    left -= span.text.length
  }
  return spans
}

/** Returns the visible text of a line, without styles. */
export const toPlainText = (text: string): string =>
  parseLine(text)
    .map((span) => span.text)
    .join('')
