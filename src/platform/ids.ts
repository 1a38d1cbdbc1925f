import { randomFillSync } from 'node:crypto'

/**
 * Typed ids: `<prefix>_` and 26 characters of Crockford's base 32 over a UUIDv7. They sort by creation, show their kind
 * to a reader, and are safe in URLs, file names and shell words.
 */

export type TypedId<Prefix extends string> = `${Prefix}_${string}`

/** Of Crockford's base 32: no i, l, o, u. */
export const idAlphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const randomBytesPerId = 10
const randomBytesMax = randomBytesPerId * 256
const uuid = Buffer.alloc(16)
const random = Buffer.alloc(randomBytesMax)
let randomUsed = randomBytesMax

export function typedId<Prefix extends string>(prefix: Prefix, nowMs: number): TypedId<Prefix> {
  if (randomUsed >= randomBytesMax) {
    randomFillSync(random)
    randomUsed = 0
  }
  // RFC 9562: 48 bits of milliseconds, version 7, 12 random bits, variant 10, 62 random bits.
  uuid.writeUIntBE(Math.trunc(nowMs), 0, 6)
  random.copy(uuid, 6, randomUsed, randomUsed + randomBytesPerId)
  randomUsed += randomBytesPerId
  uuid[6] = 0x70 | (uuid.readUInt8(6) & 0x0f)
  uuid[8] = 0x80 | (uuid.readUInt8(8) & 0x3f)
  return `${prefix}_${base32(uuid)}`
}

/** 26 characters of 5 bits; the first two bits are 0. */
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
