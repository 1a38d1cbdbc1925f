import { InvalidInput } from '../errors.ts'

const newline = 0x0a

/** Reads lines and exact numbers of bytes from a stream of pieces. */
export class ByteReader {
  readonly #pieces: AsyncIterator<Uint8Array>
  #rest: Buffer = Buffer.alloc(0)

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#pieces = body[Symbol.asyncIterator]()
  }

  /** Returns the next line with its newline; null: the stream has ended. */
  async line(bytesMax: number): Promise<Buffer | null> {
    const parts: Buffer[] = []
    for (let length = 0; ; ) {
      const end = this.#rest.indexOf(newline)
      const part = this.#cut(end < 0 ? this.#rest.length : end + 1)
      parts.push(part)
      length += part.length
      if (end >= 0) return Buffer.concat(parts, length)
      if (length > bytesMax) throw InvalidInput.at('body', `A line is longer than ${bytesMax} bytes`)
      if (await this.#readMore()) continue
      return length === 0 ? null : Buffer.concat(parts, length)
    }
  }

  /** Returns the next bytes; fewer at the end of the stream. */
  async take(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let left = bytes; ; ) {
      const part = this.#cut(Math.min(left, this.#rest.length))
      parts.push(part)
      left -= part.length
      if (left === 0 || !(await this.#readMore())) return Buffer.concat(parts, bytes - left)
    }
  }

  #cut(length: number): Buffer {
    const cut = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return cut
  }

  /** Requires that the last piece is used up. */
  async #readMore(): Promise<boolean> {
    const { done, value } = await this.#pieces.next()
    if (done) return false
    this.#rest = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    return true
  }
}
