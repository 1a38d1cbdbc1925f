import type { JobSpecInput } from '../../generated/graphql.ts'
import { decodeBase64Url } from '../../ground/base64-url.ts'

const name = 'spec='

/** Opens the form with a spec. It is in the fragment, which a browser sends to no server. */
export const linkToSubmit = (spec: JobSpecInput, from?: string) => ({
  to: '/jobs/new' as const,
  search: { from },
  hash: `${name}${encodeURIComponent(JSON.stringify(spec))}`,
})

function decodeText(text: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(decodeBase64Url(text))
  } catch {
    return null
  }
}

/** The text of a fragment: base64url or percent-encoded. null: the fragment has no spec that can be read. */
export function readSpecHash(hash: string): string | null {
  if (!hasSpecHash(hash)) return null
  const text = hash.slice(`#${name}`.length)
  const decoded = /^[\w-]+$/.test(text) ? decodeText(text) : null
  if (decoded !== null) return decoded
  try {
    return decodeURIComponent(text)
  } catch {
    // The router may have decoded it before.
    return text.startsWith('{') ? text : null
  }
}

export const hasSpecHash = (hash: string): boolean => hash.startsWith(`#${name}`)
