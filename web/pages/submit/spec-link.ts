import { decodeBase64Url } from '../../app/base64-url.ts'

/** Reads the spec in the fragment of a URL. */

const prefix = '#spec='

function decodeText(text: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(decodeBase64Url(text))
  } catch {
    return null
  }
}

/** The text of a fragment: base64url or percent-encoded. null: the fragment has no spec that can be read. */
export function readSpecHash(hash: string): string | null {
  if (!hash.startsWith(prefix)) return null
  const text = hash.slice(prefix.length)
  const decoded = /^[\w-]+$/.test(text) ? decodeText(text) : null
  if (decoded !== null) return decoded
  try {
    return decodeURIComponent(text)
  } catch {
    // The router may have decoded it before.
    return text.startsWith('{') ? text : null
  }
}

export const hasSpecHash = (hash: string): boolean => hash.startsWith(prefix)
