import { createHash } from 'node:crypto'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { createTarPacker } from 'modern-tar'
import { sumsName } from './manifest.ts'

/** Writes a tar file by file and remembers the checksum of each file. Waits while the destination is full. */
export class ArchiveWriter {
  readonly #packer = createTarPacker()
  readonly #written: Promise<void>
  readonly #takenAt: Date
  readonly #sums: string[] = []
  bytes = 0

  /** `end`: whether to close the destination at the end of the archive. */
  constructor(destination: Writable, { takenAt, end }: { takenAt: Date; end: boolean }) {
    this.#takenAt = takenAt
    this.#written = pipeline(
      Readable.fromWeb(this.#packer.readable as unknown as ReadableStream<Uint8Array>),
      destination,
      { end },
    )
    this.#written.catch(() => undefined) // `add` and `finish` throw it
  }

  /** Adds a file, and returns its SHA-256. */
  async add(name: string, chunks: readonly Uint8Array[]): Promise<string> {
    const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
    const hash = createHash('sha256')
    const header = { name, size, mode: 0o600, mtime: this.#takenAt, uname: 'berth', gname: 'berth' }
    const file = this.#packer.controller.add(header).getWriter()
    for (const chunk of chunks) {
      hash.update(chunk)
      await file.write(chunk)
    }
    await file.close()
    this.bytes += size
    const sum = hash.digest('hex')
    this.#sums.push(`${sum}  ${name}\n`)
    return sum
  }

  async finish(): Promise<void> {
    await this.add(sumsName, [Buffer.from(this.#sums.join(''))])
    this.#packer.controller.finalize()
    await this.#written
  }

  abort(reason: unknown): void {
    this.#packer.controller.error(reason)
  }
}
