/**
 * Terminal output as lines of styled spans: colours, bold, dim, italic and underlined text, and lines that are written
 * over.
 */

export interface Span {
  text: string
  className: string
  /** A colour outside the sixteen. */
  color?: string | undefined
}
export interface Line {
  number: number
  spans: readonly Span[]
}

interface Style {
  color: string | number | undefined
  marks: ReadonlySet<string>
}

const plain: Style = { color: undefined, marks: new Set() }
const marks: Record<number, string> = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline' }
/** A sequence of the terminal, a line ending, a return to the start of the line, or text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters of a terminal
const pieces = /\x1b\[([0-9;]*)m|\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)|\r?\n|\r|[^\x1b\r\n]+/gs

/** Keeps the newest `linesMax` lines. Its time and memory are linear in the text. */
export function createScreen(linesMax: number) {
  /** Complete lines, up to twice as many as are shown, so that few pieces of text copy them. */
  let complete: Line[] = []
  let number = 1
  let spans: Span[] = []
  let style = plain
  let isReturned = false

  function add(text: string) {
    const { color, marks } = style
    const names = [...marks, ...(typeof color === 'number' ? [`ansi${color}`] : [])]
    if (isReturned) spans = []
    isReturned = false
    spans.push({ text, className: names.join(' '), color: typeof color === 'string' ? color : undefined })
  }

  function breakLine() {
    complete.push({ number, spans })
    if (complete.length >= 2 * linesMax) complete = complete.slice(-linesMax)
    number += 1
    spans = []
    isReturned = false
  }

  return {
    write(text: string) {
      for (const [piece, codes] of text.matchAll(pieces))
        if (piece.endsWith('\n')) breakLine()
        else if (piece === '\r') isReturned = true
        else if (codes !== undefined) style = styled(style, codes.split(';').map(Number))
        else if (!piece.startsWith('\x1b')) add(piece)
    },
    /** A copy, so that a view can tell what has changed. */
    lines: (): Line[] => [...complete, { number, spans: [...spans] }].slice(-linesMax),
  }
}

function styled(before: Style, codes: readonly number[]): Style {
  let style = before
  for (let at = 0; at < codes.length; at++) {
    const [code = 0, kind] = [codes[at], codes[at + 1]]
    if ((code !== 38 && code !== 48) || (kind !== 5 && kind !== 2)) {
      style = styledByOne(style, code)
      continue
    }
    const values = codes.slice(at + 2, at + (kind === 5 ? 3 : 5))
    const color = kind === 5 ? paletteColor(values[0] ?? 0) : `rgb(${values})`
    if (code === 38) style = { ...style, color }
    at += kind === 5 ? 2 : 4
  }
  return style
}

function styledByOne(style: Style, code: number): Style {
  const mark = marks[code]
  if (code === 0) return plain
  if (mark) return { ...style, marks: new Set([...style.marks, mark]) }
  if (code === 22) return without(style, 'bold', 'dim')
  if (code === 23) return without(style, 'italic')
  if (code === 24) return without(style, 'underline')
  if (code === 39) return { ...style, color: undefined }
  if (code >= 30 && code <= 37) return { ...style, color: code - 30 }
  if (code >= 90 && code <= 97) return { ...style, color: code - 82 }
  return style
}

const without = (style: Style, ...names: string[]): Style => ({
  ...style,
  marks: new Set([...style.marks].filter((mark) => !names.includes(mark))),
})

/** Of 256: sixteen by name, a cube of 216, 24 greys. */
function paletteColor(index: number): string | number {
  if (index < 16) return index
  if (index >= 232) return `rgb(${Array(3).fill(8 + (index - 232) * 10)})`
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40)
  const cube = index - 16
  return `rgb(${[Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level)})`
}
