import type { Connection, TypedDocument } from '../connection/connection.ts'
import { RequestFailed } from '../connection/failure.ts'
import type { Resumable } from '../connection/resume.ts'
import { sleepFor } from '../connection/sleep.ts'
import { runUserCallback } from '../connection/user-callbacks.ts'
import {
  type JobFilter,
  type JobOrder,
  type LiveJobFragment,
  LiveJobsDocument,
  LiveJobUpdatesDocument,
  type LiveJobUpdatesSubscription,
} from '../generated/graphql.ts'
import { JobWindow, newestFirst } from './job-window.ts'

/**
 * A list of jobs that stays up to date: pages of `jobs`, then `jobUpdates` from their `asOf`. The stream runs while the
 * list has a subscriber. It loses nothing over cuts and restarts; after a reset the pages are read again.
 */

export interface LiveJobsOptions {
  filter?: JobFilter
  /** The order of the list. Default: newest first. */
  orderBy?: JobOrder
  /** The number of jobs at the beginning, and the number that `loadMore` adds. Default 50. */
  first?: number
}

export interface LiveJobsSnapshot {
  /** The jobs in order; empty before `isLoaded`. */
  jobs: readonly LiveJobFragment[]
  /** true: more jobs exist, and `loadMore` adds some. */
  hasMore: boolean
  isLoaded: boolean
  /** connecting: the jobs may be out of date. ended: the list was closed, or failed permanently. */
  state: 'connecting' | 'live' | 'ended'
  /** When `state` began, by the clock of the client. */
  since: Date
  /** Why the list is not live; null: it is live, or the reason is not known yet. */
  error: RequestFailed | null
}

/** A store for React: `useSyncExternalStore(jobs.subscribe, jobs.getSnapshot)`. */
export interface LiveJobs {
  getSnapshot(): LiveJobsSnapshot
  /** Calls the listener after changes, at most once per frame. The returned function unsubscribes. */
  subscribe(listener: () => void): () => void
  /** Adds the next jobs. Resolves when they are in the list. */
  loadMore(): Promise<void>
  close(): void
}

const firstDefault = 50
const pageJobsMax = 100
/** Maximum number of jobs that are kept but not shown. Above it, the pages are read again. */
const spareJobsMax = 1_000
const frameMs = 16
const pollMs = 1_000

interface ReadWindow {
  window: { jobs: JobWindow; cursor: string }
}
/** Messages of the stream or, while the client polls and at the beginning, whole windows. */
type Data = LiveJobUpdatesSubscription | ReadWindow
type Variables = Resumable & { filter: JobFilter | null }

export function createLiveJobs(connection: Connection, options: LiveJobsOptions = {}): LiveJobs {
  const list = new LiveList(connection, options)
  return {
    getSnapshot: () => list.snapshot(),
    subscribe: (listener) => list.subscribe(listener),
    loadMore: () => list.loadMore(),
    close: () => list.end(null),
  }
}

class LiveList {
  readonly #connection: Connection
  readonly #asked: { filter: JobFilter | null; orderBy: JobOrder }
  readonly #pageSize: number
  readonly #listeners = new Set<() => void>()
  #count: number
  #window: JobWindow | undefined
  #running: AbortController | undefined
  /** true: the window belongs to the running stream. */
  #isCurrent = false
  #isEnded = false
  #failure: RequestFailed | null = null
  #filling: Promise<void> | undefined
  #frame: ReturnType<typeof setTimeout> | undefined
  #snapshot: LiveJobsSnapshot | undefined
  #state: Pick<LiveJobsSnapshot, 'state' | 'since'> = { state: 'connecting', since: now() }

  constructor(connection: Connection, { filter, orderBy = newestFirst, first = firstDefault }: LiveJobsOptions) {
    this.#connection = connection
    this.#asked = { filter: filter ?? null, orderBy }
    this.#pageSize = first
    this.#count = first
  }

