import { isUtf8 } from 'node:buffer'
import { hasStream, joinBytes } from './chunk.ts'
import { type Cut, type CutOptions, cutBatch, type Slice, trimSlices } from './cut.ts'
import { decodeStream, type LinePart, type LogStream, logStreams, readLineParts, streamCode } from './lines.ts'
import type { Stored } from './stored.ts'

/** A line, or a piece of one. The pieces of a line have its number, and all but the last are `truncated`. */
export interface LogLine {
  number: number
  at: Date
  stream: LogStream
  text: string
  truncated: boolean
  run: number
}

export const lineBytesMax = 65_536
/** A piece may have up to three more bytes, which complete a character. */
export const pieceBytes = lineBytesMax - 3

/** Valid UTF-8 in parts, because joining them costs a copy. */
export type Utf8 = readonly Buffer[]

/** A range of the log of one run. Its text and lines are computed when they are first read. */
export interface Passage {
  utf8: Utf8
  readonly text: string
  readonly lines: readonly LogLine[]
  start: number
  end: number
}

export const encodeStreams = (streams: readonly LogStream[]): ReadonlySet<number> =>
  new Set(logStreams.filter((stream) => streams.includes(stream)).map((stream) => streamCode[stream]))

/** Bytes of U+FFFD, which replaces a byte that is not UTF-8. */
const replacementBytes = 3
/** Bytes of an escaped control character in JSON. */
const escapeBytes = 6
/** The second cut uses this part of the computed size, because invalid bytes may be spread unevenly. */
const evenly = 0.98

/** Cuts a passage whose text has at most `bytesMax` bytes, even if invalid bytes became U+FFFD. */
export function cutPassage(stored: readonly Stored[], run: number, options: CutOptions): Passage {
  const size = { of: ({ utf8 }: { utf8: Utf8 }) => countBytes(utf8), ofByteMax: replacementBytes }
  const { cut, utf8 } = fitting(options, size, (smaller) => {
    const found = cutBatch(stored, smaller)
    return { cut: found, utf8: utf8Of(found.slices) }
  })
  let lines: readonly LogLine[] | undefined
  return {
    utf8,
    get text() {
      return joinBytes(utf8).toString()
    },
    get lines() {
      lines ??= collectLines(stored, cut, { ...options, run, linesMax: Number.POSITIVE_INFINITY }).lines
      return lines
    },
    start: options.from,
    end: cut.end,
  }
}

/** Cuts a passage with at most `linesMax` lines, whose text has at most `bytesMax` bytes as JSON. */
export function cutPassageOfLines(
  stored: readonly Stored[],
  run: number,
  options: CutOptions & { linesMax: number },
): Passage {
  const size = { of: ({ text }: Passage) => countJsonBytes(text), ofByteMax: escapeBytes }
  return fitting(options, size, (smaller) => cutLines(stored, run, smaller))
}

export const countJsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2

interface Size<Whole> {
  of: (whole: Whole) => number
  /** Maximum size of one stored byte in the text. */
  ofByteMax: number
}

/**
 * Finds a large cut that fits. A cut that grew too large is repeated, reduced by the factor of its growth, so that
 * Latin-1 needs about as many batches as UTF-8. The last try fits even if every byte grows by the maximum.
 */
function fitting<Options extends CutOptions, Whole>(
  options: Options,
  size: Size<Whole>,
  cut: (smaller: Options) => Whole,
): Whole {
  const { bytesMax } = options
  const whole = cut(options)
  const grown = size.of(whole) / bytesMax
  if (grown <= 1) return whole
  const smaller = cut({ ...options, bytesMax: Math.max(bytesMax / size.ofByteMax, (bytesMax / grown) * evenly) | 0 })
  if (size.of(smaller) <= bytesMax) return smaller
  return cut({ ...options, bytesMax: Math.floor(bytesMax / size.ofByteMax) })
}

