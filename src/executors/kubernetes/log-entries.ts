/**
 * Parses the output of a pod read with `timestamps=true`: entries of the form `STAMP CONTENT`, one per write of the
 * container runtime. An entry ends with a line feed of the job. If the line is long or continues later, it ends at the
 * stamp of the next entry instead.
 *
 * A stamp in the middle of a line is ambiguous if it is within a day of the stamp of its entry: it may be the
 * runtime's, since stdout and stderr are stamped separately, or the job may have printed it. The same output without
 * stamps decides (plain-output.ts).
 */

export interface Piece {
  at: string
  content: string
  /** true: the first piece of the entry; more pieces may follow. */
  isFirst: boolean
}

const stamp = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(?:Z|[+-]\d\d:\d\d) /g
const stampAtStart = new RegExp(`^${stamp.source}`)
/** Possible formats of a stamp, to recognise an incomplete stamp at the end of a piece. */
const shapes = ['Z ', '+00:00 ', '-00:00 '].map((zone) => `0000-00-00T00:00:00.000000000${zone}`)
const stampLengthMax = 36
const dayMs = 86_400_000
const beforeBytes = 64

export interface Doubt {
  /** Bytes of content before the stamp, counted from the beginning of the response. */
  offset: number
  before: string
  text: string
}

/** The kubelet sent a message instead of output, such as that the log file is gone. */
export class KubeletMessage extends Error {
  override name = 'KubeletMessage'
}

/** Divides the response into pieces of entries. Texts are latin1, so a character is a byte. */
export class Entries {
  /** An ambiguous stamp; reading stops until it is resolved. */
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
    throw new KubeletMessage(this.#rest.slice(0, 500))
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

  /** Yields text that was held back because it might have been the beginning of a stamp. */
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

function heldBack(text: string): number {
  for (let length = Math.min(text.length, stampLengthMax - 1); length > 0; length--)
    if (couldBecomeStamp(text.slice(-length))) return length
  return 0
}
