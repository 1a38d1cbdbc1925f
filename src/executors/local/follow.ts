import { type FileHandle, open } from 'node:fs/promises'
import type { LogChunk } from '../executor.ts'
import { isMissingFile, type Loss } from './journal.ts'
import type { RunFiles } from './spool.ts'

/**
 * Output of a run from its two spool files. The position is a byte offset in each, so any reader can go on where
 * another stopped. Between the streams it switches at ends of lines where it can: whole lines of one, whole lines of
 * the other, and the bytes after the last newline only when nothing else is there; then that stream's next bytes come
 * first. Memory is one chunk per stream, for any size.
 *
 * Losses that the readers of the shim wrote into the journal become gaps at their place, or at the next switch after
 * it. A file that shrank was truncated from outside: the amount lost is unknown, so the gap has 0 bytes, and reading
 * starts over.
 */

const chunkBytesMax = 65_536
/** Bytes of one stream after which it switches to the other, at the end of a line. */
const turnBytesMax = 1_048_576
const newline = 10

const streamNames = { out: 'STDOUT', err: 'STDERR' } as const
type Stream = keyof typeof streamNames
type Offsets = Record<Stream, number>
const spoolNames = { out: 'stdout', err: 'stderr' } as const

interface Position extends Offsets {
  /** How many losses of each stream were reported. */
  told?: Offsets
}

interface FollowOptions {
  files: RunFiles
  from: unknown
  /** Losses in the journal. */
  losses: () => readonly Loss[]
  signal: AbortSignal
  /** Whether the run is over; called only when nothing is left to read. */
  isOver: () => Promise<boolean>
  /** Ends when there may be more, or when the signal fires. */
  wait: () => Promise<void>
}

export async function* follow({ files, from, losses, signal, isOver, wait }: FollowOptions): AsyncGenerator<LogChunk> {
  const at = positionOf(from)
  const handles = await Promise.all([openSpool(files.stdout), openSpool(files.stderr)])
  const [out, err] = handles
  try {
    if (!out || !err) return yield { gap: 'LOST', bytes: 0, next: at }
    const reader = new SpoolReader({ out, err }, at, losses)
    let over = false
    while (!signal.aborted) {
      let found = false
      for await (const chunk of reader.drain(signal)) {
        found = true
        yield chunk
      }
      if (found) continue
      if (over) return
      over = await isOver()
      if (!over) await wait()
    }
  } finally {
    await Promise.all(handles.map((handle) => handle?.close()))
  }
}

class SpoolReader {
  readonly #handles: Record<Stream, FileHandle>
  readonly #at: Position
  readonly #readLosses: () => readonly Loss[]
  #losses: readonly Loss[] = []
  readonly #scratch = Buffer.allocUnsafeSlow(chunkBytesMax)
  /** The stream that is read first: the one that stopped in the middle of a line. */
  #first: Stream = 'out'

  constructor(handles: Record<Stream, FileHandle>, at: Position, readLosses: () => readonly Loss[]) {
    this.#handles = handles
    this.#at = at
    this.#readLosses = readLosses
  }

  /** All output that is there now; ends when a look at both files finds nothing. */
  async *drain(signal: AbortSignal): AsyncGenerator<LogChunk> {
    this.#losses = this.#readLosses()
    while (!signal.aborted) {
      const before = this.#at.out + this.#at.err
      const rests: [Stream, Buffer][] = []
      for (const stream of this.#first === 'out' ? (['out', 'err'] as const) : (['err', 'out'] as const)) {
        rests.push([stream, yield* this.#lines(stream, signal)])
      }
      if (this.#at.out + this.#at.err > before) continue
      const [stream, rest] = rests.find(([, bytes]) => bytes.length > 0) ?? []
      if (!stream || !rest) return
      this.#first = stream
      yield this.#chunk(stream, rest)
    }
  }

  /** Yields up to the last newline, returns the rest. A chunk without any newline is yielded whole. */
  async *#lines(stream: Stream, signal: AbortSignal): AsyncGenerator<LogChunk, Buffer> {
    yield* this.#tellLosses(stream)
    const start = this.#at[stream]
    let midLine = false
    while (!signal.aborted && (midLine || this.#at[stream] - start < turnBytesMax)) {
      const bytes = await this.#read(stream)
      const full = bytes.length === chunkBytesMax
      const end = bytes.lastIndexOf(newline) + 1
      midLine = full && end === 0
      if (bytes.length === 0 && (await this.#shrank(stream))) yield { gap: 'LOST', bytes: 0, next: this.#position() }
      else if (midLine) yield this.#chunk(stream, bytes)
      else if (end > 0) yield this.#chunk(stream, bytes.subarray(0, end))
      if (!full) return Buffer.from(bytes.subarray(end))
    }
    return Buffer.alloc(0)
  }

  async *#tellLosses(stream: Stream): AsyncGenerator<LogChunk> {
    const told = this.#at.told ?? { out: 0, err: 0 }
    const losses = this.#losses.filter((loss) => loss.stream === spoolNames[stream])
    for (const { gap, after, bytes } of losses.slice(told[stream])) {
      if (this.#at[stream] < (after ?? (await this.#handles[stream].stat()).size)) return
      told[stream] += 1
      this.#at.told = told
      yield { gap, bytes, next: this.#position() }
    }
  }

  /** A copy that later bytes do not change. */
  #position(): Position {
    const { out, err, told } = this.#at
    return { out, err, ...(told && { told: { ...told } }) }
  }

  #chunk(stream: Stream, bytes: Buffer): LogChunk {
    this.#at[stream] += bytes.length
    return { stream: streamNames[stream], bytes: Buffer.from(bytes), next: this.#position() }
  }

  /** The buffer is valid until the next call. */
  async #read(stream: Stream): Promise<Buffer> {
    const { bytesRead } = await this.#handles[stream].read(this.#scratch, 0, chunkBytesMax, this.#at[stream])
    return this.#scratch.subarray(0, bytesRead)
  }

  async #shrank(stream: Stream): Promise<boolean> {
    const { size } = await this.#handles[stream].stat()
    if (size >= this.#at[stream]) return false
    this.#at[stream] = 0
    return true
  }
}

async function openSpool(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (isMissingFile(error)) return null
    throw error
  }
}

function positionOf(position: unknown): Position {
  if (position === null) return { out: 0, err: 0 }
  const { out, err, told } = position as Partial<Position>
  if (!Number.isSafeInteger(out) || !Number.isSafeInteger(err))
    throw new Error(`Not a log position of the executor local: ${JSON.stringify(position)}`)
  return { out: Number(out), err: Number(err), ...(told && { told }) }
}
