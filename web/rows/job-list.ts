import { type Client, RequestFailed } from '@berth-jobs/berth/client'
import {
  type JobFilter,
  type JobOrder,
  ListJobsDocument,
  ListUpdatesDocument,
  type ListUpdatesSubscription,
} from '../generated/graphql.ts'
import type { JobRow, JobStore } from './job-store.ts'
import { compareEntries, type Entry, type ListOrder, mergeArrivals, toEntry } from './order.ts'

export interface ListView {
  /** Ids of the jobs, in the order of the list. */
  ids: readonly string[]
  /** Jobs that left the filter or were deleted; they stay, dimmed, until the changes are applied. */
  departed: ReadonlySet<string>
  /** Arrivals, departures and moves that wait. */
  changes: number
  isLoading: boolean
  hasMore: boolean
  totalCount: number | null
  failure: RequestFailed | null
}

export interface JobListOptions {
  client: Pick<Client, 'request' | 'subscribe'>
  store: JobStore
  filter: JobFilter
  order: ListOrder
  /** Runs a function before the next picture. */
  schedule: (run: () => void) => void
}

const rowsPerPage = 100
export const rowsMax = 3_000

/**
 * The jobs of one filter, live. Cells change at once. Arrivals, departures and moves wait while the list is held: a
 * pointer is over it, rows are selected or a menu is open.
 */
