import { isUtf8 } from 'node:buffer'
import { hasStream } from './chunk.ts'
import { type Cut, type CutOptions, cutBatch, type Slice, trim } from './cut.ts'
import { decodeStream, type LinePart, type LogStream, lineParts, logStreams, streamCode } from './lines.ts'
import type { Stored } from './stored.ts'

/** One line, or a piece of it: pieces of a line have its number, and all but the last are `truncated`. */
export interface LogLine {
  number: number
  at: Date
  stream: LogStream
  text: string
  /** The line goes on. */
  truncated: boolean
  run: number
}

/** Bytes of a line in one piece at most. */
export const lineBytesMax = 65_536
/** A piece ends here, or up to three bytes later, where a character lies across. */
const pieceBytes = lineBytesMax - 3

/** A text as valid UTF-8, in parts that are not joined: joining them costs a copy. */
export type Utf8 = readonly Buffer[]

/** A stretch of one run's log. Its text is there as bytes; a string and lines are made on request. */
export interface Passage {
  utf8: Utf8
  readonly text: string
  readonly lines: readonly LogLine[]
  start: number
  end: number
}

export const encodeStreams = (streams: readonly LogStream[]): ReadonlySet<number> =>
  new Set(logStreams.filter((stream) => streams.includes(stream)).map((stream) => streamCode[stream]))

/** A byte that is not UTF-8 becomes U+FFFD, which has three. */
const replacementBytes = 3
/** Bytes of a control character in JSON, such as \u001b. */
const escapeBytes = 6
/** Allows for invalid bytes that are not spread evenly. */
const evenly = 0.98

/** Cuts a passage; its text has at most `bytesMax` bytes too, where invalid ones grew to U+FFFD. */
export function passage(stored: readonly Stored[], run: number, options: CutOptions): Passage {
  const size = { of: ({ utf8 }: { utf8: Utf8 }) => countBytes(utf8), ofByteMax: replacementBytes }
  const { cut, utf8 } = fitting(options, size, (smaller) => cutText(stored, smaller))
  let lines: readonly LogLine[] | undefined
  return {
    utf8,
    get text() {
      return joined(utf8).toString()
    },
    get lines() {
      lines ??= collectLines(stored, cut, { ...options, run, linesMax: Number.POSITIVE_INFINITY }).lines
      return lines
    },
    start: options.from,
    end: cut.end,
  }
}

/** The same with at most `linesMax` lines, where the text has at most `bytesMax` as JSON; it ends where one more would begin. */
export function passageOfLines(
  stored: readonly Stored[],
  run: number,
  options: CutOptions & { linesMax: number },
): Passage {
  const size = { of: ({ text }: Passage) => countJsonBytes(text), ofByteMax: escapeBytes }
  return fitting(options, size, (smaller) => cutLines(stored, run, smaller))
}

/** Bytes of a text in JSON, without the quotes. */
export const countJsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2

interface Size<Whole> {
  of: (whole: Whole) => number
  /** Largest size of one stored byte. */
  ofByteMax: number
}

/**
 * The largest cut that fits, for all practical purposes: where it has grown too large, it is cut by as much as it grew, so
 * that Latin-1, which grows by a few percent, comes in about as many batches as UTF-8. The last one fits even if every byte
 * grows by the most.
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

function cutText(stored: readonly Stored[], options: CutOptions): { cut: Cut; utf8: Utf8 } {
  const cut = cutBatch(stored, options)
  return { cut, utf8: utf8Of(cut.slices) }
}

function cutLines(stored: readonly Stored[], run: number, options: CutOptions & { linesMax: number }): Passage {
  const cut = cutBatch(stored, options)
  const { lines, end } = collectLines(stored, cut, { ...options, run })
  const utf8 = utf8Of(trim(cut.slices, end))
  return { utf8, text: joined(utf8).toString(), lines, start: options.from, end }
}

/** More parts are joined: each costs some time of its own. */
const partsMax = 8

function utf8Of(slices: readonly Slice[]): Utf8 {
  const parts = slices.map(({ bytes }) => bytes)
  // A character may lie across two parts.
  if (parts.length <= partsMax && parts.every(isUtf8)) return parts
  const bytes = joined(parts)
  return [isUtf8(bytes) ? bytes : Buffer.from(bytes.toString())]
}

export const countBytes = (utf8: Utf8): number => utf8.reduce((sum, part) => sum + part.length, 0)

/** One part is not copied. */
const joined = (parts: readonly Buffer[]) => (parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts))

interface OpenLine {
  line: LogLine
  parts: Buffer[]
  size: number
}

/** The lines of a cut, in the order of their first bytes. */
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
    done.line.text = joined(done.parts).toString()
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
    for (const part of lineParts(chunk)) {
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

/** `room` bytes, and the rest of the character that lies across. */
function pieceLength(bytes: Buffer, room: number): number {
  if (bytes.length <= room) return bytes.length
  let length = Math.max(0, room)
  while (length < room + 3 && ((bytes[length] ?? 0) & 0xc0) === 0x80) length++
  return length
}
