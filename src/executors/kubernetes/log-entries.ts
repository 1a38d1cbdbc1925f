/**
 * The output of a pod as the kubelet gives it with `timestamps=true`: entries of `STAMP CONTENT`, one per write of the
 * container runtime. An entry ends with a line feed of the job, or, if the line was longer than the runtime's buffer or
 * went on later, with the stamp of the next entry.
 *
 * A stamp in the middle of a line may be one of the runtime if it is less than a day from that of the entry that it would
 * end: earlier as well, because stdout and stderr are stamped apart and written in any order. But a job may print such a
 * stamp itself. So it is a doubt until the same output without stamps shows whether the job wrote it (plain-output.ts).
 */

/** Content of one entry, or a piece of it. */
export interface Piece {
  at: string
  content: string
  /** The entry begins; further pieces of it follow. */
  isFirst: boolean
}

const stamp = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(?:Z|[+-]\d\d:\d\d) /g
const stampAtStart = new RegExp(`^${stamp.source}`)
/** What a stamp looks like, to see that the end of a piece may be the beginning of one. */
const shapes = ['Z ', '+00:00 ', '-00:00 '].map((zone) => `0000-00-00T00:00:00.000000000${zone}`)
const stampLengthMax = 36
const dayMs = 86_400_000
const beforeBytes = 64

/** A stamp in the middle of a line: of the runtime, or of the job. */
export interface Doubt {
  /** Bytes of content in front of it, since the first byte of the answer. */
  offset: number
  /** The last bytes in front of it. */
  before: string
  text: string
}

/** The kubelet sent other text than entries: a message of its own, such as that the log file is gone. */
export class ForeignText extends Error {
  override name = 'ForeignText'
}

/** Cuts what arrives into pieces of entries; `latin1` text, so a character is a byte. */
export class Entries {
  /** Nothing more is read until it is settled. */
  doubt: Doubt | null = null
  #rest = ''
  #at = ''
  #inLine = false
  #taken = 0
  #last = ''
  #isOfJob: boolean | null = null

  #begin(text: string): Piece {
    this.#at = text.slice(0, -1)
    this.#rest = this.#rest.slice(text.length)
    this.#inLine = true
    return { at: this.#at, content: '', isFirst: true }
  }

  #take(length: number): Piece {
    const content = this.#rest.slice(0, length)
    this.#rest = this.#rest.slice(length)
    this.#taken += length
    this.#last = (this.#last + content.slice(-beforeBytes)).slice(-beforeBytes)
    return { at: this.#at, content, isFirst: false }
  }

  add(arrived: Buffer): void {
    this.#rest += arrived.toString('latin1')
  }

  settle(isOfJob: boolean): void {
    this.doubt = null
    this.#isOfJob = isOfJob
  }

  /** Pieces of what was added, up to its end or to a doubt. */
  *read(): Generator<Piece> {
    while (this.#rest !== '') {
      const piece = this.#inLine ? this.#goOn() : this.#enter()
      if (!piece) return
      yield piece
    }
  }

  #enter(): Piece | null {
    const found = this.#rest.match(stampAtStart)?.[0]
    if (found) return this.#begin(found)
    if (couldBecomeStamp(this.#rest)) return null
    throw new ForeignText(this.#rest.slice(0, 500))
  }

  #goOn(): Piece | null {
    const end = this.#rest.indexOf('\n') + 1
    const line = end > 0 ? this.#rest.slice(0, end) : this.#rest
    const cut = this.#nextStamp(line)
    if (cut) return cut.index > 0 ? this.#take(cut.index) : this.#atStamp(cut.text)
    if (end > 0) {
      this.#inLine = false
      return this.#take(end)
    }
    const length = line.length - heldBack(line)
    return length > 0 ? this.#take(length) : null
  }

  #atStamp(text: string): Piece | null {
    const isOfJob = this.#isOfJob
    this.#isOfJob = null
    if (isOfJob === null) {
      this.doubt = { offset: this.#taken, before: this.#last, text }
      return null
    }
    return isOfJob ? this.#take(text.length) : this.#begin(text)
  }

  /** What was held back because it could have been the beginning of a stamp. */
  *finish(): Generator<Piece> {
    if (this.#inLine && this.#rest !== '') yield this.#take(this.#rest.length)
  }

  #nextStamp(line: string): { index: number; text: string } | null {
    const sinceMs = Date.parse(this.#at)
    for (const { 0: text, index } of line.matchAll(stamp))
      if (Math.abs(Date.parse(text.trim()) - sinceMs) < dayMs) return { index, text }
    return null
  }
}

function couldBecomeStamp(text: string): boolean {
  if (text.length >= stampLengthMax) return false
  const shape = text.replaceAll(/\d/g, '0')
  return shapes.some((full) => full.startsWith(shape) && full.length > shape.length)
}

/** Length of the longest end of the text that a stamp could begin with. */
function heldBack(text: string): number {
  for (let length = Math.min(text.length, stampLengthMax - 1); length > 0; length--)
    if (couldBecomeStamp(text.slice(-length))) return length
  return 0
}
