import type { LogRowFragment, LogStream } from '../../generated/graphql.ts'
import { isMark } from './groups.ts'

export const allStreams: readonly LogStream[] = ['STDOUT', 'STDERR', 'SYSTEM']

export interface Line {
  number: number
  at: string
  stream: LogStream
  text: string
  /** The line may go on. */
  isOpen: boolean
}

interface Page {
  lines: (Line | undefined)[]
  bytes: number
  /** All its lines up to the end of the log were read. */
  isRead: boolean
}

export const linesPerPage = 500
const bytesMax = 64 * 1024 * 1024
/** Two bytes for a character, and the object. */
const estimateBytes = (text: string) => 2 * text.length + 120

export const pageOf = (number: number): number => Math.floor((number - 1) / linesPerPage)

/** Lines by number, in pages. The pages that were not used for longest are forgotten. */
export class LineStore {
  /** In the order of their last use. */
  readonly #pages = new Map<number, Page>()
  #bytes = 0
  /** A line that was read begins or ends a group. */
  hasMarks = false

  line(number: number): Line | undefined {
    return this.#pages.get(pageOf(number))?.lines[(number - 1) % linesPerPage]
  }

  isRead(page: number): boolean {
    return this.#pages.get(page)?.isRead ?? false
  }

  markRead(page: number): void {
    this.use(page).isRead = true
  }

  /** Keeps the page longer than others. */
  use(index: number): Page {
    const page = this.#pages.get(index) ?? { lines: [], bytes: 0, isRead: false }
    this.#pages.delete(index)
    this.#pages.set(index, page)
    return page
  }

  /**
   * Parts of a line have its number; lines of other streams may come between. Rows of lines up to `openUpTo` go on with the
   * known ones, others begin with the start of their line.
   */
  add(rows: readonly LogRowFragment[], openUpTo = 0): void {
    const begun = new Set<number>()
    for (const { number, at, stream, text, truncated } of rows) {
      const page = this.#pages.get(pageOf(number)) ?? this.use(pageOf(number))
      const place = (number - 1) % linesPerPage
      const known = page.lines[place]
      const isPart = known?.isOpen && (number <= openUpTo || begun.has(number))
      const line = isPart
        ? { ...known, text: known.text + text, isOpen: truncated }
        : { number, at, stream, text, isOpen: truncated }
      if (truncated) begun.add(number)
      page.lines[place] = line
      this.hasMarks ||= isMark(line.text)
      const bytes = estimateBytes(line.text) - (known ? estimateBytes(known.text) : 0)
      page.bytes += bytes
      this.#bytes += bytes
    }
  }

  /** Forgets pages until the others fit. Pages from `kept` on stay: the end of a live log grows. */
  forget(kept: number): void {
    for (const index of this.#pages.keys()) {
      if (this.#bytes <= bytesMax) return
      if (index >= kept) continue
      this.drop(index)
    }
  }

  /** Forgets one page, which is read again when it is looked at. */
  drop(index: number): void {
    this.#bytes -= this.#pages.get(index)?.bytes ?? 0
    this.#pages.delete(index)
  }

  clear(): void {
    this.#pages.clear()
    this.#bytes = 0
  }
}
