import type { Sql } from '../platform/tx.ts'
import { readStoredChunks, type Stored } from './stored.ts'

/** Size of a page, small enough to keep two of them for each reader. */
const pageBytes = 2_097_152
const pagesMax = 2

interface Page {
  from: number
  items: Promise<Stored[]>
}

/** The stored chunks of a run in pages. The next page is read while the current one is used. */
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

  /** Reads the page that begins with the chunk that contains `from`. */
  read(from: number): Promise<Stored[]> {
    const known = this.#pages.find((page) => page.from === from)
    if (known) return known.items
    const { runId, end } = this
    const items = readStoredChunks(this.#sql, { runId, from, end, bytes: pageBytes })
    // The reader awaits the same promise and gets the error.
    items.catch(() => undefined)
    this.#pages = [...this.#pages.slice(1 - pagesMax), { from, items }]
    return items
  }

  /** Starts to read the next page. */
  readAhead(items: readonly Stored[]): void {
    const next = items.at(-1)?.end
    if (next !== undefined && next < this.end) void this.read(next)
  }

  async findChunk(start: number): Promise<Stored | undefined> {
    for (const { items } of this.#pages) {
      const found = (await items).find((item) => item.start === start)
      if (found) return found
    }
    return (await this.read(start))[0]
  }
}
