import { reveal } from '../../parts/server-text.ts'

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

/** A style, a link, any other sequence, a step back, or text. */
const pieces =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters of a terminal
  /\x1b\[([\d;]*)m|\x1b\]8;[^;\x07\x1b]*;([^\x07\x1b]*)(?:\x07|\x1b\\)|\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|.|$)|[\b]|[^\x1b\b]+/gs

/** A line of more spans is a picture, not text: the rest has one look. */
const spansMax = 400

/** One line without its ending, in its last state. Each line begins plain: a page may begin anywhere. */
export function parseLine(text: string): readonly Span[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters of a terminal
  if (!/[\x1b\r\b]/.test(text)) return text === '' ? [] : [{ text: reveal(text), ...plainLook }]
  const spans: Span[] = []
  let look = plainLook
  for (const [piece, codes, href] of lastState(text).text.matchAll(pieces)) {
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

/** The last state of a line that was written over by `\r`, and how many states it had; 0: it was written once. */
export function lastState(text: string): { text: string; updates: number } {
  if (!text.includes('\r')) return { text, updates: 0 }
  const states = text.split('\r').filter((state) => state !== '')
  return { text: states.at(-1) ?? '', updates: states.length > 1 ? states.length : 0 }
}

/** The first characters; the same spans if there are no more. */
export function foldSpans(spans: readonly Span[], charactersMax: number): readonly Span[] {
  let left = charactersMax
  for (const [i, span] of spans.entries()) {
    if (span.text.length > left) return [...spans.slice(0, i), { ...span, text: span.text.slice(0, left) }]
    left -= span.text.length
  }
  return spans
}

/** The text that a reader sees. */
export const toPlainText = (text: string): string =>
  parseLine(text)
    .map((span) => span.text)
    .join('')
