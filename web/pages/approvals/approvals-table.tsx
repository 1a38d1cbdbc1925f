import { Link } from '@tanstack/react-router'
import { type MouseEvent, useEffect, useRef } from 'react'
import type { PageSearch } from '../../ground/page-search.ts'
import { useStart } from '../../ground/server-facts.ts'
import { formatMoney } from '../../parts/format.ts'
import { formatServerText, nameJob } from '../../parts/server-text.ts'
import { isControl } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { type ApprovalRow, computeCostMax, countGpus, describeDecision } from './approval-row.ts'
import styles from './approvals.module.css'

interface TableProps {
  rows: readonly ApprovalRow[]
  departures: ReadonlyMap<string, ApprovalRow>
  search: PageSearch
  selected: ReadonlySet<string>
  onToggle: (id: string) => void
  onOpen: (row: ApprovalRow) => void
  /** Called with true while the pointer is over the list, when no row may disappear. */
  onHold: (isHeld: boolean) => void
}

export function ApprovalsTable({ rows, onHold, ...rest }: TableProps) {
  const isPending = (rest.search.tab ?? 'pending') === 'pending'
  return (
    <table
      className={styles.table}
      aria-label="Approvals"
      onPointerEnter={() => onHold(true)}
      onPointerLeave={() => onHold(false)}
    >
      <thead>
        <tr>
          <th scope="col" className={styles.check} aria-label="Selection" />
          <th scope="col">Job</th>
          <th scope="col">Who</th>
          <th scope="col" className={styles.secondary}>
            Rule
          </th>
          <th scope="col" className={styles.number}>
            GPUs
          </th>
          <th scope="col" className={styles.number}>
            Costs at most
          </th>
          <th scope="col" className={styles.secondary}>
            Asked
          </th>
          <th scope="col">{isPending ? 'Expires' : 'Decision'}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.id} row={row} {...rest} />
        ))}
      </tbody>
    </table>
  )
}

interface RowProps extends Omit<TableProps, 'rows' | 'onHold'> {
  row: ApprovalRow
}

function Row({ row, departures, search, selected, onToggle, onOpen }: RowProps) {
  const { id, job, requestedBy, rule, requestedAt } = row
  const cost = computeCostMax(row)
  const gpus = countGpus(row)
  const open = (event: MouseEvent) => {
    if (!isControl(event.target)) onOpen(row)
  }
  const name = nameJob(job)
  const isOpen = id === search.approval
  const opener = useRef<HTMLButtonElement>(null)
  // When a key opens the next request, the focus moves to its row.
  useEffect(() => {
    if (isOpen) opener.current?.focus()
  }, [isOpen])
  return (
    <tr data-departed={departures.has(id)} aria-selected={isOpen} onClick={open}>
      <td className={styles.check}>
        {row.decidable && (
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={selected.has(id)}
            onChange={() => onToggle(id)}
          />
        )}
      </td>
      <td>
        <button ref={opener} type="button" className={styles.open} onClick={() => onOpen(row)}>
          {name}
        </button>
      </td>
      <td>
        <Link to="/approvals" search={{ ...search, user: requestedBy.name, approval: undefined }}>
          {requestedBy.displayName ?? requestedBy.name}
        </Link>
      </td>
      <td className={styles.secondary} title={formatServerText(row.reason)}>
        {rule ? (
          <Link to="/approvals" search={{ ...search, rule: rule.id, approval: undefined }}>
            {rule.name}
          </Link>
        ) : (
          <span className={styles.faint}>no rule</span>
        )}
      </td>
      <td className={styles.number}>{gpus > 0 ? gpus : '–'}</td>
      <td className={styles.number}>{cost ? formatMoney(cost) : '–'}</td>
      <td className={styles.secondary}>
        <Time at={requestedAt} />
      </td>
      <td>
        <Ending row={row} />
      </td>
    </tr>
  )
}

/** Shows when a pending request expires; for other requests, how and when they were decided. */
export function Ending({ row }: { row: ApprovalRow }) {
  const { viewer } = useStart()
  const { status, expiresAt, decidedAt, comment } = row
  if (status === 'PENDING') return <Time at={expiresAt} />
  return (
    <span title={comment ?? undefined}>
      {describeDecision(row, viewer.user.id)} {decidedAt && <Time at={decidedAt} />}
    </span>
  )
}
