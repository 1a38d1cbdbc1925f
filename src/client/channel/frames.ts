/**
 * The frames of a session, one per binary WebSocket message: a byte for the kind, eight bytes for a number, the payload.
 * Frames of kinds below 16 are numbered 1, 2, 3 … in each direction, and sent again after a lost connection until the
 * peer acknowledges them.
 */
export const kinds = {
  stdin: 1,
  stdout: 2,
  stderr: 3,
  /** JSON: {columns, rows}. */
  resize: 4,
  /** The name of a signal, such as INT. */
  signal: 5,
  /** The end of stdin or stdout. */
  eof: 6,
  /** JSON: {exitCode, reason}. The last frame. */
  exit: 7,
  /** Acknowledges all frames up to this number. */
  ack: 16,
  /** The first frame of the server on each connection: JSON {secret, received}. */
  hello: 17,
  /** The peer replies with the same frame. A missing reply shows a dead connection. */
  ping: 18,
} as const
/** Subprotocol of the WebSockets of sessions. */
export const sessionProtocol = 'berth-session'
/** The longest interruption that a session is sure to survive. */
export const cutMsMax = 30_000
/**
 * Time for which both ends wait. It is longer, because an end notices an interruption only at the next ping, and a new
 * connection takes a moment.
 */
export const awayMsMax = cutMsMax + 10_000
/** Codes with which the server closes a line that has ended. */
export const closeCodes = { done: 1000, replaced: 4409, broken: 1002 } as const
export type Kind = (typeof kinds)[keyof typeof kinds]

export interface Frame {
  kind: number
  number: number
  payload: Uint8Array
}

export const headerBytes = 9
export const payloadBytesMax = 65_536
export const frameBytesMax = headerBytes + payloadBytesMax
const firstUnnumbered = 16

export const isNumbered = ({ kind }: Frame): boolean => kind < firstUnnumbered

export function encodeFrame({ kind, number, payload }: Frame): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(headerBytes + payload.length)
  const view = new DataView(bytes.buffer)
  view.setUint8(0, kind)
  view.setBigUint64(1, BigInt(number))
  bytes.set(payload, headerBytes)
  return bytes
}

/** null: the message is too short. */
export function decodeFrame(bytes: Uint8Array): Frame | null {
  if (bytes.length < headerBytes) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return { kind: view.getUint8(0), number: Number(view.getBigUint64(1)), payload: bytes.subarray(headerBytes) }
}

export const encodeJson = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
export const decodeText = (payload: Uint8Array): string => new TextDecoder().decode(payload)
