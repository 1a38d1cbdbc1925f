import type { RequestFailed } from '@berth-jobs/berth/client'
import { useEffect, useState } from 'react'
import { client } from '../../app/connection.ts'
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

/** A busy queue changes several times a second: the pause between two reads is some times as long as a read. */
const pauseMsMin = 250
const pauseMsMax = 2_000
const pausePerRead = 4

class QueueFollower {
  readonly #pool: string
  readonly #change: (next: Partial<QueueState>) => void
  readonly #signal: AbortSignal
  #isReading = false
  #isStale = false
  #hasRows = false

  constructor(pool: string, change: (next: Partial<QueueState>) => void, signal: AbortSignal) {
    this.#pool = pool
    this.#change = change
    this.#signal = signal
  }

  async follow(): Promise<void> {
    const onVisible = () => !document.hidden && this.#isStale && this.#readLater()
    document.addEventListener('visibilitychange', onVisible, { signal: this.#signal })
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
    while (this.#isStale && !document.hidden && !this.#signal.aborted) {
      this.#isStale = false
      const beganMs = performance.now()
      await this.#read()
      const pauseMs = Math.min(pauseMsMax, Math.max(pauseMsMin, pausePerRead * (performance.now() - beganMs)))
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  async #read() {
    const rows = new Map<string, LineRow>()
    let after: string | null = null
    let hasMore = true
    while (hasMore && rows.size < rowsMax) {
      const variables: QueueLineQueryVariables = { pool: this.#pool, first: rowsPerPage, after }
      const { queue }: QueueLineQuery = await client.request(QueueLineDocument, variables, {
        ...forever,
        signal: this.#signal,
      })
      if (!queue) return
      const { nodes, pageInfo } = queue.entries
      for (const row of nodes) {
        rows.set(row.id, row)
        jobStore.put(row)
      }
      hasMore = pageInfo.hasNextPage
      after = pageInfo.endCursor
      // The first read shows each page as it arrives; a later one replaces all rows at once.
      if (!this.#hasRows) this.#change({ rows: [...rows.values()], hasMore })
    }
    this.#hasRows = true
    this.#change({ rows: [...rows.values()], hasMore })
  }
}
