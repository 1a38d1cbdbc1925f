import { Channel } from './channel.ts'
import { awayMsMax, closeCodes, cutMsMax, decodeText, encodeJson, type Kind, kinds, sessionProtocol } from './frames.ts'

/** The end of a session. `exitCode` null: unknown, for `reason`. */
export interface LineEnd {
  exitCode: number | null
  reason: string | null
}

export interface LineOptions {
  /** The address of the session, ws: or wss:. */
  url: string
  /** 0: the session's command, or the port session itself; above 0: a connection to the port. */
  number?: number
  /** The secret of the session, which line 0 receives and lines above 0 need. */
  secret?: string
  /** Processes output. The next output is passed when the promise resolves. */
  take: (kind: number, payload: Uint8Array) => Promise<void> | void
  onCut?: () => void
  /** Called for the first connection, and for each one after a lost connection. */
  onConnect?: () => void
  webSocket?: typeof WebSocket
  /** Pause before each attempt to reconnect. */
  retryMs?: number
}

const retryMsDefault = 500
const pingMs = 5_000
const silentMsMax = 15_000
/** Close codes after which the server does not let the line continue. */
const tooLarge = 1009
const finalCodes: ReadonlySet<number> = new Set([...Object.values(closeCodes), tooLarge])

/** The client's end of a channel. Reconnects until the line ends. */
export class ClientLine {
  readonly ended: Promise<LineEnd>
  readonly #options: LineOptions
  readonly #channel: Channel
  readonly #end: (end: LineEnd) => void
  readonly #ready = Promise.withResolvers<string>()
  readonly #pings: ReturnType<typeof setInterval>
  #secret: string | undefined
  #socket: WebSocket | undefined
  #heardMs = performance.now()
  #isOver = false
  #retry: ReturnType<typeof setTimeout> | undefined

  constructor(options: LineOptions) {
    this.#options = options
    this.#secret = options.secret
    const { promise, resolve } = Promise.withResolvers<LineEnd>()
    this.ended = promise
    this.#end = resolve
    this.#channel = new Channel({
      take: (kind, payload) => (kind === kinds.exit ? this.#finish(readEnd(payload)) : options.take(kind, payload)),
      onFailure: (error) => this.close(error.message),
      onControl: ({ kind, payload }) => {
        if (kind === kinds.hello) this.#welcome(payload)
      },
    })
    this.#pings = setInterval(() => this.#ping(), pingMs)
    this.#connect()
  }

  /** The secret of the session, which opens further lines; '': the line ended before the secret arrived. */
  get secret(): Promise<string> {
    return this.#ready.promise
  }

  /** Sends a frame. Resolves when the window has space for another. */
  send(kind: Kind, payload?: Uint8Array): Promise<void> {
    return this.#channel.send(kind, payload)
  }

  sendJson = (kind: Kind, value: object): Promise<void> => this.send(kind, encodeJson(value))

  /** Ends the line from here. */
  close(reason: string | null = null): void {
    this.#finish({ exitCode: null, reason })
    this.#channel.close()
    this.#socket?.close(1000)
  }

  #finish(end: LineEnd): void {
    this.#isOver = true
    clearInterval(this.#pings)
    clearTimeout(this.#retry)
    this.#ready.resolve('')
    this.#end(end)
  }

  #connect(): void {
    const { url, number = 0, webSocket = WebSocket } = this.#options
    const address = `${url}?line=${number}&received=${this.#channel.received}`
    const socket = new webSocket(
      address,
      this.#secret === undefined ? [sessionProtocol] : [sessionProtocol, this.#secret],
    )
    socket.binaryType = 'arraybuffer'
    this.#socket = socket
    socket.onmessage = ({ data }) => {
      this.#heardMs = performance.now()
      if (socket === this.#socket) this.#channel.receive(new Uint8Array(data as ArrayBuffer))
    }
    socket.onclose = ({ code, reason }) => {
      if (socket === this.#socket) this.#cut(code, reason)
    }
    socket.onerror = () => undefined
  }

  #welcome(payload: Uint8Array): void {
    const { secret, received } = JSON.parse(decodeText(payload)) as { secret: string; received: number }
    this.#secret = secret
    this.#ready.resolve(secret)
    const socket = this.#socket
    if (socket) this.#channel.attach(socket, received)
    this.#options.onConnect?.()
  }

  #cut(code: number, reason: string) {
    this.#socket = undefined
    this.#channel.detach()
    if (this.#isOver) return
    if (this.#secret === undefined) return this.close('The server refused the connection')
    if (finalCodes.has(code)) return this.close(reason || 'The server ended the session')
    const { retryMs = retryMsDefault, onCut } = this.#options
    if (performance.now() - this.#heardMs > awayMsMax)
      return this.close(`The connection was cut for more than ${cutMsMax / 1_000} s, so the session is over`)
    onCut?.()
    this.#retry = setTimeout(() => this.#connect(), retryMs)
  }

  #ping(): void {
    const silentMs = performance.now() - this.#heardMs
    const socket = this.#socket
    if (silentMs > silentMsMax && socket) {
      this.#cut(1006, '')
      socket.close()
    } else this.#channel.sendControl(kinds.ping)
  }
}

const readEnd = (payload: Uint8Array): LineEnd => JSON.parse(decodeText(payload)) as LineEnd
