import { Channel } from '../client/channel/channel.ts'
import { awayMsMax, closeCodes, encodeJson, type Frame, type Kind, kinds } from '../client/channel/frames.ts'
import type { Clock } from '../platform/clock.ts'

export interface LineSocket {
  send(bytes: Uint8Array<ArrayBuffer>): void
  close(code: number, reason: string): void
}

interface LineOptions {
  clock: Clock
  /** The secret with which the client can reconnect. */
  secret: string
  take: (kind: number, payload: Uint8Array) => Promise<void> | void
  /** The line has ended: no connection came in time, the client has received everything, or an error occurred. */
  onEnd: (reason: string | null) => void
}

/** The server's end of a channel, over successive WebSockets of one client. */
export class Line {
  readonly #options: LineOptions
  readonly #channel: Channel
  #socket: LineSocket | null = null
  #wait = new AbortController()
  #isFinishing = false
  #isOver = false

  constructor(options: LineOptions) {
    this.#options = options
    this.#channel = new Channel({
      take: options.take,
      onFailure: (error) => this.end(error.message, closeCodes.broken),
      onControl: ({ kind }: Frame) => {
        if (kind === kinds.ping) this.#channel.sendControl(kinds.ping)
      },
      onFlushed: () => {
        if (this.#isFinishing) this.end(null)
      },
    })
    this.#awaitConnection()
  }

  /** Continues on this connection. `received`: number of the last frame that the client got. */
  connect(socket: LineSocket, received: number): void {
    if (this.#isOver) {
      socket.close(closeCodes.done, '')
      return
    }
    this.#socket?.close(closeCodes.replaced, 'Another connection continues the session')
    this.#wait.abort()
    this.#socket = socket
    const hello = { secret: this.#options.secret, received: this.#channel.received }
    this.#channel.detach()
    this.#channel.attach(socket, received, { kind: kinds.hello, number: 0, payload: encodeJson(hello) })
  }

  receive(socket: LineSocket, message: Uint8Array): void {
    if (socket === this.#socket) this.#channel.receive(message)
  }

  /** `isFinal`: the client has left and will not reconnect. */
  disconnect(socket: LineSocket, isFinal: boolean): void {
    if (socket !== this.#socket) return
    this.#socket = null
    this.#channel.detach()
    if (isFinal) this.end(null)
    else if (!this.#isOver) this.#awaitConnection()
  }

  send(kind: Kind, payload?: Uint8Array): Promise<void> {
    return this.#channel.send(kind, payload)
  }

  /** Sends the last frame. The line ends when the client has received that frame. */
  finish(exitCode: number | null, reason: string | null): void {
    if (this.#isFinishing || this.#isOver) return
    this.#isFinishing = true
    void this.#channel.send(kinds.exit, encodeJson({ exitCode, reason }))
  }

  end(reason: string | null, code: number = closeCodes.done): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#wait.abort()
    this.#channel.close()
    this.#socket?.close(code, reason?.slice(0, 100) ?? '')
    this.#options.onEnd(reason)
  }

  #awaitConnection(): void {
    const wait = new AbortController()
    this.#wait = wait
    void this.#options.clock.sleep(awayMsMax, wait.signal).then(() => {
      if (!wait.signal.aborted) this.end('The client did not come back')
    })
  }
}
