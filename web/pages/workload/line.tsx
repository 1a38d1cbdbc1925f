import { Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { confirmCancel } from '../../features/jobs/actions/cancel-jobs.ts'
import { StartEstimate } from '../../features/jobs/rows/estimates.tsx'
import { describeRequest } from '../../features/jobs/rows/place.ts'
import { describeCode } from '../../features/machines/pending-reasons.ts'
import type { PendingReasonCode } from '../../generated/graphql.ts'
import { Button } from '../../parts/button.tsx'
import { formatCount, plural } from '../../parts/format.ts'
import { formatServerText, nameJob } from '../../parts/server-text.ts'
import { StateChip } from '../../parts/state-glyph.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Duration } from '../../parts/time.tsx'
import { useHeldOrder } from './held-order.ts'
import { type LineRow, rowsMax, type WorkloadPanel } from './use-workload.ts'
import styles from './workload.module.css'

const rowsShown = 12

interface LineProps {
  panel: WorkloadPanel
  rows: readonly LineRow[]
  hasMore: boolean
  /** Lists only jobs that wait for this reason; undefined: all. */
  reason: string | undefined
  /** true: lists all rows that were read, not only the first ones. */
  isWhole: boolean
}

/** Lists the waiting jobs in order. While the pointer is over the list, rows do not move. */
export function Line({ panel, rows, hasMore, reason, isWhole }: LineProps) {
  const pool = panel.pool.name
  const [isHeld, setHeld] = useState(false)
  const known = useRef(new Map<string, LineRow>())
  for (const row of rows) known.current.set(row.id, row)
  const waiting = rows.filter((row) => row.stateCategory === 'WAITING' && matches(row, reason))
  const order = useHeldOrder(
    waiting.map(({ id }) => id),
    isHeld,
  )
  const present = new Set(waiting.map(({ id }) => id))
  const shown = order.ids.flatMap((id) => known.current.get(id) ?? [])
  return (
    <section aria-labelledby="line" onPointerEnter={() => setHeld(true)} onPointerLeave={() => setHeld(false)}>
      <header className={styles.lineHead}>
        <h2 id="line">Line</h2>
        {reason !== undefined && (
          <Link
            to="/workload/$pool"
            params={{ pool }}
            search={(before: object) => ({ ...before, reason: undefined })}
            className={styles.chip}
          >
            waits for: {describeCode(reason as PendingReasonCode)} ✕
          </Link>
        )}
        {order.changes > 0 && (
          <Button look="primary" onClick={order.apply}>
            {plural(order.changes, 'change')}
          </Button>
        )}
      </header>
      {shown.length === 0 ? (
        <p className={styles.empty}>
          {reason === undefined ? 'No job waits.' : 'No job waits for this reason among those that were read.'}
        </p>
      ) : (
        <Table
          label="Line"
          columns={columns(present, panel.pool.policy === 'PRIORITY')}
          rows={isWhole ? shown : shown.slice(0, rowsShown)}
          getKey={({ id }) => id}
        />
      )}
      <p className={styles.more}>
        {!isWhole && shown.length > rowsShown && (
          <Link to="/workload/$pool" params={{ pool }} search={(before: object) => ({ ...before, rows: 'all' })}>
            Show all {formatCount(shown.length)}
          </Link>
        )}
        {hasMore && (
          <Link to="/jobs" search={{ pool, state: 'waiting', order: 'oldest' }}>
            The first {rowsMax} jobs are shown; list all that wait
          </Link>
        )}
      </p>
    </section>
  )
}

const matches = ({ scheduling, state }: LineRow, reason: string | undefined) =>
  reason === undefined || (scheduling?.reasons[0]?.code ?? (state === 'BLOCKED' ? 'APPROVAL_PENDING' : '')) === reason

const priority: Column<LineRow> = {
  title: 'Priority',
  isNumber: true,
  isSecondary: true,
  cell: ({ priority, priorityOverride }) => (
    <span title={priorityOverride === null ? 'By the level of the user' : 'Set by a user'}>
      {priority ?? '–'}
      {priorityOverride !== null && ' ★'}
    </span>
  ),
}

const columns = (present: ReadonlySet<string>, hasPriorities: boolean): readonly Column<LineRow>[] => [
  {
    title: '#',
    cell: ({ id, position }) => <span className={styles.one}>{present.has(id) ? (position ?? '–') : 'left'}</span>,
  },
  {
    title: 'Job',
    cell: ({ id, name, state }) => (
      <span className={styles.job} data-departed={!present.has(id)}>
        <StateChip state={state} />
        <Link to="/jobs/$id" params={{ id }} className={styles.name}>
          {nameJob({ id, name })}
        </Link>
      </span>
    ),
  },
  {
    title: 'Who',
    cell: ({ user }) => (
      <Link to="/jobs" search={{ user: user.name, state: 'active,waiting' }} className={styles.one}>
        {user.name}
      </Link>
    ),
  },
  { title: 'Asked', cell: (job) => <span className={styles.one}>{describeRequest(job)}</span>, isSecondary: true },
  {
    title: 'Starts',
    cell: (job) => (
      <span className={styles.one}>
        <StartEstimate job={job} />
      </span>
    ),
  },
  {
    title: 'Why it waits',
    isSecondary: true,
    cell: ({ scheduling }) => formatServerText(scheduling?.reasons[0]?.message ?? 'not considered yet'),
  },
  ...(hasPriorities ? [priority] : []),
  {
    title: 'Waited',
    isNumber: true,
    isSecondary: true,
    cell: ({ eligibleAt, createdAt }) => <Duration from={eligibleAt ?? createdAt} />,
  },
  {
    title: 'Actions',
    isSecondary: true,
    cell: (job) =>
      present.has(job.id) && (
        <span className={styles.rowActions}>
          {job.allowedActions.includes('APPROVE') && (
            <Link to="/approvals" search={{ tab: 'pending' }} className={styles.link}>
              Decide
            </Link>
          )}
          {job.allowedActions.includes('CANCEL') && (
            <Button look="quiet" aria-label={`Cancel ${nameJob(job)}`} onClick={() => confirmCancel([job])}>
              Cancel
            </Button>
          )}
        </span>
      ),
  },
]
