import type { IncomingMessage } from 'node:http'
import type { LogChunk, LogStreamName } from '../executor.ts'

/**
 * Output of a container: frames of eight bytes (stream, three zeros, length) and their payload. The engine keeps the
 * order, but may cut the same bytes into other frames, so the position counts payload only. A later read begins at the
 * start and skips the bytes that were read: the alternative, the times of lines, would lose output after the engine's
 * clock was set back.
 */
export interface PayloadPosition {
  bytes: number
  /** The rest was lost, and its gap was told. */
  lost?: boolean
}

const headerBytes = 8
/** Maximum bytes of one piece. */
const chunkBytesMax = 65_536
const streams: Readonly<Record<number, LogStreamName>> = { 0: 'STDOUT', 1: 'STDOUT', 2: 'STDERR', 3: 'SYSTEM' }

export function bytePositionOf(from: unknown): PayloadPosition {
  if (from === null) return { bytes: 0 }
  const { bytes, lost } = from as Partial<PayloadPosition>
  if (!Number.isSafeInteger(bytes))
    throw new Error(`Not a log position of the executor container: ${JSON.stringify(from)}`)
  return { bytes: Number(bytes), ...(lost === true && { lost }) }
}

/** Output after `at`, which advances with every byte. Returns the total payload that the engine has. */
export async function* payload(response: IncomingMessage, at: PayloadPosition): AsyncGenerator<LogChunk, number> {
  let passed = 0
  const frames = new Frames()
  for await (const piece of response as AsyncIterable<Buffer>)
    for (const { stream, bytes } of frames.read(piece)) {
      const fresh = bytes.subarray(Math.max(0, Math.min(bytes.length, at.bytes - passed)))
      passed += bytes.length
      for (let from = 0; from < fresh.length; from += chunkBytesMax) {
        const part = fresh.subarray(from, from + chunkBytesMax)
        at.bytes += part.length
        at.lost &&= false
        yield { stream, bytes: Buffer.from(part), next: { ...at } }
      }
    }
  return passed
}

/** Cuts pieces of the connection into payload; a frame and its header may span pieces. */
class Frames {
  #header = Buffer.alloc(0)
  #stream: LogStreamName = 'STDOUT'
  #left = 0

  #begin(header: Buffer) {
    const stream = streams[header[0] ?? -1]
    if (!stream || header[1] !== 0 || header[2] !== 0 || header[3] !== 0)
      throw new Error(`The container engine sent output without frames: ${header.toString('hex')}`)
    this.#stream = stream
    this.#left = header.readUInt32BE(4)
  }

  *read(piece: Buffer): Generator<{ stream: LogStreamName; bytes: Buffer }> {
    let rest = piece
    while (rest.length > 0) {
      if (this.#left === 0) {
        const missing = headerBytes - this.#header.length
        this.#header = Buffer.concat([this.#header, rest.subarray(0, missing)])
        rest = rest.subarray(missing)
        if (this.#header.length < headerBytes) return
        this.#begin(this.#header)
        this.#header = Buffer.alloc(0)
      } else {
        const bytes = rest.subarray(0, this.#left)
        this.#left -= bytes.length
        rest = rest.subarray(bytes.length)
        yield { stream: this.#stream, bytes }
      }
    }
  }
}
