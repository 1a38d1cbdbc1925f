import { randomUUID } from 'node:crypto'
import type { Utf8 } from '../../logs/batch.ts'

/**
 * The text of a log in a message of a WebSocket. As a string it would be decoded, escaped and encoded, which costs more
 * than all else that is done for a byte of output. So the result of an event has a marker instead of the text, and the
 * connection that sends the message replaces the marker by the escaped bytes.
 */
export interface LogTexts {
  /** Keeps a text, and answers the marker that stands for it in the result of this event. */
  markerOf(utf8: Utf8): string
  readonly byMarker: ReadonlyMap<string, Utf8>
}

export function createLogTexts(): LogTexts {
  const byMarker = new Map<string, Utf8>()
  return {
    byMarker,
    markerOf(utf8) {
      // Random, so that no job can write it.
      const marker = randomUUID()
      byMarker.set(marker, utf8)
      return marker
    },
  }
}

/** JSON shows no symbols, and copies of the result keep them. */
const key = Symbol('log texts')

export const keepTexts = <Result extends object>(result: Result, { byMarker }: LogTexts): Result =>
  byMarker.size === 0 ? result : { ...result, [key]: byMarker }

export const textsOf = (result: object): LogTexts['byMarker'] =>
  (result as { [key]?: LogTexts['byMarker'] })[key] ?? new Map()

/** A message, and the function to call when its bytes have left or will not. */
export interface Message {
  data: string | Buffer
  sent: () => void
}

/**
 * The message with its texts, which are removed from `waiting`: further ones are of other messages. It is put together
 * in a buffer that stays. A small message is copied out of it; a large one is sent as it lies there, and the next one gets
 * another buffer until it was sent. New buffers for all messages would keep the garbage collector busy: V8 collects after
 * 64 MiB of them.
 */
export function withTexts(message: string, waiting: Map<string, Utf8>): Message {
  let at = 0
  let end = 0
  const texts: Placed[] = []
  for (const [marker, utf8] of waiting) {
    const place = message.indexOf(marker, at)
    if (place < 0) continue
    const from = putText(message.slice(at, place), end)
    end = putEscaped(utf8, from)
    texts.push({ utf8, from, to: end })
    at = place + marker.length
    waiting.delete(marker)
  }
  if (at === 0) return { data: message, sent: nothing }
  end = putText(message.slice(at), end)
  const isSmall = end < handedOverBytesMin
  const data = isSmall ? Buffer.from(scratch.subarray(0, end)) : scratch.subarray(0, end)
  for (const { utf8, from, to } of texts) escapedBefore.set(utf8, data.subarray(from, to))
  return { data, sent: isSmall ? nothing : handOver(texts) }
}

interface Placed {
  utf8: Utf8
  from: number
  to: number
}

const nothing = () => undefined
const handedOverBytesMin = 65_536

/** Texts are escaped once for all readers that get the same batch. */
const escapedBefore = new WeakMap<Utf8, Buffer>()

/** The buffer in which the next message is put together. */
let scratch = Buffer.alloc(0)

/** Buffers of messages that were sent. The newest is not used again yet: other readers may get the texts in it. */
const resting: { buffer: typeof scratch; texts: readonly Placed[] }[] = []
const restingMax = 4
/** Larger ones are left to the garbage collector. */
const restingBytesMax = 1_048_576

/** The message is sent as it lies in the scratch. Answers what puts its buffer to rest. */
function handOver(texts: readonly Placed[]): () => void {
  let rest: (typeof resting)[number] | null = { buffer: scratch, texts }
  const next = resting.length > 1 ? resting.shift() : undefined
  for (const { utf8 } of next?.texts ?? []) escapedBefore.delete(utf8)
  scratch = next?.buffer ?? Buffer.alloc(0)
  return () => {
    if (rest && rest.buffer.length <= restingBytesMax && resting.length < restingMax) resting.push(rest)
    rest = null
  }
}

function putEscaped(utf8: Utf8, start: number): number {
  const known = escapedBefore.get(utf8)
  if (!known) return utf8.reduce((end, part) => escapeJson(part, end), start)
  makeRoom(start, known.length)
  scratch.set(known, start)
  return start + known.length
}

/** Room in the scratch for so many bytes after `end`; those before stay. It grows by half at least. */
function makeRoom(end: number, bytes: number): void {
  if (scratch.length - end >= bytes) return
  const larger = Buffer.allocUnsafeSlow(Math.max(end + bytes, Math.ceil(scratch.length * 1.5)))
  larger.set(scratch.subarray(0, end))
  scratch = larger
}

const utf8BytesMax = 3

/** Puts a text into the scratch at `end`; answers the new end. */
function putText(text: string, end: number): number {
  makeRoom(end, text.length * utf8BytesMax)
  return end + scratch.write(text, end)
}

/** Of a control character, such as \u001b. */
const escapeBytesMax = 6

/** Bytes that are escaped at once, in the room for the worst of them. */
const blockBytes = 16_384
/** So many bytes without a look at the end of the block: in steps of 4 it takes 1.7 times as long. */
const stepBytes = 16

/** Puts there what JSON.stringify would write between the quotes; answers the new end. */
function escapeJson(utf8: Buffer, start: number): number {
  makeRoom(start, utf8.length + Math.min(utf8.length, blockBytes) * escapeBytesMax)
  let end = start
  for (let at = 0; at < utf8.length; at += blockBytes) end = escapeBlock(utf8.subarray(at, at + blockBytes), end)
  return end
}

/** Four bytes at a time, up to the first one that needs an escape: most need none. */
function escapeBlock(utf8: Buffer, start: number): number {
  makeRoom(start, utf8.length * escapeBytesMax)
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
      marks = marksOf(four)
      if (marks !== 0) break
    }
    if (marks !== 0) plain += plainBytes(marks)
    at += plain
    end += plain
    if (marks !== 0) end = putEscape(bytes, utf8[at++] ?? 0, end)
  }
  for (; at < utf8.length; at++) end = put(bytes, utf8[at] ?? 0, end)
  return end
}

/**
 * The first mark is at the first byte below 0x20, quote or backslash of four bytes; those after it may be wrong. With its
 * second bit turned a quote is 0x20, what is below stays below, and all else is above.
 */
function marksOf(four: number): number {
  const turned = four ^ 0x02020202
  const backslashes = four ^ 0x5c5c5c5c
  return (((turned - 0x21212121) & ~turned) | ((backslashes - 0x01010101) & ~backslashes)) & 0x80808080
}

/** How many of the four bytes come before the first mark. */
const plainBytes = (marks: number): number => (31 - Math.clz32(marks & -marks)) >> 3

const backslash = 0x5c
/** The u of \u001b, and its zeros. */
const hexPrefix = 0x75
const zero = 0x30
const hexDigits = Buffer.from('0123456789abcdef')
/** The letter after the backslash; 0: there is none. */
const letters = new Uint8Array(256)
for (const [index, letter] of [...'btn-fr'].entries()) if (letter !== '-') letters[8 + index] = letter.charCodeAt(0)
for (const itself of [0x22, backslash]) letters[itself] = itself

function put(bytes: Buffer, byte: number, end: number): number {
  if (byte < 0x20 || letters[byte] !== 0) return putEscape(bytes, byte, end)
  bytes[end] = byte
  return end + 1
}

function putEscape(bytes: Buffer, byte: number, end: number): number {
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
