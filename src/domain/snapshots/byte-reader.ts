import { InvalidInput } from '../errors.ts'

const newline = 0x0a

/** Reads lines and exact numbers of bytes from a stream of pieces. */
export class ByteReader {
  readonly #pieces: AsyncIterator<Uint8Array>
  #rest: Buffer = Buffer.alloc(0)

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#pieces = body[Symbol.asyncIterator]()
  }

  /** The next line with its end; null: the stream is over. */
  async line(bytesMax: number): Promise<Buffer | null> {
    for (let searched = 0; ; ) {
      const end = this.#rest.indexOf(newline, searched)
      if (end >= 0) return this.#cut(end + 1)
      searched = this.#rest.length
      if (searched > bytesMax) throw InvalidInput.at('body', `A line is longer than ${bytesMax} bytes`)
      if (await this.#readMore()) continue
      return searched === 0 ? null : this.#cut(searched)
    }
  }

  /** The next bytes; fewer at the end of the stream. */
  async take(bytes: number): Promise<Buffer> {
    while (this.#rest.length < bytes && (await this.#readMore()));
    return this.#cut(Math.min(bytes, this.#rest.length))
  }

  #cut(length: number): Buffer {
    const cut = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return cut
  }

  async #readMore(): Promise<boolean> {
    const { done, value } = await this.#pieces.next()
    if (done) return false
    this.#rest = this.#rest.length === 0 ? Buffer.from(value) : Buffer.concat([this.#rest, value])
    return true
  }
}
