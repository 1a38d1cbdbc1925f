import { randomUUID } from 'node:crypto'
import type { Utf8 } from '../../logs/batch.ts'

/**
 * Log text in WebSocket messages. Decoding and encoding it as a string costs more than all other work per byte of output, so
 * the result of an event contains a marker, which the connection replaces with escaped bytes.
 */
export class LogTexts {
  readonly byMarker = new Map<string, Utf8>()

  /** Stores a text and returns its marker, which is random, so that no job can print it. */
  addText(utf8: Utf8): string {
    const marker = randomUUID()
    this.byMarker.set(marker, utf8)
    return marker
  }
}

/** A symbol, because copies of the result keep it, and JSON omits it. */
const key = Symbol('log texts')

export const attachLogTexts = <Result extends object>(result: Result, { byMarker }: LogTexts): Result =>
  byMarker.size === 0 ? result : { ...result, [key]: byMarker }

export const readLogTexts = (result: object): ReadonlyMap<string, Utf8> =>
  (result as { [key]?: ReadonlyMap<string, Utf8> })[key] ?? new Map()

/** A message to send. Call `sent` once the bytes are sent or dropped. */
export interface Message {
  data: string | Buffer
  sent: () => void
}

/**
 * Replaces the markers in a message with their texts and removes these texts from `waiting`. A scratch buffer holds the
 * result: small messages are copied out of it, large ones are sent from it while the next message uses another buffer. New
 * buffers per message would trigger a garbage collection every 64 MiB.
 */
export function insertLogTexts(message: string, waiting: Map<string, Utf8>): Message {
  let at = 0
  let end = 0
  const texts: Placed[] = []
  for (const [marker, utf8] of waiting) {
    const place = message.indexOf(marker, at)
    if (place < 0) continue
    const from = writeText(message.slice(at, place), end)
    end = writeEscaped(utf8, from)
    texts.push({ utf8, from, to: end })
    at = place + marker.length
    waiting.delete(marker)
  }
  if (at === 0) return { data: message, sent: noop }
  end = writeText(message.slice(at), end)
  const isSmall = end < lentBytesMin
  const data = isSmall ? Buffer.from(scratch.subarray(0, end)) : scratch.subarray(0, end)
  for (const { utf8, from, to } of texts) escapedTexts.set(utf8, data.subarray(from, to))
  return { data, sent: isSmall ? noop : lendScratch(texts) }
}

interface Placed {
  utf8: Utf8
  from: number
  to: number
}

const noop = () => undefined
const lentBytesMin = 65_536

/** Escaped texts, shared by all readers of a batch. */
const escapedTexts = new WeakMap<Utf8, Buffer>()

let scratch = Buffer.alloc(0)

/** Reusable buffers of sent messages. The newest is not reused yet, because other readers may still need its texts. */
const spares: { buffer: typeof scratch; texts: readonly Placed[] }[] = []
const sparesMax = 4
const spareBytesMax = 1_048_576

/** Returns the function that makes the sent buffer reusable. */
function lendScratch(texts: readonly Placed[]): () => void {
  let rest: (typeof spares)[number] | null = { buffer: scratch, texts }
  const next = spares.length > 1 ? spares.shift() : undefined
  for (const { utf8 } of next?.texts ?? []) escapedTexts.delete(utf8)
  scratch = next?.buffer ?? Buffer.alloc(0)
  return () => {
    if (rest && rest.buffer.length <= spareBytesMax && spares.length < sparesMax) spares.push(rest)
    rest = null
  }
}

function writeEscaped(utf8: Utf8, start: number): number {
  const known = escapedTexts.get(utf8)
  if (!known) return utf8.reduce((end, part) => escapeJson(part, end), start)
  reserve(start, known.length)
  scratch.set(known, start)
  return start + known.length
}

