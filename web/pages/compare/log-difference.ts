export interface LogPart {
  number: number
  text: string
}

/** Reads up to `linesPerRead` lines from `fromLine` on, long lines in several parts. Fewer lines: the log ends there. */
type ReadLines = (source: number, fromLine: number) => Promise<readonly LogPart[]>

export interface LogDifference {
  /** The first different line; null: no difference within the compared lines. */
  line: number | null
  /** The text of that line in each log; undefined: the log ends before it. */
  texts: readonly (string | undefined)[]
  compared: number
  isWhole: boolean
}

export const linesPerRead = 1_000
const linesMax = 20_000

export const joinParts = (parts: readonly LogPart[]): ReadonlyMap<number, string> => {
  const lines = new Map<number, string>()
  for (const { number, text } of parts) lines.set(number, (lines.get(number) ?? '') + text)
  return lines
}

/** Finds the first line in which `count` logs differ. */
export async function findLogDifference(count: number, read: ReadLines): Promise<LogDifference> {
  const sources = Array.from({ length: count }, (_, source) => source)
  for (let from = 1; from <= linesMax; from += linesPerRead) {
    const pages = (await Promise.all(sources.map((source) => read(source, from)))).map(joinParts)
    for (let line = from; line < from + linesPerRead; line++) {
      const texts = pages.map((page) => page.get(line))
      if (texts.every((text) => text === undefined)) return { line: null, texts: [], compared: line - 1, isWhole: true }
      if (new Set(texts).size > 1) return { line, texts, compared: line, isWhole: false }
    }
  }
  return { line: null, texts: [], compared: linesMax, isWhole: false }
}
