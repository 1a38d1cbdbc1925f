import { randomFillSync } from 'node:crypto'

/**
 * Typed ids: `<prefix>_` and 26 characters of Crockford's base 32 over a UUIDv7, so they sort by creation, tell their
 * kind to a reader, and are safe in URLs, file names and shell words.
 */
export type IdPrefix =
  | 'job'
  | 'run'
  | 'user'
  | 'node'
  | 'team'
  | 'token'
  | 'slot'
  | 'quota'
  | 'rule'
  | 'approval'
  | 'question'
  | 'audit'
  | 'reservation'
export type Id<P extends IdPrefix> = `${P}_${string}`
export type JobId = Id<'job'>
export type RunId = Id<'run'>

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const poolBytes = 10 * 256
const randomPool = Buffer.alloc(poolBytes)
let randomUsed = poolBytes

export function newId<P extends IdPrefix>(prefix: P, nowMs: number): Id<P> {
  if (randomUsed >= poolBytes) {
    randomFillSync(randomPool)
    randomUsed = 0
  }
  const hex = randomPool.toString('hex', randomUsed, randomUsed + 10)
  randomUsed += 10
  // RFC 9562: 48 bits of milliseconds, version 7, 12 random bits, variant 10, 62 random bits.
  const time = BigInt(Math.trunc(nowMs)) << 80n
  const random = BigInt(`0x${hex}`)
  const value = time | (7n << 76n) | (((random >> 62n) & 0xfffn) << 64n) | (2n << 62n) | (random & 0x3fffffffffffffffn)
  return `${prefix}_${base32(value)}`
}

function base32(value: bigint): string {
  let text = ''
  for (let shift = 125n; shift >= 0n; shift -= 5n) text += alphabet[Number((value >> shift) & 31n)]
  return text
}
