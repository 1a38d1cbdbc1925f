import type { Client, RequestFailed } from '@berth-jobs/berth/client'
import {
  type JobFilter,
  type JobOrder,
  ListJobsDocument,
  type ListJobsQuery,
  ListUpdatesDocument,
  type ListUpdatesSubscription,
} from '../../../generated/graphql.ts'
import { createListeners } from '../../../ground/store.ts'
import { toFailure } from '../../../ground/to-failure.ts'
import type { JobRow, JobStore } from './job-store.ts'
import { ListWindow } from './list-window.ts'
import { toEntry } from './order.ts'

export interface ListView {
  /** Ids of the jobs, in the order of the list. */
  ids: readonly string[]
  /** Jobs that no longer match the filter, or were deleted. They stay, dimmed, until the changes are applied. */
  departed: ReadonlySet<string>
  /** Number of arrivals, departures and moves that are not shown yet. */
  changes: number
  isLoading: boolean
  /** More jobs exist before the first row. */
  hasBefore: boolean
  /** More jobs exist after the last row. */
  hasMore: boolean
  failure: RequestFailed | null
}

export const emptyView: ListView = {
  ids: [],
  departed: new Set(),
  changes: 0,
  isLoading: true,
  hasBefore: false,
  hasMore: false,
  failure: null,
}

export interface JobListOptions {
  client: Pick<Client, 'request' | 'subscribe'>
  store: JobStore
  filter: JobFilter
  order: JobOrder
  /** true: reads from the end of the list. */
  fromEnd?: boolean
  /** Calls a function before the next frame. */
  schedule: (run: () => void) => void
}

type Page = ListJobsQuery['jobs']

const rowsPerPage = 100
export const rowsMax = 3_000
const forever = Number.POSITIVE_INFINITY

/**
 * A live list of the jobs that match a filter. Cells change at once. Arrivals, departures and moves are shown later if the
 * list is held: the pointer is over it, rows are selected, or a menu is open.
 */
export class JobList {
  readonly #options: JobListOptions
  readonly #listeners = createListeners()
  /** The scroll position, and the id of the focused row. */
  readonly place: { top: number; focusedId: string | null } = { top: 0, focusedId: null }
  #leave = new AbortController()
  readonly #window: ListWindow
  #view: ListView = emptyView
  /** Ids of rows that are being read again. */
  readonly #filling = new Set<string>()
  /** The cursor from which the stream continues; null: nothing was read yet. */
  #asOf: string | null = null
  /** Cursors before the first and after the last row. */
  #cursors: { start: string | null; end: string | null } = { start: null, end: null }
  #isHeld = false
  #isReading = false
  #isRefreshing = false
  /** true: messages were lost while the list was held. */
  #hasLostMessages = false
  #messages: ListUpdatesSubscription['jobUpdates'][] = []

  constructor(options: JobListOptions) {
    this.#options = options
    this.#window = new ListWindow(options.order)
  }

  get isFromEnd(): boolean {
    return this.#options.fromEnd ?? false
  }

  readonly view = (): ListView => this.#view

  readonly subscribe = this.#listeners.add

  /** Starts the list, or resumes a stopped list where it stopped. */
  start(): void {
    this.#leave = new AbortController()
    this.#run().catch((error: unknown) => this.#fail(error))
  }

