import type { Sql } from '../platform/tx.ts'
import { readStored, type Stored } from './stored.ts'

/** Bytes of a page: few enough to hold two for each reader. */
const pageBytes = 2_097_152
const pagesMax = 2

interface Page {
  from: number
  items: Promise<Stored[]>
}

/** The stored chunks of a run in pages, of which the next one is read while the last one is used. */
export class StoredPages {
  readonly #sql: Sql
  readonly runId: string
  readonly end: number
  #pages: Page[] = []

  constructor(sql: Sql, { runId, end }: { runId: string; end: number }) {
    this.#sql = sql
    this.runId = runId
    this.end = end
  }

  /** The page from the chunk on that holds this offset. */
  read(from: number): Promise<Stored[]> {
    const known = this.#pages.find((page) => page.from === from)
    if (known) return known.items
    const { runId, end } = this
    const items = readStored(this.#sql, { runId, from, end, bytes: pageBytes })
    // The reader awaits the same promise, and gets the error.
    items.catch(() => undefined)
    this.#pages = [...this.#pages.slice(1 - pagesMax), { from, items }]
    return items
  }

  /** Begins to read the page after this one. */
  readAhead(items: readonly Stored[]): void {
    const next = items.at(-1)?.end
    if (next !== undefined && next < this.end) void this.read(next)
  }

  /** The chunk that begins here. */
  async findChunk(start: number): Promise<Stored | undefined> {
    for (const { items } of this.#pages) {
      const found = (await items).find((item) => item.start === start)
      if (found) return found
    }
    return (await this.read(start))[0]
  }
}
