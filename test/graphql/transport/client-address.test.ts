import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createFindAddress } from '../../../src/graphql/transport/client-address.ts'

const request = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage

describe('the address of a client', () => {
  const find = createFindAddress(['10.0.0.0/8', '127.0.0.1', 'fd00::/8'])

  it.each([
    ['is that of the peer without proxies', '192.0.2.1', undefined, '192.0.2.1'],
    ['is not read from a header of a client', '192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['is the one that a trusted proxy names', '10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['is the last one before the trusted proxies', '10.0.0.1', '203.0.113.9, 198.51.100.7, 10.2.3.4', '198.51.100.7'],
    ['is not what a client wrote before', '127.0.0.1', '127.0.0.1, 198.51.100.7', '198.51.100.7'],
    ['may be of IPv6', 'fd00::1', '2001:db8::5', '2001:db8::5'],
    ['is found behind a proxy of IPv4 on a socket of IPv6', '::ffff:10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['is that of the proxy where the header has no address', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['is that of the last proxy where no header is', '10.0.0.1', undefined, '10.0.0.1'],
  ])('%s', (_, peer, forwarded, expected) => {
    expect(find(request(peer, forwarded))).toBe(expected)
  })

  it('is that of the peer if no proxy is trusted', () => {
    expect(createFindAddress([])(request('127.0.0.1', '198.51.100.7'))).toBe('127.0.0.1')
  })
})
