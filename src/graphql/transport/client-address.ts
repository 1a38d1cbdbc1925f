import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** Finds the address of the client of a request: for the audit log, and for the limits of callers without log-in. */
export type FindAddress = (request: IncomingMessage) => string | null

/**
 * Reads `X-Forwarded-For` only from trusted proxies, from the right: a proxy appends the address of its peer, and what is
 * left of it comes from the client, which may write anything.
 */
export function createFindAddress(trustedProxies: readonly string[]): FindAddress {
  const trusted = new BlockList()
  for (const each of trustedProxies) {
    const [address = '', bits] = each.split('/')
    const family = familyOf(address)
    if (bits === undefined) trusted.addAddress(address, family)
    else trusted.addSubnet(address, Number(bits), family)
  }
  const isTrusted = (address: string) => isIP(address) !== 0 && trusted.check(address, familyOf(address))
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

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
