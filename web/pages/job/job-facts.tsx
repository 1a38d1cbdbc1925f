import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useNow } from '../../app/server-clock.ts'
import { formatDuration, formatMoney } from '../../parts/format.ts'
import { describeReason } from '../../parts/states.ts'
import { Time } from '../../parts/time.tsx'
import styles from './job.module.css'
import type { PageJob } from './use-job.ts'

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** The line below the name: progress or outcome, and where, who and when. */
export function JobFacts({ job }: { job: PageJob }) {
  const { currentRun, attempt, maxAttempts, user, pool, executor, cost, labels } = job
  const place = [currentRun.nodeNames.join(', '), currentRun.gpuIds.length > 0 && `GPU ${currentRun.gpuIds.join(', ')}`]
  return (
    <>
      {job.progress && job.stateCategory === 'ACTIVE' && <ProgressLine job={job} />}
      {job.stateCategory === 'FINAL' && <Outcome job={job} />}
      <dl className={styles.facts}>
        <Fact name="Who">
          <Link to="/jobs" search={{ user: user.name }}>
            {user.name}
          </Link>
        </Fact>
        <Fact name="Where">
          <Link to="/jobs" search={{ pool: pool.name, state: 'active' }}>
            {place.filter(Boolean).join(': ') || pool.name}
          </Link>{' '}
          <span className={styles.faint}>{executor}</span>
        </Fact>
        <Fact name="Submitted">
          <Time at={job.createdAt} />
        </Fact>
        {(attempt > 1 || maxAttempts > 1) && (
          <Fact name="Run">
            {attempt} of {Math.max(attempt, maxAttempts)}
          </Fact>
        )}
        {cost !== null && <Fact name="Cost">{formatMoney(cost)}</Fact>}
        {job.retryOf && (
          <Fact name="Retry of">
            <Link to="/jobs/$id" params={{ id: job.retryOf.id }}>
              {job.retryOf.name ?? job.retryOf.id}
            </Link>
          </Fact>
        )}
        {labels.map(({ key, value }) => (
          <Fact key={key} name={key}>
            <Link to="/jobs" search={{ label: `${key}=${value}` }}>
              {value}
            </Link>
          </Fact>
        ))}
      </dl>
    </>
  )
}

const percent = 100

function ProgressLine({ job: { progress, currentRun } }: { job: PageJob }) {
  const nowMs = useNow()
  const { fraction = null, message } = progress ?? {}
  const startedMs = currentRun.startedAt === null ? null : Date.parse(currentRun.startedAt)
  const leftMs =
    fraction !== null && fraction > 0.01 && startedMs !== null
      ? ((nowMs - startedMs) / fraction) * (1 - fraction)
      : null
  return (
    <p className={styles.progress}>
      {fraction !== null && <progress max={1} value={fraction} aria-label="Progress" />}
      {fraction !== null && <strong>{Math.floor(fraction * percent)} %</strong>}
      {message && <span>{message}</span>}
      {leftMs !== null && leftMs > 0 && (
        <span className={styles.faint} title="From the progress so far">
          ~ {formatDuration(leftMs)} left
        </span>
      )}
    </p>
  )
}

/** One sentence: how it ended, where, and after how long. */
function Outcome({ job }: { job: PageJob }) {
  const { state, stateReason, stateInfo, exitCode, currentRun, finishedAt } = job
  const reason = stateReason === null || stateReason === 'EXIT_CODE' ? null : describeReason(stateReason)
  const parts = [
    reason,
    exitCode !== null && state !== 'CANCELLED' && `exit code ${exitCode}`,
    currentRun.nodeNames.length > 0 && `on ${currentRun.nodeNames.join(', ')}`,
    currentRun.startedAt && finishedAt
      ? `after ${formatDuration(Date.parse(finishedAt) - Date.parse(currentRun.startedAt))}`
      : 'without a start',
  ]
  return (
    <p className={styles.outcome} data-state={state}>
      {parts.filter(Boolean).join(' · ')}
      {stateInfo && <span>{stateInfo}</span>}
    </p>
  )
}
