import { Link } from '@tanstack/react-router'
import type { Spec } from '../../features/spec/spec-input.ts'
import { useNow } from '../../ground/server-clock.ts'
import { NamedFact } from '../../parts/facts.tsx'
import { formatBytes, formatDuration, formatMoney, formatPercent, plural } from '../../parts/format.ts'
import { nameJob } from '../../parts/server-text.ts'
import { describeInfo } from '../../parts/states.ts'
import { Time } from '../../parts/time.tsx'
import styles from './job.module.css'
import { describeOutcome } from './outcome.ts'
import type { PageJob } from './use-job.ts'

/** All jobs of a sweep of the form or of `berth submit --sweep` have the same value of this label. */
const sweepKey = 'sweep'

/** The lines below the name: progress or outcome, nodes, user and times. */
export function JobFacts({ job, spec }: { job: PageJob; spec: Spec | null }) {
  const { currentRun, user, pool, executor, cost, labels } = job
  const place = [currentRun.nodeNames.join(', '), currentRun.gpuIds.length > 0 && `GPU ${currentRun.gpuIds.join(', ')}`]
  return (
    <>
      {job.progress && job.stateCategory === 'ACTIVE' && <ProgressLine job={job} />}
      {job.stateCategory === 'FINAL' && <Outcome job={job} spec={spec} />}
      <dl className={styles.facts}>
        <NamedFact name="Who">
          <Link to="/jobs" search={{ user: user.name }}>
            {user.name}
          </Link>
        </NamedFact>
        <NamedFact name="Where">
          <Link to="/jobs" search={{ pool: pool.name, state: 'active' }}>
            {place.filter(Boolean).join(': ') || pool.name}
          </Link>{' '}
          <span className={styles.faint}>{executor.toLowerCase()}</span>
        </NamedFact>
        {job.capacityReservation && (
          <NamedFact name="Reservation">
            <Link to="/policies/$part" params={{ part: 'reservations' }}>
              {job.capacityReservation.name}
            </Link>
          </NamedFact>
        )}
        {job.snapshot && <Files snapshot={job.snapshot} />}
        {spec && <NamedFact name="Asked">{describeAsked(spec.resources)}</NamedFact>}
        {job.priority !== null && job.stateCategory === 'WAITING' && (
          <NamedFact name="Priority">
            {job.priority} {job.priorityOverride !== null && <span className={styles.faint}>set by a person</span>}
          </NamedFact>
        )}
        <NamedFact name="Submitted">
          <Time at={job.createdAt} />
        </NamedFact>
        {cost !== null && <NamedFact name="Cost">{formatMoney(cost)}</NamedFact>}
        {job.retryOf && (
          <NamedFact name="Retry of">
            <Link to="/jobs/$id" params={{ id: job.retryOf.id }}>
              {nameJob(job.retryOf)}
            </Link>
          </NamedFact>
        )}
        {labels.map(({ key, value }) => (
          <NamedFact key={key} name={key}>
            {key === sweepKey ? (
              <Link to="/sweeps/$key/$value" params={{ key, value }}>
                {value}
              </Link>
            ) : (
              <Link to="/jobs" search={{ label: `${key}=${value}` }}>
                {value}
              </Link>
            )}
          </NamedFact>
        ))}
      </dl>
    </>
  )
}

/** "312 files · 4.1 MB  9be1d07 on main + 2". */
function Files({ snapshot }: { snapshot: NonNullable<PageJob['snapshot']> }) {
  const { files, bytes, commit, branch, changedFiles } = snapshot
  return (
    <NamedFact name="Files">
      {plural(files, 'file')} · {formatBytes(bytes)}{' '}
      {commit !== null && (
        <span className={styles.faint} title={`Commit ${commit}`}>
          {commit.slice(0, 7)}
          {branch !== null && ` on ${branch}`}
          {changedFiles ? ` + ${plural(changedFiles, 'changed file')}` : ''}
        </span>
      )}
    </NamedFact>
  )
}

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
      {fraction !== null && <strong>{formatPercent(fraction)}</strong>}
      {message && <span>{message}</span>}
      {leftMs !== null && leftMs > 0 && (
        <span className={styles.faint} title="From the progress so far">
          ~ {formatDuration(leftMs)} left
        </span>
      )}
    </p>
  )
}

/** "2 GPU · 16 cores · 64 GiB". */
export function describeAsked({ gpu, cpu, memoryBytes, replicas }: Spec['resources']): string {
  const parts = [gpu > 0 && `${gpu} GPU`, plural(cpu, 'core'), formatBytes(memoryBytes)]
  return `${replicas > 1 ? `${replicas} × ` : ''}${parts.filter(Boolean).join(' · ')}`
}

function Outcome({ job, spec }: { job: PageJob; spec: Spec | null }) {
  const info = describeInfo(job.stateInfo)
  const limits = spec && { memoryBytes: spec.resources.memoryBytes, maxRunTimeSeconds: spec.maxRunTimeSeconds }
  return (
    <p className={styles.outcome} data-state={job.state}>
      {describeOutcome(job, limits)}
      {info !== null && <span>{info}</span>}
    </p>
  )
}
