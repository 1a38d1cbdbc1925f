import type { IncomingMessage } from 'node:http'
import type { LogChunk, LogStreamName } from '../executor.ts'

/**
 * Output of a container: frames of a header (stream, three zeros, length) and payload. The engine may divide the same
 * bytes into other frames on the next read, so the position counts payload bytes, and a later read skips that many.
 * Times of lines cannot serve as positions: they are wrong after the engine's clock was set back.
 */
export interface PayloadPosition {
  bytes: number
  /** true: the rest was lost, and the gap was reported. */
  lost?: boolean
}

const headerBytes = 8
const chunkBytesMax = 65_536
const streams: Readonly<Record<number, LogStreamName>> = { 0: 'STDOUT', 1: 'STDOUT', 2: 'STDERR', 3: 'SYSTEM' }

/** A copy, because readers change it. */
export const copyPosition = (from: unknown): PayloadPosition => ({ bytes: 0, ...(from as PayloadPosition | null) })

/**
 * Yields output after `at`, and advances `at` with every byte. Returns the number of payload bytes that the engine has.
 */
export async function* readPayload(
  response: IncomingMessage,
  at: PayloadPosition,
  { dropsNewlines = false } = {},
): AsyncGenerator<LogChunk, number> {
  let passed = 0
  const frames = new Frames()
  const records = new Records()
  for await (const piece of response as AsyncIterable<Buffer>)
    for (const part of frames.read(piece)) {
      const { stream } = part
      const bytes = dropsNewlines ? records.restore(part) : part.bytes
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

interface Part {
  stream: LogStreamName
  bytes: Buffer
  isEnd: boolean
}

/** Extracts payload from the pieces of a connection; frames and their headers may span pieces. */
export class Frames {
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

  *read(piece: Buffer): Generator<Part> {
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
        yield { stream: this.#stream, bytes, isEnd: this.#left === 0 }
      }
    }
  }
}

/** Docker splits a longer line into several records, each in a frame. */
const recordBytesMax = 16_384
const newline = Buffer.from('\n')

/**
 * Restores newlines. Docker before version 23 returns the last record of a long line without its newline, and omits
 * that record if it is empty. Two cases are ambiguous: a long line at the end of the output gets a newline, and a line
 * whose length is a multiple of the record size is joined with a following long line.
 */
class Records {
  #parts: Buffer[] = []
  readonly #open = new Set<LogStreamName>()

  restore({ stream, bytes, isEnd }: Part): Buffer {
    this.#parts.push(bytes)
    if (!isEnd) return Buffer.alloc(0)
    const record = Buffer.concat(this.#parts)
    this.#parts = []
    const hasNewline = record.at(-1) === newline[0]
    if (record.length === recordBytesMax && !hasNewline) {
      this.#open.add(stream)
      return record
    }
    if (!this.#open.delete(stream)) return record
    return Buffer.concat(hasNewline ? [newline, record] : [record, newline])
  }
}
