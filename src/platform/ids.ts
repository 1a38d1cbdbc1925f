import { randomFillSync } from 'node:crypto'

/**
 * Typed ids: `<prefix>_` and 26 characters of Crockford's base 32 over a UUIDv7, safe in URLs, file names and shell
 * words. The ids of a process sort in the order of their creation, so indexes grow at their end.
 */

export type TypedId<Prefix extends string> = `${Prefix}_${string}`

/** Crockford's base 32 has no i, l, o, u. */
export const idAlphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const randomBytesPerId = 8
const randomBytesMax = randomBytesPerId * 256
const uuid = Buffer.alloc(16)
const random = Buffer.alloc(randomBytesMax)
let randomUsed = randomBytesMax
/** Milliseconds of the newest id, and the number of ids in that millisecond. */
let newestMs = 0
let count = 0
const countBits = 12
/** A clock that is further behind the newest id was set; below that, ids reuse the newest millisecond. */
const behindMsMax = 1_000

export function makeTypedId<Prefix extends string>(prefix: Prefix, nowMs: number): TypedId<Prefix> {
  if (randomUsed >= randomBytesMax) {
    randomFillSync(random)
    randomUsed = 0
  }
  advance(Math.trunc(nowMs))
  // RFC 9562: 48 bits of milliseconds, version 7, a count of 12 bits, variant 10, 62 random bits.
  uuid.writeUIntBE(newestMs, 0, 6)
  uuid.writeUInt16BE(0x7000 | count, 6)
  random.copy(uuid, 8, randomUsed, randomUsed + randomBytesPerId)
  randomUsed += randomBytesPerId
  uuid[8] = 0x80 | (uuid.readUInt8(8) & 0x3f)
  return `${prefix}_${base32(uuid)}`
}

function advance(nowMs: number): void {
  const isNext = nowMs <= newestMs && newestMs - nowMs < behindMsMax
  count = isNext ? (count + 1) % 2 ** countBits : 0
  if (!isNext) newestMs = nowMs
  else if (count === 0) newestMs += 1
}

/** Encodes 26 characters of 5 bits; the first two bits are 0. */
function base32(bytes: Uint8Array): string {
  let text = ''
  let rest = 0
  let bits = 2
  for (const byte of bytes) {
    rest = (rest << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += idAlphabet[(rest >> (bits - 5)) & 31]
    rest &= 31
  }
  return text
}
