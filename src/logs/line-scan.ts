import { setImmediate as otherTurn } from 'node:timers/promises'
import type { Clock } from '../platform/clock.ts'
import type { BytesChunk } from './chunk.ts'
import { findCharacter } from './lines.ts'

/** Finds lines (domain/line-matcher.ts). */
export interface Matcher {
  /** Begins a line. */
  reset(): void
  /** A place in the first line that matches, and begins a line; -1: none matches up to `to`. */
  find(bytes: Uint8Array, at: number, to: number): number
  /** Whether the line matches that ends here. */
  matchesAtEnd(): boolean
}

/** A line whose bytes may go on. */
export interface OpenLine {
  /** Offset of its first byte. */
  begin: number
  code: number
  parts: Buffer[]
}

/** A line that matches. */
export interface Hit {
  begin: number
  code: number
  /** The line without its newline, cut at `hitBytesMax`. */
  bytes: Buffer
}

/** Lines that begin in this range of offsets. */
export interface LineRange {
  from: number
  until: number
}

/** Bytes of a hit: 2,000 characters of four bytes. */
const hitBytesMax = 8_000
/** Bytes that are matched without a look at the clock. */
const sliceBytes = 4_096
/** The event loop waits no longer. */
const sliceMs = 5
const newline = 10

/** Matches lines in slices, between which other work runs. */
export class LineScan {
  readonly #matcher: Matcher
  readonly #clock: Clock
  readonly #codes: ReadonlySet<number>
  #sliceBegan = 0
  #spentMs = 0

  constructor(matcher: Matcher, codes: ReadonlySet<number>, clock: Clock) {
    this.#matcher = matcher
    this.#codes = codes
    this.#clock = clock
  }

  /** Time of the slices so far. */
  get spentMs(): number {
    return this.#spentMs
  }

  /** The lines that match among those that begin and end in a chunk, and the lines that are open at its end. */
  async scanChunk(chunk: BytesChunk, range: LineRange): Promise<{ hits: Hit[]; open: OpenLine[] }> {
    this.#beginSlice()
    const hits: Hit[] = []
    /** By stream; null: a line that began before the chunk. */
    const open = new Map<number, OpenLine | null>()
    for (const [code, line] of chunk.lineState.entries()) if (code > 0 && line > 0) open.set(code, null)
    for (const { code, start, bytes } of readSegments(chunk, this.#codes)) {
      const rest = continueLine(open.get(code), bytes)
      if (rest === null) continue
      const ended = open.get(code)
      open.delete(code)
      if (ended) hits.push(...(await this.#match(ended)))
      const wholeEnd = rest < bytes.length ? Math.max(rest, bytes.lastIndexOf(newline) + 1) : rest
      const whole = clipLines(bytes.subarray(rest, wholeEnd), {
        from: range.from - start - rest,
        until: range.until - start - rest,
      })
      hits.push(...(await this.#matchLines(whole.bytes, { code, start: start + rest + whole.at })))
      if (wholeEnd === bytes.length) continue
      const begin = start + wholeEnd
      const wanted = begin >= range.from && begin < range.until
      open.set(code, wanted ? { begin, code, parts: [bytes.subarray(wholeEnd)] } : null)
    }
    this.#endSlice()
    const stillOpen = [...open.values()].filter((line) => line !== null)
    return { hits: hits.sort((a, b) => a.begin - b.begin), open: stillOpen }
  }

  /** The hit of a line that has its end; none if it does not match. */
  async scanLine(line: OpenLine): Promise<Hit[]> {
    this.#beginSlice()
    const hits = await this.#match(line)
    this.#endSlice()
    return hits
  }

  async #match({ begin, code, parts }: OpenLine): Promise<Hit[]> {
    const bytes = Buffer.concat(parts)
    this.#matcher.reset()
    const matches = (await this.#find(bytes, 0)) >= 0 || this.#matcher.matchesAtEnd()
    return matches ? [{ begin, code, bytes: bytes.subarray(0, hitBytesMax) }] : []
  }

  /** The hits in whole lines. */
  async #matchLines(bytes: Buffer, { code, start }: { code: number; start: number }): Promise<Hit[]> {
    const hits: Hit[] = []
    this.#matcher.reset()
    for (let at = 0; at < bytes.length; ) {
      const found = await this.#find(bytes, at)
      if (found < 0) break
      const begin = found === at ? at : bytes.lastIndexOf(newline, found - 1) + 1
      const end = bytes.indexOf(newline, found)
      hits.push({ begin: start + begin, code, bytes: bytes.subarray(begin, Math.min(end, begin + hitBytesMax)) })
      at = end + 1
    }
    return hits
  }

  async #find(bytes: Buffer, at: number): Promise<number> {
    for (let from = at; from < bytes.length; ) {
      const to = findCharacter(bytes, Math.min(bytes.length, from + sliceBytes))
      const found = this.#matcher.find(bytes, from, to)
      if (found >= 0) return found
      from = to
      if (this.#clock.monotonicMs() - this.#sliceBegan < sliceMs) continue
      this.#endSlice()
      await otherTurn()
      this.#beginSlice()
    }
    return -1
  }

  #beginSlice(): void {
    this.#sliceBegan = this.#clock.monotonicMs()
  }

  #endSlice(): void {
    this.#spentMs += this.#clock.monotonicMs() - this.#sliceBegan
  }
}

interface Segment {
  code: number
  /** Offset of its first byte. */
  start: number
  bytes: Buffer
}

/** The segments of these streams. */
export function* readSegments({ start, segments, bytes }: BytesChunk, codes: ReadonlySet<number>): Generator<Segment> {
  let at = 0
  for (let pair = 0; pair + 1 < segments.length; pair += 2) {
    const code = segments[pair] ?? 0
    const end = at + (segments[pair + 1] ?? 0)
    if (codes.has(code)) yield { code, start: start + at, bytes: bytes.subarray(at, end) }
    at = end
  }
}

/**
 * Adds the bytes up to the newline to the line that is open (undefined: none is; null: its bytes are not wanted). Returns
 * where the next line begins; null: the line goes on.
 */
export function continueLine(open: OpenLine | null | undefined, bytes: Buffer): number | null {
  if (open === undefined) return 0
  const end = bytes.indexOf(newline)
  open?.parts.push(end < 0 ? bytes : bytes.subarray(0, end))
  return end < 0 ? null : end + 1
}

/** The lines of whole lines that begin from `from` on and before `until`, and where the first one begins. */
function clipLines(lines: Buffer, { from, until }: LineRange): { at: number; bytes: Buffer } {
  const at = from <= 0 ? 0 : from >= lines.length ? lines.length : lines.indexOf(newline, from - 1) + 1
  const lastEnd = until >= lines.length ? lines.length : until <= 0 ? 0 : lines.indexOf(newline, until - 1) + 1
  return { at, bytes: lines.subarray(at, Math.max(at, lastEnd)) }
}
