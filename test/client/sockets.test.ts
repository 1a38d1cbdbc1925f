import { expect, it } from 'vitest'
import { createServers } from '../../src/client/servers.ts'
import { createSocketStreams } from '../../src/client/sockets.ts'
import { createTokens } from '../../src/client/tokens.ts'

interface Sent {
  type: string
  id?: string
  payload?: { query: string }
}

/** A server that welcomes every connection, and refuses each subscription except `{ quiet }`, which stays without a message. */
class RefusingSocket {
  static readonly OPEN = 1
  static readonly CLOSED = 3
  static readonly CONNECTING = 0
  static readonly CLOSING = 2
  readyState = RefusingSocket.OPEN
  onopen?: () => void
  onmessage?: (message: { data: string }) => void
  onclose?: (event: { code: number; reason: string; wasClean: boolean }) => void

  constructor() {
    queueMicrotask(() => this.onopen?.())
  }

  send(text: string) {
    const { type, id, payload }: Sent = JSON.parse(text)
    if (type === 'connection_init') this.answer({ type: 'connection_ack' })
    if (type !== 'subscribe' || payload?.query === '{ quiet }') return
    this.answer({ type: 'error', id, payload: [{ message: 'Come back', extensions: { code: 'UNAVAILABLE' } }] })
  }

  close(code = 1000, reason = '') {
    this.readyState = RefusingSocket.CLOSED
    queueMicrotask(() => this.onclose?.({ code, reason, wasClean: true }))
  }

  private answer(message: object) {
    queueMicrotask(() => this.onmessage?.({ data: JSON.stringify(message) }))
  }
}

it('a stream that is refused on a connection that was open already is never said to be open', async () => {
  const servers = createServers('http://127.0.0.1:1')
  const sockets = createSocketStreams({ servers, tokens: createTokens(undefined), webSocket: RefusingSocket })
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
