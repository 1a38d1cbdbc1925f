import { expect, it } from 'vitest'
import { isLoopbackAddress } from '../../src/config/exposure.ts'

it.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.8.0.2', '::1', '[::1]'])(
  '%s is reachable from its machine alone',
  (host) => expect(isLoopbackAddress(host)).toBe(true),
)

it.each([
  ...['0.0.0.0', '::', '192.168.0.1', '::10', '[::1]x', ''],
  // Names, which a name server may resolve to any address.
  ...['127.0.0.1.example.org', 'localhost.example.org', 'my-localhost', '127.0.0'],
])('%j may be reachable from other machines', (host) => expect(isLoopbackAddress(host)).toBe(false))
