import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

/**
 * Encrypts the values of secrets with AES-256-GCM. The first key encrypts; the others only decrypt values encrypted
 * before a rotation. The context (the owner and the name, or the run) is authenticated, so a value that is copied to
 * another row does not decrypt.
 */

const ivBytes = 12
const tagBytes = 16

interface SecretKey {
  readonly id: string
  readonly key: KeyObject
}

export type SecretKeys = readonly [SecretKey, ...SecretKey[]]

export interface Sealed {
  keyId: string
  data: Uint8Array
}

/** Thrown if the server has no key for a stored value, or if the value was altered. */
export class Unreadable extends Error {
  override name = 'Unreadable'
}

export const createSecretKeys = ([current, ...old]: readonly [Uint8Array, ...Uint8Array[]]): SecretKeys => [
  toSecretKey(current),
  ...old.map(toSecretKey),
]

/** Derives an id from the key that does not reveal the key. */
const toSecretKey = (bytes: Uint8Array): SecretKey => ({
  id: createHmac('sha256', bytes).update('berth secret key').digest('hex').slice(0, 16),
  key: createSecretKey(bytes),
})

export function getSecretKeys({ secretKeys }: { readonly secretKeys?: SecretKeys }): SecretKeys {
  if (secretKeys) return secretKeys
  throw new Error('This process has no key for secrets')
}

export function seal([{ id, key }]: SecretKeys, context: string, value: string): Sealed {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context))
  const encrypted = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
  return { keyId: id, data: Uint8Array.from(Buffer.concat([iv, cipher.getAuthTag(), encrypted])) }
}

export function unseal(keys: SecretKeys, context: string, { keyId, data }: Sealed): string {
  const known = keys.find(({ id }) => id === keyId)
  if (!known) throw new Unreadable(`This server does not have the key ${keyId}`)
  const decipher = createDecipheriv('aes-256-gcm', known.key, data.subarray(0, ivBytes))
    .setAAD(Buffer.from(context))
    .setAuthTag(data.subarray(ivBytes, ivBytes + tagBytes))
  try {
    return Buffer.concat([decipher.update(data.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8')
  } catch (error) {
    throw new Unreadable('Cannot decrypt the stored secret: it was altered or belongs elsewhere', { cause: error })
  }
}
