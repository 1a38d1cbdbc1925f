import type { RequestFailed } from '@berth-jobs/berth/client'
import { useEffect, useState } from 'react'
import { jobStore } from '../../features/jobs/rows/job-store.ts'
import {
  type ListRowFragment,
  WorkloadChangesDocument,
  WorkloadLineDocument,
  type WorkloadLineQuery,
  type WorkloadLineQueryVariables,
  type WorkloadPanelFragment,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { onReturn } from '../../ground/server-return.ts'
import { toFailure } from '../../ground/to-failure.ts'

export type WorkloadPanel = WorkloadPanelFragment
export type LineRow = ListRowFragment

export interface WorkloadState {
  panel: WorkloadPanel | null
  /** Running jobs, then waiting jobs in order, at most `rowsMax`; null: not read yet. */
  rows: readonly LineRow[] | null
  /** More jobs wait than `rows` has. */
  hasMore: boolean
  failure: RequestFailed | null
}

const nothing: WorkloadState = { panel: null, rows: null, hasMore: false, failure: null }
const rowsPerPage = 100
export const rowsMax = 500
const forever = { attempts: Number.POSITIVE_INFINITY }

/** The workload of a pool, live. Its rows are read again when it changes. */
export function useWorkload(pool: string | undefined): WorkloadState {
  const [state, setState] = useState<WorkloadState>(nothing)
  useEffect(() => {
    setState(nothing)
    if (pool === undefined) return undefined
    const leave = new AbortController()
    const change = (next: Partial<WorkloadState>) => {
      if (!leave.signal.aborted) setState((before) => ({ ...before, ...next }))
    }
    const follower = new WorkloadFollower(pool, change, leave.signal)
    follower.follow().catch((error: unknown) => change({ failure: toFailure(error) }))
    return () => leave.abort()
  }, [pool])
  return state
}

/** A busy pool changes several times a second: the pause between two reads of its front is as long as two of them. */
const pauseMsMin = 250
const pauseMsMax = 500
const pausePerRead = 2
/** The rows behind the first page are read at most this often. */
const restMsMin = 2_000

class WorkloadFollower {
  readonly #pool: string
  readonly #change: (next: Partial<WorkloadState>) => void
  readonly #signal: AbortSignal
  #isReading = false
  #isStale = false
  #rows: readonly LineRow[] = []
  /** The first page that was read last, if rows behind it are to be read; null: none are. */
  #rest: { front: ReadonlyMap<string, LineRow>; after: string | null } | null = null

  constructor(pool: string, change: (next: Partial<WorkloadState>) => void, signal: AbortSignal) {
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
    const stream = client.subscribe(WorkloadChangesDocument, { pool: this.#pool }, { signal: this.#signal })
    for await (const { workloadStatus } of stream) {
      this.#change({ panel: workloadStatus, failure: null })
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
    const variables: WorkloadLineQueryVariables = { pool: this.#pool, first: rowsPerPage, after }
    const { pool }: WorkloadLineQuery = await client.request(WorkloadLineDocument, variables, {
      ...forever,
      signal: this.#signal,
    })
    for (const row of pool?.workload.entries.nodes ?? []) jobStore.put(row)
    return pool?.workload.entries ?? null
  }

  #show(rows: readonly LineRow[], hasMore: boolean) {
    this.#rows = rows
    this.#change({ rows, hasMore })
  }
}
