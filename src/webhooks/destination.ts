import { lookup as lookUp } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { createNetworks } from '../platform/networks.ts'

/**
 * Checks the addresses to which a webhook connects. `http:` is allowed only to loopback and private addresses. The
 * connection uses the checked result of the DNS look-up, so the name cannot resolve to another address afterwards.
 */

export const isPrivateAddress = createNetworks([
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1',
  'fc00::/7',
])

export class DestinationRefused extends Error {
  override name = 'DestinationRefused'
  constructor(address: string) {
    super(`http: is allowed only to private addresses, and ${address} is not private; use https:`)
  }
}

/** Checks an IP address in the URL itself, which is never looked up. */
export function checkLiteralAddress({ protocol, hostname }: URL): void {
  const address = hostname.replace(/^\[|\]$/g, '')
  if (protocol === 'http:' && isIP(address) !== 0 && !isPrivateAddress(address)) throw new DestinationRefused(address)
}

/** A DNS look-up that fails if the name has an address that is not private. */
export const lookUpPrivate: LookupFunction = (hostname, options, callback) =>
  lookUp(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0)
    const other = addresses.find(({ address }) => !isPrivateAddress(address))
    if (other) return callback(new DestinationRefused(other.address), '', 0)
    const [first] = addresses
    if (options.all) return callback(null, addresses)
    return callback(null, first?.address ?? '', first?.family ?? 0)
  })
