import { blockBytes, releaseBlock, takeBlock } from '../../platform/blocks.ts'
import type { LogChunk } from '../executor.ts'

/**
 * Reads the output of a run from its two spool files. The position is a byte offset in each file. Where possible, the
 * reader switches between the streams only after complete lines: it yields the complete lines of one stream, then those
 * of the other. It yields an incomplete line only when no other output is left; then the same stream is read first. It
 * needs the memory of one chunk per stream.
 *
 * Recorded losses become gaps where they happened, or at the next switch after that. If a file has shrunk, another
 * program truncated it: the reader yields a gap of unknown size and starts over.
 */

/** Large chunks need fewer turns of the event loop. */
const chunkBytesMax = blockBytes
/** A chunk of at least this size keeps the block that it was read into; a smaller chunk is copied. */
const handedOverBytesMin = 65_536
/** After this number of bytes the reader switches to the other stream at the next end of a line. */
const turnBytesMax = 1_048_576
const newline = 10
const nothing = Buffer.alloc(0)

const streamNames = { out: 'STDOUT', err: 'STDERR' } as const
export type Stream = keyof typeof streamNames
type Offsets = Record<Stream, number>
const spoolNames = { out: 'stdout', err: 'stderr' } as const

export interface Spool {
  read(stream: Stream, buffer: Buffer, at: number): Promise<number>
  size(stream: Stream): Promise<number>
}

/** Output that was lost before it reached the spool. */
export interface Loss {
  stream: 'stdout' | 'stderr'
  gap: 'LOST' | 'DISK_FULL' | 'OVER_LIMIT'
  /** The loss is after this number of bytes of the stream; null: after all bytes. */
  after: number | null
  /** Minimum number of bytes; 0: unknown. */
  bytes: number
}

interface Position extends Offsets {
  /** Number of losses of each stream that were already reported. */
  reported?: Offsets
}

interface FollowOptions {
  /** null: the files of the run were removed. */
  spool: Spool | null
  from: unknown
  /** Returns the recorded losses, oldest first. */
  losses: () => readonly Loss[]
  signal: AbortSignal
  /** Called only when no output is left to read. */
  isOver: () => Promise<boolean>
  /** Resolves when there may be more output, or the signal aborts. */
  wait: () => Promise<void>
}

export async function* followSpool({
  spool,
  from,
  losses,
  signal,
  isOver,
  wait,
}: FollowOptions): AsyncGenerator<LogChunk> {
  const at = { out: 0, err: 0, ...(from as Position | null) }
  if (!spool) return yield { gap: 'LOST', bytes: 0, next: at }
  const reader = new SpoolReader(spool, at, losses)
  let over = false
  try {
    while (!signal.aborted) {
      let found = false
      for await (const chunk of reader.drain(signal)) {
        found = true
        yield chunk
      }
      if (over && !found) return
      over ||= await isOver()
      if (!over) await wait()
    }
  } finally {
    reader.close()
  }
}

/** The unread rest of a stream after one pass. */
interface Rest {
  stream: Stream
  /** An incomplete line. */
  bytes: Buffer
  /** true: the pass reached the end of the file. */
  isAtEnd: boolean
}

class SpoolReader {
  readonly #spool: Spool
  readonly #at: Position
  readonly #readLosses: () => readonly Loss[]
  #losses: readonly Loss[] = []
  #block = takeBlock()
  /** The stream to read first, because its last line is incomplete. */
  #first: Stream = 'out'

  constructor(spool: Spool, at: Position, readLosses: () => readonly Loss[]) {
    this.#spool = spool
    this.#at = at
    this.#readLosses = readLosses
  }

  close() {
    releaseBlock(this.#block)
  }

  async *drain(signal: AbortSignal): AsyncGenerator<LogChunk> {
    this.#losses = this.#readLosses()
    while (!signal.aborted) {
      const before = this.#at.out + this.#at.err
      const rests: Rest[] = []
      for (const stream of this.#first === 'out' ? (['out', 'err'] as const) : (['err', 'out'] as const)) {
        rests.push(yield* this.#lines(stream, signal))
      }
      const open = rests.find(({ bytes }) => bytes.length > 0)
      if (!open && rests.every(({ isAtEnd }) => isAtEnd)) return
      if (!open || this.#at.out + this.#at.err > before) continue
      this.#first = open.stream
      yield this.#chunk(open.stream, open.bytes)
    }
  }

  /** Yields the output up to the last newline and returns the rest. Yields a chunk without a newline as a whole. */
  async *#lines(stream: Stream, signal: AbortSignal): AsyncGenerator<LogChunk, Rest> {
    yield* this.#reportLosses(stream)
    const start = this.#at[stream]
    let midLine = false
    while (!signal.aborted && (midLine || this.#at[stream] - start < turnBytesMax)) {
      const bytes = await this.#read(stream)
      const full = bytes.length === chunkBytesMax
      const end = bytes.lastIndexOf(newline) + 1
      // The rest is copied, because the reader of the chunk may keep the block.
      const rest = full ? nothing : Buffer.from(bytes.subarray(end))
      midLine = full && end === 0
      const shrank = bytes.length === 0 && (await this.#shrank(stream))
      if (shrank) yield { gap: 'LOST', bytes: 0, next: this.#position() }
      else if (midLine) yield this.#chunk(stream, bytes)
      else if (end > 0) yield this.#chunk(stream, bytes.subarray(0, end))
      if (!full) return { stream, bytes: rest, isAtEnd: !shrank }
    }
    return { stream, bytes: nothing, isAtEnd: false }
  }

  async *#reportLosses(stream: Stream): AsyncGenerator<LogChunk> {
    const reported = this.#at.reported ?? { out: 0, err: 0 }
    const losses = this.#losses.filter((loss) => loss.stream === spoolNames[stream])
    for (const { gap, after, bytes } of losses.slice(reported[stream])) {
      if (this.#at[stream] < (after ?? (await this.#spool.size(stream)))) return
      reported[stream] += 1
      this.#at.reported = reported
      yield { gap, bytes, next: this.#position() }
    }
  }

  /** Returns a copy, because the position changes with later bytes. */
  #position(): Position {
    const { out, err, reported } = this.#at
    return { out, err, ...(reported && { reported: { ...reported } }) }
  }

  #chunk(stream: Stream, bytes: Buffer): LogChunk {
    this.#at[stream] += bytes.length
    return { stream: streamNames[stream], bytes: this.#kept(bytes), next: this.#position() }
  }

  /** Returns bytes that later reads do not overwrite. */
  #kept(bytes: Buffer): Buffer {
    if (bytes.buffer !== this.#block.buffer) return bytes
    if (bytes.length < handedOverBytesMin) return Buffer.from(bytes)
    this.#block = takeBlock()
    return bytes
  }

  async #read(stream: Stream): Promise<Buffer> {
    return this.#block.subarray(0, await this.#spool.read(stream, this.#block, this.#at[stream]))
  }

  async #shrank(stream: Stream): Promise<boolean> {
    if ((await this.#spool.size(stream)) >= this.#at[stream]) return false
    this.#at[stream] = 0
    return true
  }
}
