import { Link } from '@tanstack/react-router'
import { StartEstimate, TimeLeft } from '../../features/jobs/rows/estimates.tsx'
import { type JobRow, useJobRow } from '../../features/jobs/rows/job-store.ts'
import { orders } from '../../features/jobs/rows/order.ts'
import { abridgePlace, describePlace } from '../../features/jobs/rows/place.ts'
import { useJobList } from '../../features/jobs/rows/use-job-list.ts'
import type { OverviewQuery, StateCategory } from '../../generated/graphql.ts'
import { formatPercent } from '../../parts/format.ts'
import { nameJob } from '../../parts/server-text.ts'
import { StateChip } from '../../parts/state-glyph.tsx'
import { Duration } from '../../parts/time.tsx'
import styles from './overview.module.css'

const shownMax = 8
const placeholders = Array.from({ length: shownMax }, (_, i) => i)

/** Live lists of the viewer's running and waiting jobs. */
export const MyJobs = ({ userId, workload }: { userId: string; workload: OverviewQuery['viewer']['workload'] }) => (
  <div className={styles.boxes}>
    <JobBox
      title="Running"
      category="ACTIVE"
      userId={userId}
      count={workload.runningCount}
      empty="None of your jobs runs."
    />
    <JobBox
      title="Waiting"
      category="WAITING"
      userId={userId}
      count={workload.pendingCount + workload.blockedCount}
      empty="None of your jobs waits."
    />
  </div>
)

interface JobBoxProps {
  title: string
  category: Extract<StateCategory, 'ACTIVE' | 'WAITING'>
  userId: string
  /** Number of expected rows, to reserve their space until they have loaded. */
  count: number
  empty: string
}

function JobBox({ title, category, userId, count, empty }: JobBoxProps) {
  const { list, view } = useJobList(category, `${category} ${userId}`, {
    filter: { users: [userId], stateCategories: [category] },
    order: category === 'ACTIVE' ? orders.start : orders.oldest,
  })
  const shown = view.ids.slice(0, shownMax)
  return (
    <section
      aria-label={title}
      onPointerEnter={({ pointerType }) => pointerType === 'mouse' && list?.hold(true)}
      onPointerLeave={() => list?.hold(false)}
    >
      <h2>{title}</h2>
      {!view.isLoading && shown.length === 0 && <p className={styles.empty}>{empty}</p>}
      <ul className={styles.jobs}>
        {view.isLoading && placeholders.slice(0, count).map((each) => <li key={each} className={styles.room} />)}
        {shown.map((id) => (
          <JobItem key={id} id={id} isDeparted={view.departed.has(id)} />
        ))}
      </ul>
      {(view.hasMore || view.ids.length > shownMax) && (
        <Link to="/jobs" search={{ state: category.toLowerCase(), user: 'me' }} className={styles.more}>
          All of them
        </Link>
      )}
    </section>
  )
}

function JobItem({ id, isDeparted }: { id: string; isDeparted: boolean }) {
  const job = useJobRow(id)
  if (!job) return null
  return (
    <li data-departed={isDeparted}>
      <Link to="/jobs/$id" params={{ id }} className={styles.job}>
        <StateChip state={job.state} fraction={job.progress?.fraction} detail={describePercent(job)} />
        <span className={styles.name} title={describePlace(job)}>
          {nameJob(job)}{' '}
          <span className={styles.faint}>
            {[job.state === 'RUNNING' && job.progress?.message, abridgePlace(job)].filter(Boolean).join(' · ')}
          </span>
        </span>
        <span className={styles.when}>
          {job.stateCategory === 'WAITING' ? <StartEstimate job={job} /> : <Runs job={job} />}
        </span>
        {job.state === 'RUNNING' && job.progress?.fraction != null && (
          <span className={styles.progress} style={{ width: `${100 * job.progress.fraction}%` }} />
        )}
      </Link>
    </li>
  )
}

const describePercent = ({ progress, state }: JobRow): string | null =>
  state === 'RUNNING' && progress?.fraction != null ? formatPercent(progress.fraction) : null

/** The remaining run time or, if it is unknown, the run time so far. */
function Runs({ job }: { job: JobRow }) {
  const { currentRun, progress } = job
  if (progress?.fraction != null)
    return (
      <>
        <TimeLeft job={job} /> left
      </>
    )
  return <Duration from={currentRun.startedAt ?? job.createdAt} />
}