export class JobList {
  readonly #options: JobListOptions
  readonly #listeners = new Set<() => void>()
  readonly #arrivals = new Set<string>()
  /** The place of every job of the list, also of those whose rows are forgotten. */
  readonly #entries = new Map<string, Entry>()
  readonly #leave = new AbortController()
  #view: ListView = {
    ids: [],
    departed: new Set(),
    changes: 0,
    isLoading: true,
    hasMore: false,
    totalCount: null,
    failure: null,
  }
  /** Ids of forgotten rows that are being read. */
  readonly #filling = new Set<string>()
  #endCursor: string | null = null
  #isHeld = false
  #isReading = false
  #messages: ListUpdatesSubscription['jobUpdates'][] = []

  constructor(options: JobListOptions) {
    this.#options = options
  }

  readonly view = (): ListView => this.#view

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  start(): void {
    this.#run().catch((error: unknown) => {
      if (!this.#leave.signal.aborted) this.#change({ failure: toFailure(error), isLoading: false })
    })
  }

  stop(): void {
    this.#leave.abort()
    this.#listeners.clear()
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    if (!isHeld && this.#view.changes > 0) this.apply()
  }

  /** Shows the changes that waited. */
  apply(): void {
    const { ids, departed, hasMore } = this.#view
    const staying = ids.filter((id) => !departed.has(id))
    const next = mergeArrivals({
      entries: this.#entriesOf(staying),
      arrivals: this.#entriesOf([...this.#arrivals]),
      order: this.#options.order,
      isWhole: !hasMore,
    })
    for (const id of departed) this.#entries.delete(id)
    this.#arrivals.clear()
    this.#change({ ids: next.map(({ id }) => id), departed: new Set(), changes: 0 })
  }

  /** Reads the page after the last one. */
  async loadMore(): Promise<void> {
    if (this.#isReading || !this.#view.hasMore) return
    this.#isReading = true
    try {
      const { nodes, pageInfo } = await this.#readPage(this.#endCursor)
      const known = new Set(this.#view.ids)
      const more = nodes.filter(({ id }) => !known.has(id)).map(({ id }) => id)
      for (const id of more) this.#arrivals.delete(id)
      this.#endCursor = pageInfo.endCursor
      this.#change({ ids: [...this.#view.ids, ...more], hasMore: pageInfo.hasNextPage, failure: null })
    } catch (error) {
      if (!this.#leave.signal.aborted) this.#change({ failure: toFailure(error) })
    } finally {
      this.#isReading = false
    }
  }

  /** Keeps the rows around those in sight, and reads them again where they were forgotten. */
  show(from: number, to: number): void {
    const { store } = this.#options
    const { ids } = this.#view
    if (store.size > rowsMax) {
      const near = ids.slice(Math.max(0, from - rowsMax / 3), to + rowsMax / 3)
      store.keepOnly(new Set([...near, ...this.#arrivals]))
    }
    const missing = ids.slice(from, to).filter((id) => !store.get(id) && !this.#filling.has(id))
    if (missing.length > 0) void this.#fill(missing.slice(0, rowsPerPage))
  }

  async #fill(ids: readonly string[]) {
    const { client } = this.#options
    for (const id of ids) this.#filling.add(id)
    const variables = { first: rowsPerPage, filter: { ids: [...ids] } }
    await client
      .request(ListJobsDocument, variables, { attempts: Number.POSITIVE_INFINITY, signal: this.#leave.signal })
      .then(
        ({ jobs }) => jobs.nodes.forEach((row) => void this.#put(row)),
        (error: unknown) => !this.#leave.signal.aborted && this.#change({ failure: toFailure(error) }),
      )
    for (const id of ids) this.#filling.delete(id)
  }

  async #run() {
    const { client, filter } = this.#options
    const { signal } = this.#leave
    const first = await this.#readFirst()
    const variables = { filter, after: first.asOf }
    for await (const { jobUpdates } of client.subscribe(ListUpdatesDocument, variables, { signal })) {
      this.#messages.push(jobUpdates)
      if (this.#messages.length === 1) this.#options.schedule(() => this.#receive())
    }
  }

  async #readFirst() {
    const page = await this.#readPage(null)
    this.#endCursor = page.pageInfo.endCursor
    this.#arrivals.clear()
    this.#change({
      ids: page.nodes.map(({ id }) => id),
      departed: new Set(),
      changes: 0,
      hasMore: page.pageInfo.hasNextPage,
      totalCount: page.totalCount,
      isLoading: false,
      failure: null,
    })
    return page
  }

  async #readPage(after: string | null) {
    const { client, filter, order } = this.#options
    const orderBy: JobOrder = { field: order.field, direction: order.direction }
    const { jobs } = await client.request(
      ListJobsDocument,
      { first: rowsPerPage, after, filter, orderBy },
      { attempts: Number.POSITIVE_INFINITY, signal: this.#leave.signal },
    )
    for (const row of jobs.nodes) this.#put(row)
    return jobs
  }

  /** Takes all messages that arrived since the last picture. */
  #receive() {
    if (this.#leave.signal.aborted) return
    const messages = this.#messages
    this.#messages = []
    const shown = new Set(this.#view.ids)
    const departed = new Set(this.#view.departed)
    let isReset = false
    for (const message of messages) {
      if (message.__typename === 'JobTransitions') this.#receiveJob(message.job, message.matches, { shown, departed })
      else if (message.__typename === 'StreamReset' && message.resetReason === 'DELETED')
        for (const id of message.jobIds) this.#remove(id, { shown, departed })
      else if (message.__typename === 'StreamReset') isReset = true
    }
    if (isReset) return void this.#readFirst().catch(console.warn)
    const changes = this.#arrivals.size + departed.size
    if (changes === this.#view.changes && departed.size === this.#view.departed.size) return
    this.#change({ departed, changes })
    if (!this.#isHeld) this.apply()
  }

  #receiveJob(row: JobRow, matches: boolean, { shown, departed }: Seen) {
    this.#put(row)
    if (!matches) return this.#remove(row.id, { shown, departed })
    departed.delete(row.id)
    if (!shown.has(row.id) && this.#isInWindow(row)) this.#arrivals.add(row.id)
  }

  #remove(id: string, { shown, departed }: Seen) {
    this.#arrivals.delete(id)
    if (shown.has(id)) departed.add(id)
  }

  /** false: the row belongs behind the last row that was read. */
  #isInWindow(row: JobRow): boolean {
    const { order } = this.#options
    const last = this.#entries.get(this.#view.ids.at(-1) ?? '')
    return !this.#view.hasMore || last === undefined || compareEntries(order)(toEntry(row, order), last) < 0
  }

  #entriesOf(ids: readonly string[]): Entry[] {
    return ids.flatMap((id) => this.#entries.get(id) ?? [])
  }

  #put(row: JobRow) {
    const { store, order } = this.#options
    store.put(row)
    const newest = store.get(row.id) ?? row
    this.#entries.set(row.id, toEntry(newest, order))
  }

  #change(change: Partial<ListView>) {
    this.#view = { ...this.#view, ...change }
    for (const listener of this.#listeners) listener()
  }
}

interface Seen {
  shown: ReadonlySet<string>
  departed: Set<string>
}

const toFailure = (error: unknown): RequestFailed =>
  error instanceof RequestFailed ? error : new RequestFailed('INTERNAL', String(error))
