import { joinBytes } from './chunk.ts'

/**
 * Replaces the values of secrets in output. A value may be split over chunks: an end of the output that may begin a
 * value is held back until more output arrives. The result does not depend on how the output is split into chunks.
 */

const mask = Buffer.from('••••••')
/** Shorter values occur by chance: masking them would hide other text, and reveal the value. */
const charactersMin = 8

/** The output that is held back. */
export interface HeldOutput {
  readonly bytes: Buffer
  /** Number of bytes at the start of the held output that belong to a value whose mask was already written. */
  readonly covered: number
  /** Whether the output already ends with the mask of the covered bytes, so that no second mask is written. */
  readonly isAfterMask: boolean
}

export const noHeldOutput: HeldOutput = { bytes: Buffer.alloc(0), covered: 0, isAfterMask: false }

export interface Redacted {
  bytes: Uint8Array
  held: HeldOutput
}

export interface Redactor {
  redact(held: HeldOutput, bytes: Uint8Array): Redacted
  /** Returns the held output, when no output follows. */
  end(held: HeldOutput): Uint8Array
}

/** Masks the values, and each line of a value. */
export function createRedactor(values: readonly string[]): Redactor {
  const texts = values.flatMap((value) => [value, ...value.split('\n').map((line) => line.trim())])
  const patterns = [...new Set(texts)].filter((text) => [...text].length >= charactersMin).map(toPattern)
  // Longer patterns come first, because the bytes that they cover need not be searched again.
  patterns.sort((a, b) => b.bytes.length - a.bytes.length)
  return {
    redact(held, bytes) {
      const data = held.bytes.length === 0 ? toBuffer(bytes) : Buffer.concat([held.bytes, bytes])
      const open = Math.max(0, ...patterns.map((pattern) => countOpenBytes(pattern, data)))
      return cut(data, held, data.length - open, patterns)
    },
    end: (held) => cut(held.bytes, held, held.bytes.length, patterns).bytes,
  }
}

interface Pattern {
  bytes: Buffer
  /** For each length of a match: the longest shorter match that ends at the same byte. */
  shorter: Uint32Array
}

function toPattern(text: string): Pattern {
  const bytes = Buffer.from(text)
  const shorter = new Uint32Array(bytes.length + 1)
  for (let end = 1; end < bytes.length; end++)
    shorter[end + 1] = extend({ bytes, shorter }, shorter[end] ?? 0, bytes[end])
  return { bytes, shorter }
}

/** Returns the length of the match after the next byte. */
function extend({ bytes, shorter }: Pattern, matched: number, next: number | undefined): number {
  let length = matched
  while (length > 0 && bytes[length] !== next) length = shorter[length] ?? 0
  return bytes[length] === next ? length + 1 : 0
}

/** Counts the bytes at the end of the data that may be the beginning of a match. */
function countOpenBytes(pattern: Pattern, data: Buffer): number {
  let open = 0
  for (let at = Math.max(0, data.length - pattern.bytes.length + 1); at < data.length; at++)
    open = extend(pattern, open, data[at])
  return open
}

/** Returns the bytes before `until`, with one mask for adjacent bytes of values. */
function cut(data: Buffer, held: HeldOutput, until: number, patterns: readonly Pattern[]): Redacted {
  const covered = findCovered(data, held.covered, patterns)
  const parts: Buffer[] = []
  let { isAfterMask } = held
  for (let at = 0; at < until; ) {
    const isMasked = covered[at] === 1
    const end = findEnd(covered, at, until)
    if (!isMasked) parts.push(data.subarray(at, end))
    else if (!isAfterMask) parts.push(mask)
    isAfterMask = isMasked
    at = end
  }
  const rest = { bytes: Buffer.from(data.subarray(until)), isAfterMask }
  const coveredRest = isAfterMask && covered[until] === 1 ? findEnd(covered, until, data.length) - until : 0
  return {
    bytes: joinBytes(parts),
    held: { ...rest, covered: coveredRest },
  }
}

/** Returns the end of the equal bytes that begin at `at`. */
function findEnd(covered: Buffer, at: number, until: number): number {
  const end = covered.indexOf(covered[at] === 1 ? 0 : 1, at)
  return end < 0 ? until : Math.min(end, until)
}

/** Returns an array with a 1 for each byte of the data that belongs to a value. */
function findCovered(data: Buffer, known: number, patterns: readonly Pattern[]): Buffer {
  const covered = Buffer.alloc(data.length).fill(1, 0, known)
  for (const { bytes } of patterns) {
    let end = 0
    for (let from = data.indexOf(bytes); from >= 0; ) {
      const plain = covered.indexOf(0, Math.max(from, end))
      end = from + bytes.length
      // The next match that covers more bytes reaches the next uncovered byte.
      if (plain < 0) break
      if (plain < end) covered.fill(1, plain, end)
      from = data.indexOf(bytes, Math.max(from, plain - bytes.length) + 1)
    }
  }
  return covered
}

const toBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength)
