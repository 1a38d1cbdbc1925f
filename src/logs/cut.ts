import { type BytesChunk, hasStream, readSegments } from './chunk.ts'
import type { Stored } from './stored.ts'

/**
 * A batch ends where a reader can resume: never inside a UTF-8 character or an ANSI escape sequence, after a "\n" if it
 * has one, and inside a line only if the batch is full or the caller requests all bytes. An incomplete sequence is
 * included before a gap, at the end of a sealed log, and when more than `holdBytesMax` bytes of other streams follow.
 */

export interface CutOptions {
  from: number
  codes: ReadonlySet<number>
  /** Maximum number of selected bytes; at least 1,024. */
  bytesMax: number
  /** MORE: stored bytes follow the last chunk. OPEN: bytes may be appended. END: the log of the run is complete. */
  follows: 'MORE' | 'OPEN' | 'END'
  /** LINES: hold back an open line. ALL: include it. BYTES: include incomplete sequences as well. */
  upTo: 'LINES' | 'ALL' | 'BYTES'
}

export interface Slice {
  offset: number
  bytes: Buffer
}

export interface Cut {
  end: number
  slices: Slice[]
  /** Whether open lines end here, because the log is sealed or a gap follows. */
  endsLines: boolean
}

const holdBytesMax = 65_536
/** Longer escape sequences may be split. */
const escapeBytesMax = 64
const newline = 10

/** Cuts a batch out of chunks. The first chunk contains `from` and is not a gap. */
export function cutBatch(stored: readonly Stored[], options: CutOptions): Cut {
  const { chunks, end, gapFollows } = upToGap(stored)
  const { slices, full } = take(chunks, options)
  if (!full && (options.follows === 'END' || gapFollows)) return { end, slices, endsLines: true }
  const reached = full ? endOf(slices) : end
  if (options.upTo === 'BYTES') return { end: reached, slices, endsLines: false }
  const goesOn = full || options.follows === 'MORE'
  if (!goesOn && options.upTo === 'ALL') return cutWhole(slices, reached)
  const afterLine = lastLineEnd(slices)
  if (afterLine === endOf(slices)) return { end: reached, slices, endsLines: false }
  if (afterLine !== null) return { end: afterLine, slices: trimSlices(slices, afterLine), endsLines: false }
  if (goesOn || slices.length === 0) return cutWhole(slices, reached)
  return { end: options.from, slices: [], endsLines: false }
}

function upToGap(stored: readonly Stored[]) {
  const chunks: BytesChunk[] = []
  for (const item of stored) {
    if (item.gap !== null) return { chunks, end: item.start, gapFollows: true }
    chunks.push(item)
  }
  return { chunks, end: chunks.at(-1)?.end ?? 0, gapFollows: false }
}

function take(chunks: readonly BytesChunk[], { from, codes, bytesMax }: CutOptions) {
  const slices: Slice[] = []
  let room = bytesMax
  for (const slice of selected(chunks, from, codes)) {
    const bytes = slice.bytes.subarray(0, room)
    slices.push({ offset: slice.offset, bytes })
    room -= bytes.length
    if (room === 0) return { slices, full: true }
  }
  return { slices, full: false }
}

function* selected(chunks: readonly BytesChunk[], from: number, codes: ReadonlySet<number>): Generator<Slice> {
  for (const chunk of chunks.filter((each) => hasStream(each, codes)))
    for (const { start, bytes } of readSegments(chunk, codes)) {
      const rest = bytes.subarray(Math.max(0, from - start))
      if (rest.length > 0) yield { offset: Math.max(start, from), bytes: rest }
    }
}

const endOf = (slices: readonly Slice[]): number => {
  const last = slices.at(-1)
  return last ? last.offset + last.bytes.length : 0
}

function lastLineEnd(slices: readonly Slice[]): number | null {
  for (const { offset, bytes } of slices.toReversed()) {
    const at = bytes.lastIndexOf(newline)
    if (at >= 0) return offset + at + 1
  }
  return null
}

/** Holds back an incomplete character or escape sequence at the end. */
function cutWhole(slices: Slice[], reached: number): Cut {
  const whole = { end: reached, slices, endsLines: false }
  let back = countBegunBytes(lastBytes(slices, escapeBytesMax))
  if (back === 0) return whole
  for (const { offset, bytes } of slices.toReversed()) {
    if (back <= bytes.length) {
      const end = offset + bytes.length - back
      return reached - end > holdBytesMax ? whole : { end, slices: trimSlices(slices, end), endsLines: false }
    }
    back -= bytes.length
  }
  return whole
}

export function trimSlices(slices: readonly Slice[], end: number): Slice[] {
  return slices
    .filter(({ offset }) => offset < end)
    .map(({ offset, bytes }) => ({ offset, bytes: bytes.subarray(0, end - offset) }))
}

function lastBytes(slices: readonly Slice[], count: number): Buffer {
  const parts: Buffer[] = []
  let missing = count
  for (const { bytes } of slices.toReversed()) {
    if (missing === 0) break
    const part = bytes.subarray(-missing)
    parts.unshift(part)
    missing -= part.length
  }
  return Buffer.concat(parts)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of them
const begunEscape = /\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b\n]*\u001b?|[ -/]*)$/

/** Counts the bytes of an incomplete character or escape sequence at the end. */
export function countBegunBytes(tail: Buffer): number {
  const sequence = begunEscape.exec(tail.toString('latin1'))
  return sequence ? tail.length - sequence.index : begunCharacter(tail)
}

function begunCharacter(tail: Buffer): number {
  for (let back = 1; back <= Math.min(3, tail.length); back++) {
    const byte = tail[tail.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const length =
      byte >= 0xc2 && byte <= 0xdf ? 2 : byte >= 0xe0 && byte <= 0xef ? 3 : byte >= 0xf0 && byte <= 0xf4 ? 4 : 1
    return length > back ? back : 0
  }
  return 0
}
