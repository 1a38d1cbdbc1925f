import { randomUUID } from 'node:crypto'

/**
 * The text of a log in a message of a WebSocket. As a string it would be decoded, escaped and encoded, which costs more
 * than all else that is done for a byte of output. So the result of an event has a marker instead of the text, and the
 * connection that sends the message replaces the marker by the escaped bytes.
 */
export interface LogTexts {
  /** Keeps a text, and answers the marker that stands for it in the result of this event. */
  markerOf(utf8: Buffer): string
  readonly byMarker: ReadonlyMap<string, Buffer>
}

export function createLogTexts(): LogTexts {
  const byMarker = new Map<string, Buffer>()
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

/** The message with its texts, which are removed from `waiting`: further ones are of other messages. */
export function withTexts(message: string, waiting: Map<string, Buffer>): string | Buffer {
  const parts: Buffer[] = []
  let at = 0
  for (const [marker, utf8] of waiting) {
    const place = message.indexOf(marker, at)
    if (place < 0) continue
    parts.push(Buffer.from(message.slice(at, place)), escaped(utf8))
    at = place + marker.length
    waiting.delete(marker)
  }
  return at === 0 ? message : Buffer.concat([...parts, Buffer.from(message.slice(at))])
}

const known = new WeakMap<Buffer, Buffer>()

/** Escaped once for all readers that get the same batch. */
function escaped(utf8: Buffer): Buffer {
  const made = known.get(utf8) ?? escapeJson(utf8)
  known.set(utf8, made)
  return made
}

const quote = 0x22
const backslash = 0x5c
/** Of a control character, such as \u001b. */
const escapeBytesMax = 6
const hexDigits = Buffer.from('0123456789abcdef')
/** The letter after the backslash; 0: the byte has none. */
const letters = new Uint8Array(256)
for (const [index, letter] of [...'btn-fr'].entries()) if (letter !== '-') letters[8 + index] = letter.charCodeAt(0)
letters[quote] = quote
letters[backslash] = backslash

let scratch = Buffer.alloc(0)

/** What JSON.stringify would write between the quotes. Four bytes at a time, as most need no escape. */
export function escapeJson(utf8: Buffer): Buffer {
  if (scratch.length < utf8.length * escapeBytesMax) scratch = Buffer.allocUnsafeSlow(utf8.length * escapeBytesMax)
  const from = new DataView(utf8.buffer, utf8.byteOffset, utf8.length)
  const to = new DataView(scratch.buffer)
  let end = 0
  let at = 0
  while (at < utf8.length) {
    const whole = at + 4 <= utf8.length
    const four = whole ? from.getInt32(at) : 0
    if (whole && !mayNeedEscape(four)) {
      to.setInt32(end, four)
      end += 4
      at += 4
      continue
    }
    for (const stop = Math.min(at + 4, utf8.length); at < stop; at++) end = put(utf8[at] ?? 0, end)
  }
  return Buffer.from(scratch.subarray(0, end))
}

/** Whether one of four bytes is below 0x20, a quote or a backslash; true for some others as well. */
function mayNeedEscape(four: number): boolean {
  const quotes = four ^ 0x22222222
  const backslashes = four ^ 0x5c5c5c5c
  const found =
    ((four - 0x20202020) & ~four) | ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes)
  return (found & 0x80808080) !== 0
}

function put(byte: number, end: number): number {
  const letter = letters[byte] ?? 0
  if (letter === 0 && byte >= 0x20) {
    scratch[end] = byte
    return end + 1
  }
  scratch[end] = backslash
  if (letter === 0) return putHex(byte, end + 1)
  scratch[end + 1] = letter
  return end + 2
}

function putHex(byte: number, end: number): number {
  scratch.write('u00', end, 'latin1')
  scratch[end + 3] = hexDigits[byte >> 4] ?? 0
  scratch[end + 4] = hexDigits[byte & 15] ?? 0
  return end + 5
}
