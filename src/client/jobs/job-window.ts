import type { JobOrder, LiveJobFragment, LiveJobsQuery, LiveJobUpdatesSubscription } from '../generated/graphql.ts'

/**
 * The first jobs of a list in its order, kept up to date by messages of `jobUpdates`. The window has every job up to the
 * end of the last page, so when a job leaves, the next one moves up without a request. An older version of a job never
 * replaces a newer one.
 */

export type JobPage = Pick<LiveJobsQuery['jobs'], 'nodes' | 'pageInfo'>
export type JobMessage = LiveJobUpdatesSubscription['jobUpdates']

type Key = string | number

const keys: Record<JobOrder['field'], (job: LiveJobFragment) => Key> = {
  CREATED_AT: ({ createdAt }) => createdAt,
  // 'never' sorts after every time, as on the server.
  STARTED_AT: ({ startedAt }) => startedAt ?? 'never',
  FINISHED_AT: ({ finishedAt }) => finishedAt ?? 'never',
  PRIORITY: ({ priorityOverride, basePriority }) => priorityOverride ?? basePriority,
}

export const newestFirst: JobOrder = { field: 'CREATED_AT', direction: 'DESC' }

export class JobWindow {
  readonly #compare: (one: LiveJobFragment, other: LiveJobFragment) => number
  readonly #jobs = new Map<string, LiveJobFragment>()
  /** Messages since the request for the next page, which may be older than they are; null: no page is requested. */
  #recent: JobMessage[] | null = null
  /** The last job of the last page, as it was when the page was read; null: no jobs follow. */
  #end: LiveJobFragment | null = null
  endCursor: string | null = null

  constructor({ field, direction }: JobOrder) {
    const keyOf = keys[field]
    const sign = direction === 'ASC' ? 1 : -1
    this.#compare = (one, other) => sign * (compare(keyOf(one), keyOf(other)) || compare(one.id, other.id))
  }

  get size(): number {
    return this.#jobs.size
  }

  /** true: the server has jobs after the last page. */
  get hasNextPage(): boolean {
    return this.#end !== null
  }

  first(count: number): LiveJobFragment[] {
    return [...this.#jobs.values()].sort(this.#compare).slice(0, count)
  }

  /** Must be called before the request for the next page. */
  expectPage(): void {
    this.#recent = []
  }

  addPage({ nodes, pageInfo }: JobPage): void {
    this.endCursor = pageInfo.endCursor ?? this.endCursor
    this.#end = pageInfo.hasNextPage ? (nodes.at(-1) ?? this.#end) : null
    for (const job of nodes) this.#put(job)
    for (const message of this.#recent ?? []) this.#apply(message)
    this.#recent = null
  }

  apply(message: JobMessage): void {
    this.#recent?.push(message)
    this.#apply(message)
  }

  #apply(message: JobMessage): void {
    if (message.__typename === 'StreamReset') for (const id of message.jobIds) this.#jobs.delete(id)
    if (message.__typename !== 'JobTransitions') return
    if (message.matches) this.#put(message.job)
    else if (!this.#hasNewer(message.job)) this.#jobs.delete(message.job.id)
  }

  #put(job: LiveJobFragment): void {
    if (this.#hasNewer(job)) return
    if (this.#end && this.#compare(job, this.#end) > 0) this.#jobs.delete(job.id)
    else this.#jobs.set(job.id, job)
  }

  #hasNewer(job: LiveJobFragment): boolean {
    const known = this.#jobs.get(job.id)
    if (!known || known.version !== job.version) return known !== undefined && known.version > job.version
    return (known.progress?.at ?? '') > (job.progress?.at ?? '')
  }
}

const compare = (one: Key, other: Key) => (one < other ? -1 : one > other ? 1 : 0)