/** Grows the scratch buffer, by half at least, to fit `bytes` after `end`. */
function reserve(end: number, bytes: number): void {
  if (scratch.length - end >= bytes) return
  const larger = Buffer.allocUnsafeSlow(Math.max(end + bytes, Math.ceil(scratch.length * 1.5)))
  larger.set(scratch.subarray(0, end))
  scratch = larger
}

const utf8BytesMax = 3

/** Writes a text to the scratch buffer at `end`; returns the new end. */
function writeText(text: string, end: number): number {
  reserve(end, text.length * utf8BytesMax)
  return end + scratch.write(text, end)
}

/** Length of the escape \u001b, the longest one. */
const escapeBytesMax = 6

/** Bytes escaped per block; the buffer reserves their worst case. */
const blockBytes = 16_384
/** Bytes between checks for the end of the block; with 4 escaping takes 1.7 times as long. */
const stepBytes = 16

/** Writes the text as JSON.stringify does between the quotes; returns the new end. */
function escapeJson(utf8: Buffer, start: number): number {
  reserve(start, utf8.length + Math.min(utf8.length, blockBytes) * escapeBytesMax)
  let end = start
  for (let at = 0; at < utf8.length; at += blockBytes) end = escapeBlock(utf8.subarray(at, at + blockBytes), end)
  return end
}

/** Copies four bytes at a time up to the first one that needs an escape; most need no escape. */
function escapeBlock(utf8: Buffer, start: number): number {
  reserve(start, utf8.length * escapeBytesMax)
  const bytes = scratch
  const to = new DataView(bytes.buffer, bytes.byteOffset)
  const from = new DataView(utf8.buffer, utf8.byteOffset, utf8.length)
  let end = start
  let at = 0
  while (at + stepBytes <= utf8.length) {
    let marks = 0
    let plain = 0
    for (; plain < stepBytes; plain += 4) {
      const four = from.getInt32(at + plain, true)
      to.setInt32(end + plain, four, true)
      marks = markSpecials(four)
      if (marks !== 0) break
    }
    if (marks !== 0) plain += countPlain(marks)
    at += plain
    end += plain
    if (marks !== 0) end = writeEscape(bytes, utf8[at++] ?? 0, end)
  }
  for (; at < utf8.length; at++) end = writeByte(bytes, utf8[at] ?? 0, end)
  return end
}

/**
 * Marks the first of four bytes that is below 0x20, a quote or a backslash; later marks may be wrong. Flipping the second
 * bit turns a quote into 0x20 and moves no other byte across that bound.
 */
function markSpecials(four: number): number {
  const turned = four ^ 0x02020202
  const backslashes = four ^ 0x5c5c5c5c
  return (((turned - 0x21212121) & ~turned) | ((backslashes - 0x01010101) & ~backslashes)) & 0x80808080
}

const countPlain = (marks: number): number => (31 - Math.clz32(marks & -marks)) >> 3

const backslash = 0x5c
/** The u and the zeros of \u001b. */
const hexPrefix = 0x75
const zero = 0x30
const hexDigits = Buffer.from('0123456789abcdef')
/** The letter after the backslash for each byte; 0: the byte has no short escape. */
const letters = new Uint8Array(256)
for (const [index, letter] of [...'btn-fr'].entries()) if (letter !== '-') letters[8 + index] = letter.charCodeAt(0)
for (const itself of [0x22, backslash]) letters[itself] = itself

function writeByte(bytes: Buffer, byte: number, end: number): number {
  if (byte < 0x20 || letters[byte] !== 0) return writeEscape(bytes, byte, end)
  bytes[end] = byte
  return end + 1
}

function writeEscape(bytes: Buffer, byte: number, end: number): number {
  const letter = letters[byte] ?? 0
  bytes[end] = backslash
  bytes[end + 1] = letter || hexPrefix
  if (letter !== 0) return end + 2
  bytes[end + 2] = zero
  bytes[end + 3] = zero
  bytes[end + 4] = hexDigits[byte >> 4] ?? 0
  bytes[end + 5] = hexDigits[byte & 15] ?? 0
  return end + 6
}
