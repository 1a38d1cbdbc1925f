import { memo, useEffect, useRef } from 'react'
import { type JobRow, useJobRow } from '../../features/jobs/rows/job-store.ts'
import { abridgePlace } from '../../features/jobs/rows/place.ts'
import { nameJob } from '../../parts/server-text.ts'
import { Time } from '../../parts/time.tsx'
import type { JobColumn } from './columns.tsx'
import styles from './job-table.module.css'

interface JobLineProps {
  id: string
  index: number
  top: number
  height: number
  columns: readonly JobColumn[]
  isPhone: boolean
  isSelected: boolean
  isDeparted: boolean
  isFocused: boolean
  isPeeked: boolean
}

/** A row of the list. The table handles its clicks, because links of the router cost more time than all cells. */
export const JobLine = memo(function JobLine(props: JobLineProps) {
  const { id, index, top, height, columns, isPhone, isSelected, isDeparted, isFocused, isPeeked } = props
  const job = useJobRow(id)
  const link = useRef<HTMLAnchorElement>(null)
  useEffect(() => {
    if (isFocused) link.current?.focus({ preventScroll: true })
  }, [isFocused])
  const style = { height, transform: `translateY(${top}px)` }
  const classes = `${styles.line} ${styles.row}`
  if (!job) return <div role="row" aria-rowindex={index + 1} className={classes} style={style} />
  const title = nameJob(job)
  return (
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 1}
      aria-selected={isSelected}
      className={classes}
      data-id={id}
      data-departed={isDeparted}
      data-peeked={isPeeked}
      style={style}
    >
      <span role="cell" className={styles.check}>
        <input type="checkbox" aria-label={`Select ${title}`} checked={isSelected} onChange={ignore} />
      </span>
      {columns.map((column) =>
        column.key === 'name' ? (
          <span key="name" role="cell" className={styles.name}>
            <a ref={link} href={`./jobs/${id}`} className={styles.link}>
              {title}
            </a>
            {job.name !== null && (
              <span className={styles.id}>
                <bdi>{job.id}</bdi>
              </span>
            )}
            <button type="button" className={styles.peek} tabIndex={-1} aria-label={`Peek at ${title}`}>
              Peek
            </button>
          </span>
        ) : (
          <Cell key={column.key} column={column} job={job} />
        ),
      )}
      {isPhone && <PhoneCell job={job} />}
    </div>
  )
})

/** The table handles the click on the checkbox, because it must know about Shift. */
const ignore = () => undefined

const quiet = new Set(['state', 'ran'])

const Cell = ({ column, job }: { column: JobColumn; job: JobRow }) => (
  <span
    role="cell"
    className={`${styles.cell} ${column.isNumber ? styles.number : ''} ${quiet.has(column.key) ? '' : styles.faint} ${styles[column.key] ?? ''}`}
    title={column.hint?.(job)}
  >
    {column.cell(job)}
  </span>
)

const PhoneCell = ({ job }: { job: JobRow }) => (
  <span role="cell" className={styles.under}>
    {job.user.name}
    <span>{abridgePlace(job)}</span>
    <Time at={job.finishedAt ?? job.startedAt ?? job.createdAt} />
  </span>
)
