import { useNavigate } from '@tanstack/react-router'
import { type MouseEvent, memo, useEffect, useRef, useSyncExternalStore } from 'react'
import { useNow } from '../../app/server-clock.ts'
import { formatClock } from '../../parts/format.ts'
import { StateChip } from '../../parts/state-glyph.tsx'
import { describeEnd } from '../../parts/states.ts'
import { Duration, Time } from '../../parts/time.tsx'
import { type JobRow, jobStore } from '../../rows/job-store.ts'
import styles from './job-table.module.css'

interface JobLineProps {
  id: string
  index: number
  top: number
  height: number
  isPhone: boolean
  isSelected: boolean
  isDeparted: boolean
  isFocused: boolean
  onFocus: (index: number) => void
  onSelect: (index: number, event?: MouseEvent) => void
}

/** One job; its cells change in place. A plain link: that of the router costs more than the rest of the row. */
export const JobLine = memo(function JobLine(props: JobLineProps) {
  const { id, index, top, height, isPhone, isSelected, isDeparted, isFocused, onFocus, onSelect } = props
  const job = useSyncExternalStore(
    (listener) => jobStore.subscribe(id, listener),
    () => jobStore.get(id),
  )
  const link = useRef<HTMLAnchorElement>(null)
  const navigate = useNavigate()
  useEffect(() => {
    if (isFocused) link.current?.focus({ preventScroll: true })
  }, [isFocused])
  if (!job)
    return (
      <div
        role="row"
        className={`${styles.line} ${styles.row}`}
        style={{ height, transform: `translateY(${top}px)` }}
      />
    )
  const title = job.name ?? job.id
  return (
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 1}
      aria-selected={isSelected}
      className={`${styles.line} ${styles.row}`}
      data-departed={isDeparted}
      style={{ height, transform: `translateY(${top}px)` }}
    >
      <span role="cell" className={styles.check}>
        <input
          type="checkbox"
          aria-label={`Select ${title}`}
          checked={isSelected}
          onClick={(event) => onSelect(index, event)}
          onChange={() => undefined}
        />
      </span>
      <span role="cell" className={styles.state}>
        <StateChip state={job.state} fraction={job.progress?.fraction} detail={describeProgress(job)} />
      </span>
      <span role="cell" className={styles.name}>
        <a
          ref={link}
          href={`./jobs/${id}`}
          className={styles.link}
          onFocus={() => onFocus(index)}
          onClick={(event) => {
            // Other clicks open tabs and windows.
            if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
            event.preventDefault()
            void navigate({ to: '/jobs/$id', params: { id } })
          }}
        >
          {title}
        </a>
        {job.name !== null && <span className={styles.id}>{job.id}</span>}
      </span>
      {isPhone ? <PhoneCell job={job} /> : <WideCells job={job} />}
    </div>
  )
})

const percent = 100

function describeProgress(job: JobRow): string | null {
  const fraction = job.progress?.fraction ?? null
  if (job.state === 'RUNNING' && fraction !== null) return `${Math.floor(fraction * percent)} %`
  return describeEnd(job)
}

function WideCells({ job }: { job: JobRow }) {
  return (
    <>
      <span role="cell" className={`${styles.who} ${styles.faint}`}>
        {job.user.name}
      </span>
      <span role="cell" className={`${styles.where} ${styles.faint}`} title={describePlace(job)}>
        {describePlace(job)}
      </span>
      <span role="cell" className={`${styles.waited} ${styles.number} ${styles.faint}`}>
        <Waited job={job} />
      </span>
      <span role="cell" className={`${styles.ran} ${styles.number}`}>
        {job.currentRun.startedAt && <Duration from={job.currentRun.startedAt} to={job.finishedAt} />}
      </span>
      <span role="cell" className={`${styles.ends} ${styles.number} ${styles.faint}`}>
        <Time at={job.createdAt} />
      </span>
    </>
  )
}

const PhoneCell = ({ job }: { job: JobRow }) => (
  <span role="cell" className={styles.under}>
    {job.user.name}
    <span>{describePlace(job)}</span>
    <Time at={job.finishedAt ?? job.startedAt ?? job.createdAt} />
  </span>
)

function Waited({ job: { state, createdAt, startedAt } }: { job: JobRow }) {
  if (startedAt !== null) return <Duration from={createdAt} to={startedAt} />
  return state === 'QUEUED' || state === 'BLOCKED' ? <Duration from={createdAt} /> : null
}

/** Nodes and GPUs of a run; position, reason and estimate of a job that waits. */
function describePlace(job: JobRow): string {
  const { currentRun, scheduling, queuePosition, stateCategory, pool } = job
  if (stateCategory !== 'WAITING') {
    const gpus = currentRun.gpuIds.length > 0 ? `:${currentRun.gpuIds.join(',')}` : ''
    return currentRun.nodeNames.length > 0 ? `${currentRun.nodeNames.join(', ')}${gpus}` : pool.name
  }
  const [reason] = scheduling?.reasons ?? []
  const position = queuePosition === null ? '' : `#${queuePosition} `
  return `${position}${reason?.message ?? pool.name}`
}

/** "14:20–15:05", or the one that is known. */
export function StartEstimate({ job: { scheduling } }: { job: Pick<JobRow, 'scheduling'> }) {
  const nowMs = useNow()
  const { p50, p90, earliest } = scheduling?.estimatedStart ?? {}
  const first = p50 ?? earliest
  if (!first) return null
  const clock = (at: string) => formatClock(Math.max(Date.parse(at), nowMs), nowMs)
  const last = p90 && clock(p90) !== clock(first) ? `–${clock(p90)}` : ''
  return <>{`${clock(first)}${last}`}</>
}
