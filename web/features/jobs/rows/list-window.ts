import type { JobOrder } from '../../../generated/graphql.ts'
import { type Compare, compareEntries, type Entry, mergeEntries } from './order.ts'

export type Side = 'AFTER' | 'BEFORE'

interface PageRow {
  /** The sort key that the row had in the page. */
  entry: Entry
  version: number
  /** The sort key of the newest known version of the row. */
  now: Entry
}

/**
 * A contiguous part of a list: the shown entries, and the pending arrivals, departures and moves. While a page is being
 * read, changes from the stream may be newer than the page, so they are stored and applied to the page.
 */
export class ListWindow {
  readonly departed = new Set<string>()
  readonly #arrivals = new Map<string, Entry>()
  readonly #moves = new Map<string, Entry>()
  readonly #compare: Compare
  #entries: readonly Entry[] = []
  #ids: readonly string[] = []
  #shown = new Map<string, Entry>()
  /** null: the window reaches the end of the list. */
  #bounds: Record<Side, Entry | null> = { AFTER: null, BEFORE: null }
  #reads = 0
  /** Since the oldest running read: versions of jobs that left the list, and entries outside of the window. */
  readonly #left = new Map<string, number>()
  readonly #outside = new Map<string, Entry>()

  constructor(order: JobOrder) {
    this.#compare = compareEntries(order)
  }

  get ids(): readonly string[] {
    return this.#ids
  }

  get changes(): number {
    return this.#arrivals.size + this.departed.size + this.#moves.size
  }

  get hasMore(): boolean {
    return this.#bounds.AFTER !== null
  }

  get hasBefore(): boolean {
    return this.#bounds.BEFORE !== null
  }

  arrivalIds(): Iterable<string> {
    return this.#arrivals.keys()
  }

  clear(): void {
    for (const each of [this.departed, this.#arrivals, this.#moves, this.#shown]) each.clear()
    this.#setEntries([])
    this.#bounds = { AFTER: null, BEFORE: null }
  }

  setBound(side: Side, entry: Entry | null): void {
    this.#bounds[side] = entry
  }

  beginRead(): void {
    this.#reads++
  }

  endRead(): void {
    this.#reads--
    if (this.#reads > 0) return
    this.#left.clear()
    this.#outside.clear()
  }

  /** Adds a page of rows at the end (AFTER) or the start (BEFORE) of the window. Call `setBound` first. */
  add(rows: readonly PageRow[], side: Side): void {
    const added: Entry[] = []
    for (const { entry, version, now } of rows) {
      if (this.#shown.has(entry.id) || (this.#left.get(entry.id) ?? -1) >= version) continue
      this.#arrivals.delete(entry.id)
      this.#shown.set(entry.id, entry)
      added.push(entry)
      if (now.key !== entry.key) this.#moves.set(entry.id, now)
    }
    this.#setEntries(side === 'AFTER' ? [...this.#entries, ...added] : [...added, ...this.#entries])
    for (const entry of this.#outside.values()) this.place(entry)
  }

  /**
   * Merges `rows`, the current first rows of the list up to `end`; null: the whole list. A shown job that is missing from
   * them departs only if `isUnchanged`: no newer version arrived since the request.
   */
  refresh(rows: readonly PageRow[], end: Entry | null, isUnchanged: (id: string) => boolean): void {
    const found = new Set(rows.map(({ entry }) => entry.id))
    for (const { now, version } of rows) if ((this.#left.get(now.id) ?? -1) < version) this.place(now)
    for (const entry of this.#entries) {
      const isCovered = end === null || this.#compare(entry, end) <= 0
      if (!isCovered || found.has(entry.id) || !isUnchanged(entry.id)) continue
      this.#moves.delete(entry.id)
      this.departed.add(entry.id)
    }
  }

  /** Adds or moves a job that matches the filter. */
  place(entry: Entry): void {
    const { id } = entry
    this.#left.delete(id)
    this.departed.delete(id)
    const shown = this.#shown.get(id)
    const isInside = this.#isInside(entry)
    if (!isInside && this.#reads > 0) this.#outside.set(id, entry)
    if (shown?.key === entry.key) this.#moves.delete(id)
    else if (shown) this.#moves.set(id, entry)
    else if (isInside) this.#arrivals.set(id, entry)
    else this.#arrivals.delete(id)
  }

  /** Removes a job that left the list with this version. */
  remove(id: string, version: number): void {
    this.#arrivals.delete(id)
    this.#moves.delete(id)
    this.#outside.delete(id)
    if (this.#reads > 0) this.#left.set(id, version)
    if (this.#shown.has(id)) this.departed.add(id)
  }

  /** Shows the pending arrivals, departures and moves. */
  apply(): void {
    if (this.changes === 0) return
    const incoming = [...this.#arrivals.values(), ...this.#moves.values()].filter((entry) => this.#isInside(entry))
    const isLeaving = (id: string) => this.departed.has(id) || this.#moves.has(id)
    const staying =
      this.departed.size + this.#moves.size > 0 ? this.#entries.filter(({ id }) => !isLeaving(id)) : this.#entries
    for (const id of [...this.departed, ...this.#moves.keys()]) this.#shown.delete(id)
    for (const entry of incoming) this.#shown.set(entry.id, entry)
    for (const each of [this.departed, this.#arrivals, this.#moves]) each.clear()
    this.#setEntries(mergeEntries(staying, incoming.toSorted(this.#compare), this.#compare))
  }

  #isInside(entry: Entry): boolean {
    const { AFTER, BEFORE } = this.#bounds
    return (
      (AFTER === null || this.#compare(entry, AFTER) <= 0) && (BEFORE === null || this.#compare(entry, BEFORE) >= 0)
    )
  }

  #setEntries(entries: readonly Entry[]) {
    this.#entries = entries
    this.#ids = entries.map(({ id }) => id)
  }
}