  stop(): void {
    this.#leave.abort()
    this.#listeners.clear()
    this.#messages = []
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    if (isHeld) return
    if (this.#view.changes > 0) this.apply()
    if (this.#hasLostMessages) void this.#readAgain()
  }

  /** Shows the pending arrivals, departures and moves. */
  apply(): void {
    this.#window.apply()
    this.#show()
  }

  /** Reads the page after the last row. */
  loadMore(): Promise<void> {
    return this.#view.hasMore ? this.#extend('AFTER') : Promise.resolve()
  }

  /** Reads the page before the first row. */
  loadBefore(): Promise<void> {
    return this.#view.hasBefore ? this.#extend('BEFORE') : Promise.resolve()
  }

  async #extend(side: 'AFTER' | 'BEFORE') {
    if (this.#isReading) return
    this.#isReading = true
    const { start, end } = this.#cursors
    try {
      const page = await this.#readPage(
        side === 'AFTER' ? { first: rowsPerPage, after: end } : { last: rowsPerPage, before: start },
      )
      this.#addPage(page, side)
      this.#show({ failure: null })
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#isReading = false
    }
  }

  /**
   * Reads the first rows again after an outage, because the stream takes longer to replay what was missed. Does nothing if
   * a read is running, because that one is retried. `count`: number of rows, at most a page.
   */
  async refresh(count = rowsPerPage): Promise<void> {
    if (this.#view.isLoading || this.#window.hasBefore) return
    // After lost messages it reads again, because a running read may have begun before the loss.
    if (this.#isRefreshing && !this.#hasLostMessages) return
    this.#isRefreshing = true
    const { store, order } = this.#options
    const known = new Map(this.#window.ids.map((id) => [id, store.get(id)?.version]))
    try {
      const page = await this.#readPage({ first: Math.min(count, rowsPerPage) })
      const rows = this.#takeRows(page)
      const last = page.nodes.at(-1)
      const end = page.pageInfo.hasNextPage && last ? toEntry(last, order) : null
      this.#window.refresh(rows, end, (id) => store.get(id)?.version === known.get(id))
      this.#window.endRead()
      this.#showChanges()
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#isRefreshing = false
    }
  }

  /** Reads the visible rows whose data was dropped, and drops the data of rows far away. */
  show(from: number, to: number): void {
    const { store } = this.#options
    const { ids } = this.#view
    if (store.size > rowsMax) {
      const near = ids.slice(Math.max(0, from - rowsMax / 3), to + rowsMax / 3)
      store.keepOnly(new Set([...near, ...this.#window.arrivalIds()]))
    }
    const missing = ids.slice(from, to).filter((id) => !store.get(id) && !this.#filling.has(id))
    if (missing.length > 0) void this.#fill(missing.slice(0, rowsPerPage), forever)
  }

  /**
   * Reads visible waiting jobs again, because their position, reasons and estimate change without an event of the job. It
   * is called every few seconds, so it does not retry.
   */
  refreshWaiting(from: number, to: number): void {
    if (this.#isRefreshing) return
    const { store } = this.#options
    const waiting = this.#view.ids
      .slice(from, to)
      .filter((id) => store.get(id)?.stateCategory === 'WAITING' && !this.#filling.has(id))
    if (waiting.length > 0) void this.#fill(waiting.slice(0, rowsPerPage), 1)
  }

  async #fill(ids: readonly string[], attempts: number) {
    const { client, store } = this.#options
    for (const id of ids) this.#filling.add(id)
    try {
      const variables = { first: rowsPerPage, filter: { ids: [...ids] } }
      const { jobs } = await client.request(ListJobsDocument, variables, {
        attempts,
        signal: this.#leave.signal,
      })
      for (const row of jobs.nodes) store.put(row)
      const found = new Set(jobs.nodes.map(({ id }) => id))
      const gone = ids.filter((id) => !found.has(id))
      for (const id of gone) this.#window.remove(id, forever)
      if (gone.length > 0) this.#showChanges()
    } catch (error) {
      if (attempts > 1) this.#fail(error)
    } finally {
      for (const id of ids) this.#filling.delete(id)
    }
  }

  get #firstPart() {
    return this.isFromEnd ? { last: rowsPerPage } : { first: rowsPerPage }
  }

  async #run() {
    const { client, filter } = this.#options
    const { signal } = this.#leave
    if (this.#asOf === null) {
      const first = await this.#readPage(this.#firstPart)
      this.#restart(first)
      this.#asOf = first.asOf
    }
    const variables = { filter, after: this.#asOf }
    for await (const { jobUpdates } of client.subscribe(ListUpdatesDocument, variables, { signal })) {
      this.#messages.push(jobUpdates)
      if (this.#messages.length === 1) this.#options.schedule(() => this.#receive())
    }
  }

  /** Replaces the list by a page. */
  #restart(page: Page) {
    this.#window.clear()
    this.#addPage(page, 'AFTER')
    this.#addBounds(page, 'BEFORE')
    this.#show({ isLoading: false, failure: null })
  }

  async #readPage(part: { first?: number; after?: string | null; last?: number; before?: string | null }) {
    const { client, filter, order } = this.#options
    const orderBy: JobOrder = { field: order.field, direction: order.direction }
    this.#window.beginRead()
    try {
      const { jobs } = await client.request(
        ListJobsDocument,
        { ...part, filter, orderBy },
        { attempts: forever, signal: this.#leave.signal },
      )
      return jobs
    } catch (error) {
      this.#window.endRead()
      throw error
    }
  }

  #takeRows({ nodes }: Page) {
    const { store, order } = this.#options
    for (const row of nodes) store.put(row)
    return nodes.map((row) => ({
      entry: toEntry(row, order),
      version: row.version,
      now: toEntry(store.get(row.id) ?? row, order),
    }))
  }

  #addPage(page: Page, side: 'AFTER' | 'BEFORE') {
    const rows = this.#takeRows(page)
    this.#addBounds(page, side)
    this.#window.add(rows, side)
    this.#window.endRead()
  }

  #addBounds({ nodes, pageInfo }: Page, side: 'AFTER' | 'BEFORE') {
    const isEnd = side === 'AFTER' ? !pageInfo.hasNextPage : !pageInfo.hasPreviousPage
    const row = side === 'AFTER' ? nodes.at(-1) : nodes[0]
    this.#window.setBound(side, isEnd || !row ? null : toEntry(row, this.#options.order))
    if (side === 'AFTER') this.#cursors = { ...this.#cursors, end: pageInfo.endCursor ?? this.#cursors.end }
    else this.#cursors = { ...this.#cursors, start: pageInfo.startCursor ?? this.#cursors.start }
  }

  /** Processes all messages that arrived since the last frame. */
  #receive() {
    if (this.#leave.signal.aborted) return
    const messages = this.#messages
    this.#messages = []
    let isReset = false
    for (const message of messages) {
      this.#asOf = message.cursor
      if (message.__typename === 'JobTransitions') this.#receiveJob(message.job, message.matches)
      else if (message.__typename === 'StreamReset' && message.resetReason === 'DELETED')
        this.#removeDeleted(message.jobIds)
      else if (message.__typename === 'StreamReset') isReset = true
    }
    if (isReset) void this.#readAgain()
    else this.#showChanges()
  }

  #removeDeleted(ids: readonly string[]) {
    for (const id of ids) this.#window.remove(id, forever)
    this.#options.store.noteChange()
  }

  #receiveJob(row: JobRow, matches: boolean) {
    const { store, order } = this.#options
    store.put(row)
    // The store has a newer row from another read. The message with that version follows.
    if ((store.get(row.id)?.version ?? 0) > row.version) return
    if (matches) this.#window.place(toEntry(row, order))
    else this.#window.remove(row.id, row.version)
  }

  /** Restarts the list after lost messages. A held list only refreshes its rows now, and restarts when it is released. */
  async #readAgain(): Promise<void> {
    this.#hasLostMessages = this.#isHeld
    if (this.#isHeld) return this.refresh()
    try {
      this.#restart(await this.#readPage(this.#firstPart))
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Shows the changes or, while the list is held, only their number. */
  #showChanges() {
    const { changes } = this.#window
    if (changes === 0 && this.#view.changes === 0) return
    if (this.#isHeld) {
      if (changes !== this.#view.changes || this.#window.departed.size !== this.#view.departed.size) this.#show()
    } else this.apply()
  }

  #show(change: Partial<ListView> = {}) {
    const { ids, departed, changes, hasBefore, hasMore } = this.#window
    this.#change({ ids, departed: new Set(departed), changes, hasBefore, hasMore, ...change })
  }

  #fail(error: unknown) {
    if (this.#leave.signal.aborted) return
    this.#change({ failure: toFailure(error), isLoading: false })
  }

  #change(change: Partial<ListView>) {
    this.#view = { ...this.#view, ...change }
    this.#listeners.call()
  }
}
