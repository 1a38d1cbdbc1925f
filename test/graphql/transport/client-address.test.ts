import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createAddressFinder } from '../../../src/graphql/transport/client-address.ts'

const request = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage

describe('the address of a client', () => {
  const find = createAddressFinder(['10.0.0.0/8', '127.0.0.1', 'fd00::/8'])

  it.each([
    ['is that of the TCP peer if the peer is not a trusted proxy', '192.0.2.1', undefined, '192.0.2.1'],
    ['is not read from X-Forwarded-For if a client sent it', '192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['is the one in X-Forwarded-For if a trusted proxy sent it', '10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['is the last one before the trusted proxies', '10.0.0.1', '203.0.113.9, 198.51.100.7, 10.2.3.4', '198.51.100.7'],
    ['is not one that the client added at the front', '127.0.0.1', '127.0.0.1, 198.51.100.7', '198.51.100.7'],
    ['may be an IPv6 address', 'fd00::1', '2001:db8::5', '2001:db8::5'],
    ['is found behind an IPv4 proxy on an IPv6 socket', '::ffff:10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['is that of the proxy if X-Forwarded-For has no address', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['is that of the last proxy if X-Forwarded-For is missing', '10.0.0.1', undefined, '10.0.0.1'],
  ])('%s', (_, peer, forwarded, expected) => {
    expect(find(request(peer, forwarded))).toBe(expected)
  })

  it('is that of the TCP peer if no proxy is trusted', () => {
    expect(createAddressFinder([])(request('127.0.0.1', '198.51.100.7'))).toBe('127.0.0.1')
  })
})
