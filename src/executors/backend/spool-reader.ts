import { blockBytes, releaseBlock, takeBlock } from '../../platform/blocks.ts'
import type { LogChunk } from '../executor.ts'

/**
 * Output of a run from its two spool files. The position is a byte offset in each file. The reader switches between the
 * streams at ends of lines where possible: complete lines of one stream, complete lines of the other, and an incomplete
 * line only when nothing else is left; then the next bytes of that stream come first. Memory is one chunk per stream.
 *
 * Recorded losses become gaps at their place, or at the next switch after it. A file that shrank was truncated by
 * another program: reading starts over after a gap of an unknown amount.
 */

/** Large chunks, because each read costs a turn of the event loop. */
const chunkBytesMax = blockBytes
/** A chunk of this size or more keeps the block of its bytes; a smaller chunk is a copy. */
const handedOverBytesMin = 65_536
/** Bytes of one stream after which the reader switches to the other, at the end of a line. */
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

/** Output that is not in the spool. */
export interface Loss {
  stream: 'stdout' | 'stderr'
  gap: 'LOST' | 'DISK_FULL' | 'OVER_LIMIT'
  /** Bytes of the stream before the loss; null: all bytes of the stream. */
  after: number | null
  /** Minimum number of bytes; 0: unknown. */
  bytes: number
}

interface Position extends Offsets {
  /** Number of reported losses of each stream. */
  reported?: Offsets
}

interface FollowOptions {
  /** null: the run has no files any more. */
  spool: Spool | null
  from: unknown
  /** Oldest first. */
  losses: () => readonly Loss[]
  signal: AbortSignal
  /** Called only when nothing is left to read. */
  isOver: () => Promise<boolean>
  /** Ends when there may be more output, or the signal aborts. */
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

/** The state of a stream after one pass. */
interface Rest {
  stream: Stream
  /** A line without its end. */
  bytes: Buffer
  /** The pass reached the end of the file. */
  isAtEnd: boolean
}

class SpoolReader {
  readonly #spool: Spool
  readonly #at: Position
  readonly #readLosses: () => readonly Loss[]
  #losses: readonly Loss[] = []
  #block = takeBlock()
  /** The stream to read first: the one that stopped in the middle of a line. */
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

  /** Yields up to the last newline, returns the rest. A chunk without any newline is yielded whole. */
  async *#lines(stream: Stream, signal: AbortSignal): AsyncGenerator<LogChunk, Rest> {
    yield* this.#reportLosses(stream)
    const start = this.#at[stream]
    let midLine = false
    while (!signal.aborted && (midLine || this.#at[stream] - start < turnBytesMax)) {
      const bytes = await this.#read(stream)
      const full = bytes.length === chunkBytesMax
      const end = bytes.lastIndexOf(newline) + 1
      // The chunk that is yielded may take the block.
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

  /** A copy that later bytes do not change. */
  #position(): Position {
    const { out, err, reported } = this.#at
    return { out, err, ...(reported && { reported: { ...reported } }) }
  }

  #chunk(stream: Stream, bytes: Buffer): LogChunk {
    this.#at[stream] += bytes.length
    return { stream: streamNames[stream], bytes: this.#kept(bytes), next: this.#position() }
  }

  /** Bytes that later reads do not change. */
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
