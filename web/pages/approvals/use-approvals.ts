import { useEffect, useRef, useState } from 'react'
import { refreshPendingDecisions } from '../../features/policies/pending-decisions.ts'
import {
  type ApprovalFilter,
  ApprovalsNowDocument,
  ApprovalUpdatesDocument,
  ListApprovalsDocument,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { readPages } from '../../ground/list-pages.ts'
import { type Resource, useResource } from '../../ground/resource.ts'
import { type ApprovalRow, addDepartedRows } from './approval-row.ts'

export interface Approvals {
  rows: readonly ApprovalRow[]
  /** Requests that were decided while the list was shown. They stay in it for a moment. */
  departures: ReadonlyMap<string, ApprovalRow>
  total: number
  resource: Resource<unknown>
  /** Marks requests as decided, before the server's list shows it. */
  depart: (decided: readonly ApprovalRow[]) => void
  hold: (isHeld: boolean) => void
}

const rowsPerPage = 100
const pagesMax = 5
const shownMs = 6_000
const forever = { attempts: Number.POSITIVE_INFINITY }
const none: readonly ApprovalRow[] = []

async function readAll(filter: ApprovalFilter, signal: AbortSignal) {
  let total = 0
  const { rows } = await readPages(async (after) => {
    const variables = { first: rowsPerPage, after, filter }
    const { approvals } = await client.request(ListApprovalsDocument, variables, { signal })
    total = approvals.totalCount
    return approvals
  }, pagesMax)
  return { rows, total }
}

/** A live list of the requests that match the filter. Pending requests are listed oldest first. */
export function useApprovals(filter: ApprovalFilter): Approvals {
  const isPending = filter.statuses?.includes('PENDING') === true
  const resource = useResource(`approvals ${JSON.stringify(filter)}`, (signal) => readAll(filter, signal))
  const { departures, gone, depart, hold } = useDepartures()
  const { read, value } = resource
  const onChange = useRef<(row: ApprovalRow) => void>(() => undefined)
  onChange.current = (row) => {
    if (row.status !== 'PENDING' && value?.rows.some(({ id }) => id === row.id)) depart([row])
  }
  useEffect(() => {
    const leave = new AbortController()
    const readAgain = () => {
      read()
      refreshPendingDecisions()
    }
    follow((row) => onChange.current(row), readAgain, leave.signal).catch((error: unknown) => {
      if (!leave.signal.aborted) console.warn(error)
    })
    return () => leave.abort()
  }, [read])
  const rows = value?.rows ?? none
  return {
    rows: isPending ? addDepartedRows(rows.filter(({ id }) => !gone.has(id)).toReversed(), departures) : rows,
    departures,
    total: value?.total ?? 0,
    resource,
    depart,
    hold,
  }
}

/** Follows the events of BLOCKED jobs, because each change of an approval is one. */
async function follow(onRow: (row: ApprovalRow) => void, readAgain: () => void, signal: AbortSignal) {
  const { jobs } = await client.request(ApprovalsNowDocument, {}, { ...forever, signal })
  readAgain()
  for await (const { jobUpdates } of client.subscribe(ApprovalUpdatesDocument, { after: jobs.asOf }, { signal })) {
    if (jobUpdates.__typename === 'StreamHeartbeat') continue
    if (jobUpdates.__typename === 'JobTransitions' && jobUpdates.job.approval) onRow(jobUpdates.job.approval)
    readAgain()
  }
}

/** Keeps decided requests in the list for some seconds, and while the pointer is over the list. */
function useDepartures() {
  const [departures, setDepartures] = useState<ReadonlyMap<string, ApprovalRow>>(new Map())
  // The list still has these requests as pending if it was read before their decision, as after a lost connection.
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set())
  const isHeld = useRef(false)
  const timers = useRef(new Set<ReturnType<typeof setTimeout>>())
  useEffect(() => {
    const all = timers.current
    return () => {
      for (const timer of all) clearTimeout(timer)
    }
  }, [])
  const remove = (ids: readonly string[]) => {
    const timer = setTimeout(() => {
      timers.current.delete(timer)
      if (isHeld.current) return remove(ids)
      setGone((before) => new Set([...before, ...ids]))
      setDepartures((before) => new Map([...before].filter(([id]) => !ids.includes(id))))
    }, shownMs)
    timers.current.add(timer)
  }
  const depart = (decided: readonly ApprovalRow[]) => {
    if (decided.length === 0) return
    setDepartures((before) => new Map([...before, ...decided.map((row) => [row.id, row] as const)]))
    remove(decided.map(({ id }) => id))
  }
  const hold = (next: boolean) => {
    isHeld.current = next
  }
  return { departures, gone, depart, hold }
}