  snapshot(): LiveJobsSnapshot {
    this.#snapshot ??= {
      jobs: this.#window?.first(this.#count) ?? [],
      hasMore: this.#window !== undefined && (this.#window.hasNextPage || this.#window.size > this.#count),
      isLoaded: this.#window !== undefined,
      ...this.#state,
      error: this.#failure ?? this.#connection.outage(),
    }
    return this.#snapshot
  }

  subscribe(listener: () => void): () => void {
    const call = () => listener()
    this.#listeners.add(call)
    if (!this.#running && !this.#isEnded) this.#start()
    return () => {
      this.#listeners.delete(call)
      // React's strict mode subscribes again at once.
      setTimeout(() => this.#listeners.size > 0 || this.#stop())
    }
  }

  async loadMore(): Promise<void> {
    this.#count += this.#pageSize
    this.#changed()
    await this.#fill()
  }

  end(failure: RequestFailed | null): void {
    this.#isEnded = true
    this.#failure = failure
    this.#stop()
  }

  #start() {
    const running = new AbortController()
    this.#running = running
    const unlisten = this.#connection.onOutage(() => this.#changed())
    running.signal.addEventListener('abort', unlisten)
    const fails = (error: unknown) => {
      if (running.signal.aborted) return
      if (!(error instanceof RequestFailed)) throw error
      this.end(error)
    }
    void this.#run(running.signal).catch(fails)
    this.#changed()
  }

  #stop() {
    this.#isCurrent = false
    this.#running?.abort()
    this.#running = undefined
    this.#changed()
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (await this.#follow(signal));
    if (!signal.aborted) this.end(null)
  }

  /** Follows the stream. Returns true if the window must be read again. */
  async #follow(signal: AbortSignal): Promise<boolean> {
    const messages = this.#connection.subscribe<Data, Variables>(
      LiveJobUpdatesDocument as TypedDocument<Data, Variables>,
      { filter: this.#asked.filter },
      { signal, startsWithPoll: true, poll: (_variables, polling) => this.#poll(polling) },
    )
    for await (const message of messages) {
      if (signal.aborted) return false
      if ('window' in message) {
        this.#window = message.window.jobs
        this.#isCurrent = true
      } else {
        const { jobUpdates } = message
        if (jobUpdates.__typename === 'StreamReset' && jobUpdates.jobIds.length === 0) return true
        if (jobUpdates.__typename === 'StreamHeartbeat') continue
        this.#window?.apply(jobUpdates)
      }
      if ((this.#window?.size ?? 0) > this.#count + spareJobsMax) return true
      this.#changed()
      void this.#fill()
    }
    return false
  }

  async *#poll(signal: AbortSignal): AsyncGenerator<ReadWindow, void, void> {
    for (;;) {
      yield { window: await this.#readWindow(signal) }
      await sleepFor(pollMs, signal)
    }
  }

  async #readWindow(signal: AbortSignal): Promise<ReadWindow['window']> {
    const jobs = new JobWindow(this.#asked.orderBy)
    const { asOf } = await this.#readPage(jobs, signal)
    while (jobs.hasNextPage && jobs.size < this.#count) await this.#readPage(jobs, signal)
    return { jobs, cursor: asOf }
  }

  async #readPage(window: JobWindow, signal: AbortSignal, attempts = 1) {
    const first = Math.min(pageJobsMax, Math.max(1, this.#count - window.size))
    window.expectPage()
    const variables = { ...this.#asked, first, after: window.endCursor }
    const { jobs } = await this.#connection.request(LiveJobsDocument, variables, { signal, attempts })
    window.addPage(jobs)
    return jobs
  }

  /** Reads pages, one at a time, until the window has enough jobs. */
  #fill(): Promise<void> {
    this.#filling ??= this.#fillWindow().finally(() => {
      this.#filling = undefined
    })
    return this.#filling
  }

  async #fillWindow(): Promise<void> {
    for (;;) {
      const window = this.#window
      const signal = this.#running?.signal
      if (!window || !signal || !window.hasNextPage || window.size >= this.#count) return
      try {
        await this.#readPage(window, signal, Number.POSITIVE_INFINITY)
        this.#changed()
      } catch (error) {
        if (signal.aborted || window !== this.#window) continue
        if (!(error instanceof RequestFailed)) throw error
        if (error.code !== 'INVALID_CURSOR') this.end(error) // otherwise the database was replaced, and a reset follows
        return
      }
    }
  }

  #changed() {
    this.#snapshot = undefined
    const isLive = this.#isCurrent && !this.#connection.outage()
    const state = this.#isEnded ? 'ended' : isLive ? 'live' : 'connecting'
    if (state !== this.#state.state) this.#state = { state, since: now() }
    this.#frame ??= setTimeout(() => {
      this.#frame = undefined
      for (const listener of this.#listeners) runUserCallback(listener)
    }, frameMs)
  }
}

/** Returns the time by the clock at the start of the program. Setting the clock later has no effect. */
const now = () => new Date(performance.timeOrigin + performance.now())
