import { decodeFrame, encodeFrame, type Frame, headerBytes, isNumbered, type Kind, kinds } from './frames.ts'

/**
 * One end of a stream of frames that outlives its WebSockets. Both ends are alike. Each keeps the frames that the peer has
 * not acknowledged, sends them again on the next connection, and drops frames that it received before. So no frame is
 * lost or duplicated. A sender waits while `windowBytes` are unacknowledged, so a slow reader slows the writer down, and
 * neither end holds more than that.
 */

export const windowBytes = 262_144
/** A sender may exceed the window by one frame. */
const receivedBytesMax = 2 * windowBytes
const ackEveryBytes = windowBytes / 4
/** Minimum size that a frame counts, because a frame takes memory beside its payload. */
const frameBytesMin = 512

const countBytes = (payload: Uint8Array) => Math.max(frameBytesMin, headerBytes + payload.length)

/** A connection to the other end. */
export interface FrameSocket {
  send(bytes: Uint8Array<ArrayBuffer>): void
}

export class ChannelBroken extends Error {
  override name = 'ChannelBroken'
}

interface ChannelOptions {
  /** Processes a received frame. The next frame is processed when the promise resolves. */
  take: (kind: number, payload: Uint8Array) => Promise<void> | void
  /** Called if the peer violates the protocol, or `take` fails. */
  onFailure: (error: Error) => void
  /** Called for a frame of the kind `hello` or `ping`. */
  onControl?: (frame: Frame) => void
  /** Called when the peer has acknowledged every frame. */
  onFlushed?: () => void
}

export class Channel {
  readonly #options: ChannelOptions
  #socket: FrameSocket | null = null
  #sent = 0
  /** Frames that the peer has not acknowledged, in order. */
  #unacked: { number: number; bytes: Uint8Array<ArrayBuffer>; counted: number }[] = []
  #unackedBytes = 0
  readonly #waiting: (() => void)[] = []
  #received = 0
  readonly #inbox: Frame[] = []
  #inboxBytes = 0
  #taken = 0
  #takenBytes = 0
  #isTaking = false
  #isClosed = false

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  /** The number of the last frame that arrived. */
  get received(): number {
    return this.#received
  }

  /** Sends a frame. Resolves when the window has space for another. */
  send(kind: Kind, payload: Uint8Array = new Uint8Array()): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#sent += 1
    const bytes = encodeFrame({ kind, number: this.#sent, payload })
    const counted = countBytes(payload)
    this.#unacked.push({ number: this.#sent, bytes, counted })
    this.#unackedBytes += counted
    this.#socket?.send(bytes)
    if (this.#unackedBytes <= windowBytes) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Sends a frame without a number, which is not sent again after a lost connection. */
  sendControl(kind: Kind, { number = 0, payload = new Uint8Array() }: { number?: number; payload?: Uint8Array } = {}) {
    this.#socket?.send(encodeFrame({ kind, number, payload }))
  }

  /** Continues on a new connection. `received`: the number of the last frame that arrived at the peer. */
  attach(socket: FrameSocket, received: number, hello?: Frame) {
    if (received > this.#sent) return this.#fail('The peer has frames that were never sent')
    this.#socket = socket
    if (hello) socket.send(encodeFrame(hello))
    for (const { number, bytes } of this.#unacked) if (number > received) socket.send(bytes)
    this.#acknowledge()
  }

  detach(): void {
    this.#socket = null
  }

  close(): void {
    this.#isClosed = true
    this.#socket = null
    this.#inbox.length = 0
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Processes a message of the connection. */
  receive(message: Uint8Array) {
    if (this.#isClosed) return
    const frame = decodeFrame(message)
    if (!frame) return this.#fail('A message is too short')
    if (frame.kind === kinds.ack) return this.#drop(frame.number)
    if (!isNumbered(frame)) return this.#options.onControl?.(frame)
    if (frame.number <= this.#received) return
    if (frame.number !== this.#received + 1) return this.#fail('A frame is missing')
    this.#received = frame.number
    this.#inbox.push(frame)
    this.#inboxBytes += countBytes(frame.payload)
    if (this.#inboxBytes > receivedBytesMax) return this.#fail('The peer sent more than the window')
    if (!this.#isTaking) void this.#takeAll().catch((error: Error) => this.#options.onFailure(error))
  }

  async #takeAll(): Promise<void> {
    this.#isTaking = true
    for (let frame = this.#inbox.shift(); frame; frame = this.#inbox.shift()) {
      await this.#options.take(frame.kind, frame.payload)
      const bytes = countBytes(frame.payload)
      this.#inboxBytes -= bytes
      this.#takenBytes += bytes
      this.#taken = frame.number
      if (this.#takenBytes >= ackEveryBytes) this.#acknowledge()
    }
    this.#isTaking = false
    this.#acknowledge()
  }

  #acknowledge(): void {
    this.#takenBytes = 0
    this.sendControl(kinds.ack, { number: this.#taken })
  }

  #drop(upTo: number) {
    if (upTo > this.#sent) return this.#fail('The peer took frames that were never sent')
    const kept = this.#unacked.findIndex(({ number }) => number > upTo)
    const dropped = this.#unacked.splice(0, kept === -1 ? this.#unacked.length : kept)
    for (const { counted } of dropped) this.#unackedBytes -= counted
    if (this.#unackedBytes <= windowBytes) for (const resolve of this.#waiting.splice(0)) resolve()
    if (this.#unacked.length === 0) this.#options.onFlushed?.()
  }

  #fail(message: string): void {
    this.#options.onFailure(new ChannelBroken(message))
  }
}
