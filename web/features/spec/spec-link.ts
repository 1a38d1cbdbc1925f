import type { JobSpecInput } from '../../generated/graphql.ts'
import { decodeBase64Url } from '../../ground/base64-url.ts'

const name = 'spec='

/** Makes a link to the submit form with a spec in the fragment, which browsers do not send to servers. */
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

/** Reads the spec from a fragment, base64url or percent-encoded; null: the fragment has no readable spec. */
export function readSpecHash(hash: string): string | null {
  if (!hasSpecHash(hash)) return null
  const text = hash.slice(`#${name}`.length)
  const decoded = /^[\w-]+$/.test(text) ? decodeText(text) : null
  if (decoded !== null) return decoded
  try {
    return decodeURIComponent(text)
  } catch {
    // The router may have decoded the fragment already.
    return text.startsWith('{') ? text : null
  }
}

export const hasSpecHash = (hash: string): boolean => hash.startsWith(`#${name}`)
