/**
 * The output of a pod as the kubelet gives it with `timestamps=true`: entries of `STAMP CONTENT`, one per write of the
 * container runtime. An entry ends with a line feed of the job, or, if the line was longer than the runtime's buffer or
 * went on later, with the stamp of the next entry.
 *
 * A stamp in the middle of a line is one of the runtime if it is not earlier than the entry that it would end, and less
 * than a day later. A job that prints such a stamp itself, in nanoseconds and of its own future, loses these bytes.
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

/** The kubelet sent other text than entries: a message of its own, such as that the log file is gone. */
export class ForeignText extends Error {
  override name = 'ForeignText'
}

/** Cuts what arrives into pieces of entries; `latin1` text, so a character is a byte. */
export class Entries {
  #rest = ''
  #at = ''
  #inLine = false

  #begin(text: string): Piece {
    this.#at = text.slice(0, -1)
    this.#rest = this.#rest.slice(text.length)
    this.#inLine = true
    return { at: this.#at, content: '', isFirst: true }
  }

  #take(length: number): Piece {
    const content = this.#rest.slice(0, length)
    this.#rest = this.#rest.slice(length)
    return { at: this.#at, content, isFirst: false }
  }

  *read(arrived: Buffer): Generator<Piece> {
    this.#rest += arrived.toString('latin1')
    while (this.#rest !== '') {
      if (!this.#inLine) {
        const found = this.#rest.match(stampAtStart)?.[0]
        if (!found && couldBecomeStamp(this.#rest)) return
        if (!found) throw new ForeignText(this.#rest.slice(0, 500))
        yield this.#begin(found)
      }
      const end = this.#rest.indexOf('\n') + 1
      const line = end > 0 ? this.#rest.slice(0, end) : this.#rest
      const cut = this.#nextStamp(line)
      if (cut) {
        yield this.#take(cut.index)
        yield this.#begin(cut.text)
      } else if (end > 0) {
        yield this.#take(end)
        this.#inLine = false
      } else {
        yield this.#take(line.length - heldBack(line))
        return
      }
    }
  }

  /** What was held back because it could have been the beginning of a stamp. */
  *finish(): Generator<Piece> {
    if (this.#inLine && this.#rest !== '') yield this.#take(this.#rest.length)
  }

  #nextStamp(line: string): { index: number; text: string } | null {
    const sinceMs = Date.parse(this.#at)
    for (const { 0: text, index } of line.matchAll(stamp)) {
      const ms = Date.parse(text.trim())
      if (text.slice(0, -1) >= this.#at && ms - sinceMs < dayMs) return { index, text }
    }
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
