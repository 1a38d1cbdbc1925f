interface Sent {
  type: string
  id?: string
  payload?: { query: string }
}

/** A WebSocket to a fake server that accepts every connection; a subclass handles subscriptions. */
export abstract class AnsweringSocket {
  static readonly OPEN = 1
  static readonly CLOSED = 3
  static readonly CONNECTING = 0
  static readonly CLOSING = 2
  readyState = AnsweringSocket.OPEN
  onopen?: () => void
  onmessage?: (message: { data: string }) => void
  onclose?: (event: { code: number; reason: string; wasClean: boolean }) => void

  constructor() {
    queueMicrotask(() => this.onopen?.())
  }

  abstract subscribe(id: string, query: string): void

  send(text: string) {
    const { type, id = '', payload }: Sent = JSON.parse(text)
    if (type === 'connection_init') this.answer({ type: 'connection_ack' })
    if (type === 'subscribe') this.subscribe(id, payload?.query ?? '')
  }

  close(code = 1000, reason = '') {
    this.readyState = AnsweringSocket.CLOSED
    queueMicrotask(() => this.onclose?.({ code, reason, wasClean: true }))
  }

  answer(message: object) {
    queueMicrotask(() => this.onmessage?.({ data: JSON.stringify(message) }))
  }

  refuse(id: string, code = 'UNAVAILABLE') {
    this.answer({ type: 'error', id, payload: [{ message: 'Come back', extensions: { code } }] })
  }
}