function cutLines(stored: readonly Stored[], run: number, options: CutOptions & { linesMax: number }): Passage {
  const cut = cutBatch(stored, options)
  const { lines, end } = collectLines(stored, cut, { ...options, run })
  const utf8 = utf8Of(trimSlices(cut.slices, end))
  return { utf8, text: joinBytes(utf8).toString(), lines, start: options.from, end }
}

/** If there are more parts, they are joined, because each part has a fixed cost. */
const partsMax = 8

function utf8Of(slices: readonly Slice[]): Utf8 {
  const parts = slices.map(({ bytes }) => bytes)
  // A character may be split between two parts.
  if (parts.length <= partsMax && parts.every(isUtf8)) return parts
  const bytes = joinBytes(parts)
  return [isUtf8(bytes) ? bytes : Buffer.from(bytes.toString())]
}

export const countBytes = (utf8: Utf8): number => utf8.reduce((sum, part) => sum + part.length, 0)

interface OpenLine {
  line: LogLine
  parts: Buffer[]
  size: number
}

function collectLines(
  stored: readonly Stored[],
  cut: Cut,
  { from, codes, run, linesMax }: { from: number; codes: ReadonlySet<number>; run: number; linesMax: number },
): { lines: LogLine[]; end: number } {
  const lines: LogLine[] = []
  const open = new Map<number, OpenLine>()
  const finish = (code: number, truncated: boolean) => {
    const done = open.get(code)
    if (!done) return
    done.line.text = joinBytes(done.parts).toString()
    done.line.truncated = truncated
    open.delete(code)
  }
  const finishAll = (truncated: boolean) => {
    for (const code of [...open.keys()]) finish(code, truncated)
    return lines
  }

  const read = stored.filter((item) => item.gap !== null || hasStream(item, codes))
  for (const { part, at } of partsOf(read, from, cut.end)) {
    if (!codes.has(part.code)) continue
    let rest = part.ends ? part.bytes.subarray(0, -1) : part.bytes
    let offset = part.offset
    for (;;) {
      const current = open.get(part.code) ?? begin(part, at)
      if (!current) return { lines: finishAll(true), end: offset }
      const piece = rest.subarray(0, pieceLength(rest, pieceBytes - current.size))
      current.parts.push(piece)
      current.size += piece.length
      rest = rest.subarray(piece.length)
      offset += piece.length
      if (rest.length === 0) break
      finish(part.code, true)
    }
    if (part.ends) finish(part.code, false)
  }
  return { lines: finishAll(!cut.endsLines), end: cut.end }

  function begin({ code, line: number }: LinePart, at: Date): OpenLine | undefined {
    if (lines.length >= linesMax) return undefined
    const line = { number, at, stream: decodeStream(code), text: '', truncated: false, run }
    const begun: OpenLine = { line, parts: [], size: 0 }
    lines.push(line)
    open.set(code, begun)
    return begun
  }
}

function* partsOf(stored: readonly Stored[], from: number, end: number): Generator<{ part: LinePart; at: Date }> {
  for (const chunk of stored) {
    if (chunk.gap !== null || chunk.start >= end) return
    for (const part of readLineParts(chunk)) {
      const after = part.offset + part.bytes.length
      if (after <= from) continue
      if (part.offset >= end) return
      yield { part: part.offset < from || after > end ? clip(part, from, end) : part, at: chunk.at }
    }
  }
}

function clip(part: LinePart, from: number, end: number): LinePart {
  const bytes = part.bytes.subarray(Math.max(0, from - part.offset), end - part.offset)
  return {
    ...part,
    bytes,
    offset: Math.max(from, part.offset),
    begins: part.begins && part.offset >= from,
    ends: part.ends && part.offset + part.bytes.length <= end,
  }
}

/** Returns up to three bytes more than `room`, to complete a character. */
function pieceLength(bytes: Buffer, room: number): number {
  if (bytes.length <= room) return bytes.length
  let length = Math.max(0, room)
  while (length < room + 3 && ((bytes[length] ?? 0) & 0xc0) === 0x80) length++
  return length
}
