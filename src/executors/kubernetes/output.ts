import { Entries, type Piece } from './log-entries.ts'
import { PlainOutput } from './plain-output.ts'

/**
 * Finds a position in the output of a pod again, after a lost connection or a rotation of the log file. Stamps are not
 * always increasing: stdout and stderr are stamped separately, and clocks are set. So the first stamp identifies the
 * file, and a position consists of a stamp and the number of earlier entries with the same stamp.
 */

/** The position of the last byte read: byte `bytes` of the `seen`-th entry with the stamp `at`. */
export interface PodPosition {
  first: string
  at: string
  seen: number
  bytes: number
}

export const logBeginning: PodPosition = { first: '', at: '', seen: 0, bytes: 0 }

const chunkBytesMax = 65_536
/** Maximum number of entries between two equal stamps. */
const stampsKept = 1_000

export interface PodChunk {
  bytes: Buffer
  next: PodPosition
}

/**
 * MOVED: the position must be searched for in a response without `follow`. LOST: the position was rotated away, so the
 * whole file is new.
 */
type Resumed = PodChunk | 'MOVED' | 'LOST'

interface Answering {
  follows: boolean
  openPlain(): Promise<AsyncIterable<Buffer>>
}

export async function* readOutputAfter(
  answer: AsyncIterable<Buffer>,
  from: PodPosition,
  { follows, openPlain }: Answering,
): AsyncGenerator<Resumed> {
  const entries = new Entries()
  await using plain = new PlainOutput(openPlain)
  const place = new Place(from)
  for await (const arrived of answer) {
    entries.add(arrived)
    yield* place.take(entries.read())
    for (; entries.doubt !== null; yield* place.take(entries.read())) entries.settle(await plain.has(entries.doubt))
    if (follows && place.isElsewhere) return yield 'MOVED'
  }
  yield* place.take(entries.finish())
  if (place.isSearching && place.file !== '') yield 'LOST'
}

class Place {
  isSearching: boolean
  file = ''
  readonly #from: PodPosition
  readonly #counts = new Map<string, number>()
  #now = logBeginning
  #isAtFrom = false
  #collected: string[] = []
  #size = 0

  constructor(from: PodPosition) {
    this.#from = from
    this.isSearching = from.at !== ''
  }

  get isElsewhere(): boolean {
    return this.isSearching && this.file !== '' && this.file !== this.#from.first
  }

  *take(pieces: Iterable<Piece>): Generator<PodChunk> {
    for (const piece of pieces) {
      this.#pass(piece)
      if (this.#size >= chunkBytesMax) yield this.#flush()
    }
    if (this.#size > 0) yield this.#flush()
  }

  #pass({ at, content, isFirst }: Piece): void {
    if (isFirst) this.#enter(at)
    const { bytes } = this.#now
    this.#now = { ...this.#now, bytes: bytes + content.length }
    if (this.isSearching) return
    const known = this.#isAtFrom ? Math.max(0, this.#from.bytes - bytes) : 0
    const fresh = content.slice(known)
    if (fresh !== '') this.#collected.push(fresh)
    this.#size += fresh.length
  }

  #enter(at: string): void {
    if (this.file === '') this.file = at
    this.#now = { first: this.file, at, seen: this.#count(at), bytes: 0 }
    this.#isAtFrom = this.isSearching && at === this.#from.at && this.#now.seen === this.#from.seen
    if (this.#isAtFrom) this.isSearching = false
  }

  #count(at: string): number {
    const seen = (this.#counts.get(at) ?? 0) + 1
    this.#counts.delete(at)
    this.#counts.set(at, seen)
    const [oldest] = this.#counts.keys()
    if (this.#counts.size > stampsKept && oldest !== undefined) this.#counts.delete(oldest)
    return seen
  }

  #flush(): PodChunk {
    const bytes = Buffer.from(this.#collected.join(''), 'latin1')
    this.#collected = []
    this.#size = 0
    return { bytes, next: this.#now }
  }
}
