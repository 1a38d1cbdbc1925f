import { expect, it } from 'vitest'
import { createServers } from '../../../src/client/connection/servers.ts'
import { SocketStreams } from '../../../src/client/connection/sockets.ts'
import { createTokens } from '../../../src/client/connection/tokens.ts'
import { createClient } from '../../../src/client/jobs/client.ts'
import { AnsweringSocket } from '../../support/answering-socket.ts'

/** Refuses each subscription except `{ quiet }`, which gets no message. */
class RefusingSocket extends AnsweringSocket {
  override subscribe(id: string, query: string) {
    if (query !== '{ quiet }') this.refuse(id)
  }
}

it('a stream that is refused on an open connection never reports that it is open', async () => {
  const servers = createServers('http://127.0.0.1:1')
  const sockets = new SocketStreams(servers, createTokens(undefined), RefusingSocket)
  const { signal } = new AbortController()
  const leave = new AbortController()
  let quiet: Promise<unknown> | undefined
  await new Promise<void>((resolve) => {
    quiet = sockets.subscribe({ query: '{ quiet }' }, leave.signal, resolve).next()
  })
  let opened = 0
  const refused = sockets.subscribe({ query: '{ refused }' }, signal, () => opened++)
  await expect(refused.next()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(opened).toBe(0)
  leave.abort()
  await expect(quiet).rejects.toThrow()
  await sockets.close()
})

it('a stream fails, and its client can be closed, if the WebSocket constructor throws', async () => {
  class InsecureSocket extends AnsweringSocket {
    constructor() {
      super()
      throw new DOMException('An insecure WebSocket connection may not be initiated', 'SecurityError')
    }
    override subscribe() {}
  }
  const servers = createServers('http://127.0.0.1:1')
  const sockets = new SocketStreams(servers, createTokens(undefined), InsecureSocket)
  const { signal } = new AbortController()
  for (let tries = 0; tries < 2; tries++)
    await expect(sockets.subscribe({ query: '{ a }' }, signal, () => {}).next()).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: 'No WebSocket can be opened to http://127.0.0.1:1/graphql',
      cause: new Error('SecurityError: An insecure WebSocket connection may not be initiated'),
    })
  await sockets.close()
})

it('a client must be created with other transports if the platform has no WebSocket', async () => {
  const { WebSocket } = globalThis
  Reflect.deleteProperty(globalThis, 'WebSocket')
  try {
    const url = 'http://127.0.0.1:1'
    await createClient({ url, transports: ['sse', 'polling'] }).close()
    expect(() => createClient({ url })).toThrow("or set `transports: ['sse', 'polling']`")
  } finally {
    globalThis.WebSocket = WebSocket
  }
})
