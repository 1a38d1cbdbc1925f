import type { RequestFailed } from '@berth-jobs/berth/client'
import { useEffect, useState } from 'react'
import { client } from '../../app/connection.ts'
import { onReturn } from '../../app/server-return.ts'
import { toFailure } from '../../app/to-failure.ts'
import {
  type ListRowFragment,
  QueueChangesDocument,
  QueueLineDocument,
  type QueueLineQuery,
  type QueueLineQueryVariables,
  type QueuePanelFragment,
} from '../../generated/graphql.ts'
import { jobStore } from '../../rows/job-store.ts'

export type QueuePanel = QueuePanelFragment
export type LineRow = ListRowFragment

export interface QueueState {
  panel: QueuePanel | null
  /** Running jobs, then waiting jobs in queue order, at most `rowsMax`; null: not read yet. */
  rows: readonly LineRow[] | null
  /** More jobs wait than `rows` has. */
  hasMore: boolean
  failure: RequestFailed | null
}

const nothing: QueueState = { panel: null, rows: null, hasMore: false, failure: null }
const rowsPerPage = 100
export const rowsMax = 500
const forever = { attempts: Number.POSITIVE_INFINITY }

/** The queue of a pool, live. Its rows are read again when the queue changes. */
export function useQueue(pool: string | undefined): QueueState {
  const [state, setState] = useState<QueueState>(nothing)
  useEffect(() => {
    setState(nothing)
    if (pool === undefined) return undefined
    const leave = new AbortController()
    const change = (next: Partial<QueueState>) => {
      if (!leave.signal.aborted) setState((before) => ({ ...before, ...next }))
    }
    const follower = new QueueFollower(pool, change, leave.signal)
    follower.follow().catch((error: unknown) => change({ failure: toFailure(error) }))
    return () => leave.abort()
  }, [pool])
  return state
}

/** A busy queue changes several times a second: the pause between two reads of its front is as long as two of them. */
const pauseMsMin = 250
const pauseMsMax = 500
const pausePerRead = 2
/** The rows behind the first page are read at most this often. */
const restMsMin = 2_000

class QueueFollower {
  readonly #pool: string
  readonly #change: (next: Partial<QueueState>) => void
  readonly #signal: AbortSignal
  #isReading = false
  #isStale = false
  #rows: readonly LineRow[] = []
  /** The first page that was read last, if rows behind it are to be read; null: none are. */
  #rest: { front: ReadonlyMap<string, LineRow>; after: string | null } | null = null

  constructor(pool: string, change: (next: Partial<QueueState>) => void, signal: AbortSignal) {
    this.#pool = pool
    this.#change = change
    this.#signal = signal
  }

  async follow(): Promise<void> {
    const onVisible = () => !document.hidden && (this.#isStale || this.#rest !== null) && this.#readLater()
    document.addEventListener('visibilitychange', onVisible, { signal: this.#signal })
    this.#signal.addEventListener(
      'abort',
      onReturn(() => this.#readLater()),
    )
    const stream = client.subscribe(QueueChangesDocument, { pool: this.#pool }, { signal: this.#signal })
    for await (const { queueStatus } of stream) {
      this.#change({ panel: queueStatus, failure: null })
      this.#readLater()
    }
  }

  #readLater() {
    this.#isStale = true
    if (this.#isReading) return
    this.#isReading = true
    this.#readWhileStale()
      .catch((error: unknown) => this.#change({ failure: toFailure(error) }))
      .finally(() => {
        this.#isReading = false
      })
  }

  async #readWhileStale() {
    let restAtMs = Number.NEGATIVE_INFINITY
    while ((this.#isStale || this.#rest !== null) && !document.hidden && !this.#signal.aborted) {
      const beganMs = performance.now()
      if (this.#isStale) await this.#readFront()
      if (this.#rest !== null && performance.now() - restAtMs > restMsMin) {
        await this.#readRest(this.#rest)
        restAtMs = performance.now()
      }
      const pauseMs = Math.min(pauseMsMax, Math.max(pauseMsMin, pausePerRead * (performance.now() - beganMs)))
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  /** Shows the first page at once, before the rows that were behind it. */
  async #readFront() {
    this.#isStale = false
    const page = await this.#readPage(null)
    if (!page) return
    const front = new Map(page.nodes.map((row) => [row.id, row]))
    const { hasNextPage, endCursor } = page.pageInfo
    const behind = hasNextPage ? this.#rows.filter(({ id }) => !front.has(id)) : []
    this.#rest = hasNextPage ? { front, after: endCursor } : null
    this.#show([...front.values(), ...behind].slice(0, rowsMax), hasNextPage)
  }

  async #readRest({ front, after }: { front: ReadonlyMap<string, LineRow>; after: string | null }) {
    this.#rest = null
    const rows = new Map(front)
    let hasMore = true
    for (let cursor = after; hasMore && rows.size < rowsMax; ) {
      const page = await this.#readPage(cursor)
      if (!page) return
      for (const row of page.nodes) rows.set(row.id, row)
      hasMore = page.pageInfo.hasNextPage
      cursor = page.pageInfo.endCursor
    }
    this.#show([...rows.values()].slice(0, rowsMax), hasMore)
  }

  async #readPage(after: string | null) {
    const variables: QueueLineQueryVariables = { pool: this.#pool, first: rowsPerPage, after }
    const { queue }: QueueLineQuery = await client.request(QueueLineDocument, variables, {
      ...forever,
      signal: this.#signal,
    })
    for (const row of queue?.entries.nodes ?? []) jobStore.put(row)
    return queue?.entries ?? null
  }

  #show(rows: readonly LineRow[], hasMore: boolean) {
    this.#rows = rows
    this.#change({ rows, hasMore })
  }
}
