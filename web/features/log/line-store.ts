import type { LogRowFragment, LogStream } from '../../generated/graphql.ts'
import { isMark } from './groups.ts'

export const allStreams: readonly LogStream[] = ['STDOUT', 'STDERR', 'SYSTEM']

export interface Line {
  number: number
  at: string
  stream: LogStream
  text: string
  /** true: the end of the line may be missing. */
  isOpen: boolean
}

interface Page {
  lines: (Line | undefined)[]
  bytes: number
  /** true: all lines of the page that exist were read. */
  isRead: boolean
}

export const linesPerPage = 500
const bytesMax = 64 * 1024 * 1024
/** Estimates the memory of a line: two bytes for a character, and the object. */
const estimateBytes = (text: string) => 2 * text.length + 120

export const toPageIndex = (number: number): number => Math.floor((number - 1) / linesPerPage)

/** A cache of lines by number, in pages. It drops the least recently used pages. */
export class LineStore {
  /** Pages by index, in the order of their last use. */
  readonly #pages = new Map<number, Page>()
  #bytes = 0
  /** true: a stored line begins or ends a group. */
  hasMarks = false

  line(number: number): Line | undefined {
    return this.#pages.get(toPageIndex(number))?.lines[(number - 1) % linesPerPage]
  }

  isRead(page: number): boolean {
    return this.#pages.get(page)?.isRead ?? false
  }

  markRead(page: number): void {
    this.use(page).isRead = true
  }

  /** Marks the page as used last. */
  use(index: number): Page {
    const page = this.#pages.get(index) ?? { lines: [], bytes: 0, isRead: false }
    this.#pages.delete(index)
    this.#pages.set(index, page)
    return page
  }

  /**
   * Adds rows. A row is a line or a part of one, with the number of the line; parts may have rows of other streams between
   * them. Rows of lines up to `openUpTo` continue stored lines. Other lines begin with their first part.
   */
  add(rows: readonly LogRowFragment[], openUpTo = 0): void {
    const begun = new Set<number>()
    for (const { number, at, stream, text, truncated } of rows) {
      const page = this.#pages.get(toPageIndex(number)) ?? this.use(toPageIndex(number))
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

  /** Drops pages until the others fit into `bytesMax`. Pages from `kept` on stay, because a live log grows there. */
  forget(kept: number): void {
    for (const index of this.#pages.keys()) {
      if (this.#bytes <= bytesMax) return
      if (index >= kept) continue
      this.drop(index)
    }
  }

  /** Drops a page. It is read again when it is shown. */
  drop(index: number): void {
    this.#bytes -= this.#pages.get(index)?.bytes ?? 0
    this.#pages.delete(index)
  }

  clear(): void {
    this.#pages.clear()
    this.#bytes = 0
  }
}
