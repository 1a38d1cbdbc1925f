import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { createNetworks } from '../../platform/networks.ts'

/** Finds the address of a client, for the audit log and for the limits of callers without a log-in. */
export type FindAddress = (request: IncomingMessage) => string | null

/**
 * Reads `X-Forwarded-For` only from trusted proxies, and from the right: a proxy appends the address of its peer, but the
 * client may have written the addresses to the left.
 */
export function createAddressFinder(trustedProxies: readonly string[]): FindAddress {
  const isTrusted = createNetworks(trustedProxies)
  return ({ socket, headers }) => {
    let found = socket.remoteAddress ?? null
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
    while (found !== null && isTrusted(found) && forwarded.length > 0) {
      const before = (forwarded.pop() ?? '').trim()
      if (isIP(before) === 0) break
      found = before
    }
    return found
  }
}
