import { yieldAlone } from '../platform/slices.ts'
import { type BytesChunk, joinBytes, readSegments } from './chunk.ts'
import { findCharacter } from './lines.ts'

/** Finds lines (domain/line-matcher.ts). */
export interface Matcher {
  /** Work so far, measured in bytes of equal cost. */
  readonly work: number
  reset(): void
  /** Reads up to `to`, a match or `workMax`, and returns where it stopped. After a match, it starts a new line. */
  find(bytes: Uint8Array, at: number, to: number, workMax: number): { at: number; matches: boolean }
  /** Whether the line that ends here matches. */
  matchesAtEnd(): boolean
  ranges(line: string, rangesMax: number): readonly LineSpan[]
}

/** A part of a line, in UTF-16 code units. */
export interface LineSpan {
  start: number
  end: number
}

/** Complete lines of one stream, or one line without its newline. */
export interface Lines {
  /** Offset of the first byte. */
  begin: number
  code: number
  parts: Buffer[]
  /** Whether the last line continues after the chunk. */
  isOpen: boolean
}

export interface Hit {
  begin: number
  code: number
  /** The line without its newline, cut at `hitBytesMax`. */
  bytes: Buffer
}

/** Selects lines by the offset of their first byte. */
export interface LineRange {
  from: number
  until: number
}

/** Maximum bytes of a hit: 2,000 characters of four bytes. */
const hitBytesMax = 8_000
/** Work of a slice, in bytes of equal cost: about a millisecond. */
const sliceWork = 100_000
/** Additional work of each call and hit, for the clock, buffers and texts. */
const callWork = 500
const hitWork = 200
/** Maximum processor time to find lines, and in total. The rest is for the ranges of the matches. */
const findMsMax = 200
const scanMsMax = 250
const newline = 10

/** Matches lines in slices. Other work of the event loop runs between the slices. */
export class LineScan {
  readonly #matcher: Matcher
  readonly #processorMs: () => number
  /** Work outside of the matcher. */
  #ownWork = 0
  /** Amount of work at which the slice ends. */
  #sliceEnd = 0
  #sliceBegan = 0
  #spentMs = 0

  constructor(matcher: Matcher, processorMs: () => number) {
    this.#matcher = matcher
    this.#processorMs = processorMs
  }

  get #work(): number {
    return this.#matcher.work + this.#ownWork
  }

  /** Whether the processor time for finding lines is used up. */
  get isSpent(): boolean {
    return this.#spentMs >= findMsMax
  }

  /** Whether the total processor time is used up. */
  get isOver(): boolean {
    return this.#spentMs >= scanMsMax
  }

  /** Adds matching lines, at most `hitsMax`. Returns the offset of the first unsearched line, or null. */
  async scan({ begin, code, parts }: Lines, hits: Hit[], hitsMax: number): Promise<number | null> {
    this.#beginSlice()
    this.#ownWork += callWork
    const bytes = joinBytes(parts)
    const take = (at: number, end: number) => {
      this.#ownWork += hitWork
      hits.push({ begin: begin + at, code, bytes: bytes.subarray(at, Math.min(end, at + hitBytesMax)) })
    }
    this.#matcher.reset()
    let at = 0
    while (at < bytes.length && hits.length < hitsMax && !this.isSpent) {
      const workMax = Math.max(1, this.#sliceEnd - this.#work)
      const to = findCharacter(bytes, Math.min(bytes.length, at + workMax))
      const found = this.#matcher.find(bytes, at, to, workMax)
      at = found.at
      if (found.matches) {
        const end = findEnd(bytes, at)
        take(findBegin(bytes, at), end)
        at = end + 1
      }
      if (this.#work >= this.#sliceEnd) await this.#endFullSlice()
    }
    if (at === bytes.length && bytes.at(-1) !== newline && this.#matcher.matchesAtEnd()) take(findBegin(bytes, at), at)
    this.#endSlice()
    return at < bytes.length ? begin + findBegin(bytes, at) : null
  }

  /** Counts a small piece of work as a part of the scan. */
  async run<Result>(work: () => Result): Promise<Result> {
    this.#beginSlice()
    this.#ownWork += callWork
    const result = work()
    if (this.#work >= this.#sliceEnd) await this.#endFullSlice()
    this.#endSlice()
    return result
  }

  /** Lets other work of the event loop run. */
  async nextSlice(): Promise<void> {
    await yieldAlone()
    this.#sliceEnd = this.#work + sliceWork
  }

  async #endFullSlice(): Promise<void> {
    this.#endSlice()
    await this.nextSlice()
    this.#beginSlice()
  }

  #beginSlice(): void {
    this.#sliceBegan = this.#processorMs()
  }

  #endSlice(): void {
    this.#spentMs += this.#processorMs() - this.#sliceBegan
  }
}

/** Returns where the line begins that contains, or ends at, `at`. */
const findBegin = (bytes: Buffer, at: number): number => (at === 0 ? 0 : bytes.lastIndexOf(newline, at - 1) + 1)

function findEnd(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(newline, at)
  return end < 0 ? bytes.length : end
}

/** Reads the lines that begin in a chunk, in order. Adjacent lines of a stream are one item. */
export function* readChunkLines(chunk: BytesChunk, codes: ReadonlySet<number>, range: LineRange): Generator<Lines> {
  const isOpen = chunk.lineState.map((line) => line > 0)
  const segments = [...readSegments(chunk, codes)]
  for (const [index, { code, start, bytes }] of segments.entries()) {
    if (start >= range.until) return
    const first = isOpen[code] ? findEnd(bytes, 0) + 1 : 0
    isOpen[code] = bytes.at(-1) !== newline
    const lastEnd = Math.max(first, bytes.lastIndexOf(newline) + 1)
    const whole = clipLines(bytes, [first, lastEnd], { from: range.from - start, until: range.until - start })
    if (whole.bytes.length > 0) yield { begin: start + whole.at, code, parts: [whole.bytes], isOpen: false }
    const begin = start + lastEnd
    if (lastEnd >= bytes.length || begin < range.from || begin >= range.until) continue
    const line: Lines = { begin, code, parts: [bytes.subarray(lastEnd)], isOpen: true }
    for (let next = index + 1; line.isOpen && next < segments.length; next++) {
      const more = segments[next]
      if (more?.code === code) continueLine(line, more.bytes)
    }
    yield line
  }
}

/** Returns the lines between `first` and `end` that begin between `from` and `until`. */
function clipLines(bytes: Buffer, [first, end]: readonly [number, number], { from, until }: LineRange) {
  const at = first >= from ? first : Math.max(first, findEnd(bytes, from - 1) + 1)
  return { at, bytes: bytes.subarray(at, Math.max(at, end <= until ? end : findEnd(bytes, until - 1) + 1)) }
}

/** Appends the bytes up to the first newline to an open line. */
export function continueLine(line: Lines, bytes: Buffer): void {
  const end = bytes.indexOf(newline)
  line.parts.push(end < 0 ? bytes : bytes.subarray(0, end))
  line.isOpen = end < 0
}
