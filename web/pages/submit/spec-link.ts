/** Reads the spec in the fragment of a URL. */

const prefix = '#spec='

function decodeBase64Url(text: string): string | null {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(binary, (each) => each.charCodeAt(0)))
  } catch {
    return null
  }
}

/** The text of a fragment: base64url or percent-encoded. null: the fragment has no spec that can be read. */
export function readSpecHash(hash: string): string | null {
  if (!hash.startsWith(prefix)) return null
  const text = hash.slice(prefix.length)
  const decoded = /^[\w-]+$/.test(text) ? decodeBase64Url(text) : null
  if (decoded !== null) return decoded
  try {
    return decodeURIComponent(text)
  } catch {
    // The router may have decoded it before.
    return text.startsWith('{') ? text : null
  }
}

export const hasSpecHash = (hash: string): boolean => hash.startsWith(prefix)
