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
import { type Resource, useResource } from '../../ground/resource.ts'

export type WorkloadPanel = WorkloadPanelFragment
export type LineRow = ListRowFragment

export interface WorkloadState extends Pick<Resource<WorkloadPanel>, 'failure' | 'read'> {
  panel: WorkloadPanel | null
  /** Running jobs, then waiting jobs in order, at most `rowsMax`; null: not read yet. */
  rows: readonly LineRow[] | null
  /** true: more jobs wait than `rows` has. */
  hasMore: boolean
}

const rowsPerPage = 100
export const rowsMax = 500
/** Minimum time between two reads, because a busy pool changes several times a second. */
const pauseMs = 500
/** Minimum time between two reads of the rows after the first page. */
const restPauseMs = 2_000
const forever = { attempts: Number.POSITIVE_INFINITY }

/** Returns the live workload of a pool. After a change it reads the first page of rows again, and then the others. */
export function useWorkload(pool: string): WorkloadState {
  const panel = useResource<WorkloadPanel>(`workload ${pool}`, async (signal, put) => {
    for await (const { workloadStatus } of client.subscribe(WorkloadChangesDocument, { pool }, { signal }))
      put(workloadStatus)
  })
  const front = useResource(`line ${pool}`, (signal) => readLine(pool, { after: null, rowsMax: rowsPerPage }, signal), {
    version: panel.value,
    pauseMs,
    isOff: !panel.value,
  })
  const end = front.value?.end ?? null
  const rest = useResource(
    `line behind ${pool}`,
    (signal) => readLine(pool, { after: end, rowsMax: rowsMax - rowsPerPage }, signal),
    { version: front.value, pauseMs: restPauseMs, isOff: end === null },
  )
  const behind = end === null ? undefined : rest.value
  const rows = front.value && [
    ...new Map([...front.value.rows, ...(behind?.rows ?? [])].map((row) => [row.id, row])).values(),
  ]
  return {
    panel: panel.value ?? null,
    rows: rows?.slice(0, rowsMax) ?? null,
    hasMore: behind ? behind.end !== null : end !== null,
    failure: panel.failure ?? front.failure ?? rest.failure,
    read: panel.read,
  }
}

/** Reads rows of the line. `end`: the cursor of the next rows; null: there are no more. */
async function readLine(pool: string, from: { after: string | null; rowsMax: number }, signal: AbortSignal) {
  const rows: LineRow[] = []
  let end: string | null = from.after
  do {
    const variables: WorkloadLineQueryVariables = { pool, first: rowsPerPage, after: end }
    const answer: WorkloadLineQuery = await client.request(WorkloadLineDocument, variables, { ...forever, signal })
    const entries = answer.pool?.workload.entries
    for (const row of entries?.nodes ?? []) jobStore.put(row)
    rows.push(...(entries?.nodes ?? []))
    end = entries?.pageInfo.hasNextPage ? entries.pageInfo.endCursor : null
  } while (end !== null && rows.length < from.rowsMax)
  return { rows, end }
}
