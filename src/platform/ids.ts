import { randomFillSync } from 'node:crypto'

/**
 * Typed ids: `<prefix>_` and 26 characters of Crockford's base 32 over a UUIDv7. They sort by creation, show their kind
 * to a reader, and are safe in URLs, file names and shell words.
 */

export type TypedId<Prefix extends string> = `${Prefix}_${string}`

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const randomBytesMax = 10 * 256
const random = Buffer.alloc(randomBytesMax)
let randomUsed = randomBytesMax

export function typedId<Prefix extends string>(prefix: Prefix, nowMs: number): TypedId<Prefix> {
  if (randomUsed >= randomBytesMax) {
    randomFillSync(random)
    randomUsed = 0
  }
  const hex = random.toString('hex', randomUsed, randomUsed + 10)
  randomUsed += 10
  // RFC 9562: 48 bits of milliseconds, version 7, 12 random bits, variant 10, 62 random bits.
  const time = BigInt(Math.trunc(nowMs)) << 80n
  const bits = BigInt(`0x${hex}`)
  const value = time | (7n << 76n) | (((bits >> 62n) & 0xfffn) << 64n) | (2n << 62n) | (bits & 0x3fffffffffffffffn)
  return `${prefix}_${base32(value)}`
}

function base32(value: bigint): string {
  let text = ''
  for (let shift = 125n; shift >= 0n; shift -= 5n) text += alphabet[Number((value >> shift) & 31n)]
  return text
}
