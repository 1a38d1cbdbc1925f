import { Link } from '@tanstack/react-router'
import { client } from '../../app/connection.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { useResource } from '../../app/resource.ts'
import { useStart } from '../../app/server-facts.ts'
import { ListJobsDocument, OverviewDocument, type OverviewQuery } from '../../generated/graphql.ts'
import { formatBytes, formatDuration } from '../../parts/format.ts'
import { Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { StateChip } from '../../parts/state-glyph.tsx'
import { describeEnd } from '../../parts/states.ts'
import { Duration, Time } from '../../parts/time.tsx'
import type { JobRow } from '../../rows/job-store.ts'
import styles from './overview.module.css'

const readMs = 5_000
const jobsShown = 8

async function readOverview(userId: string, signal: AbortSignal) {
  const list = (filter: object) =>
    client.request(ListJobsDocument, { first: jobsShown, filter: { users: [userId], ...filter } }, { signal })
  const [{ viewer, pools }, live, ended] = await Promise.all([
    client.request(OverviewDocument, {}, { signal }),
    list({ stateCategories: ['ACTIVE', 'WAITING'] }),
    list({ stateCategories: ['FINAL'] }),
  ])
  return { viewer, pools, live: live.jobs.nodes, ended: ended.jobs.nodes }
}

export function OverviewPage() {
  usePageTitle('Overview')
  const { viewer } = useStart()
  const userId = viewer.user.id
  const { value, failure, read } = useResource('overview', (signal) => readOverview(userId, signal), {
    everyMs: readMs,
  })
  if (!value) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  const { queue, pendingDecisions } = value.viewer
  return (
    <>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      <div className={styles.page}>
        <section className={styles.figures} aria-label="My jobs">
          <Figure count={queue.runningCount} word="running" state="active" />
          <Figure count={queue.pendingCount} word="queued" state="queued" />
          <Figure count={queue.blockedCount} word="blocked" state="blocked" />
          {pendingDecisions > 0 && (
            <Figure count={pendingDecisions} word="wait for your approval" state="blocked" everyone />
          )}
        </section>
        <div className={styles.columns}>
          <JobBox title="My jobs now" jobs={value.live} empty="None of your jobs runs or waits." />
          <JobBox title="Ended last" jobs={value.ended} empty="None of your jobs has ended yet." />
        </div>
        <section>
          <h2>Pools</h2>
          <div className={styles.pools}>
            {value.pools.map((pool) => (
              <Pool key={pool.id} pool={pool} />
            ))}
          </div>
        </section>
      </div>
    </>
  )
}

interface FigureProps {
  count: number
  word: string
  state: string
  everyone?: boolean
}

const Figure = ({ count, word, state, everyone = false }: FigureProps) => (
  <Link to="/jobs" search={{ state, ...(!everyone && { user: 'me' }) }} className={styles.figure}>
    <strong>{count}</strong>
    {word}
  </Link>
)

function JobBox({ title, jobs, empty }: { title: string; jobs: readonly JobRow[]; empty: string }) {
  return (
    <section>
      <h2>{title}</h2>
      {jobs.length === 0 && <p className={styles.empty}>{empty}</p>}
      <ul className={styles.jobs}>
        {jobs.map((job) => (
          <li key={job.id}>
            <Link to="/jobs/$id" params={{ id: job.id }} className={styles.job}>
              <StateChip state={job.state} fraction={job.progress?.fraction} />
              <span className={styles.name}>
                {job.name ?? job.id} <span className={styles.when}>{describeEnd(job)}</span>
              </span>
              <span className={styles.when}>
                {job.finishedAt ? (
                  <Time at={job.finishedAt} />
                ) : (
                  <Duration from={job.currentRun.startedAt ?? job.createdAt} />
                )}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}

type PoolFacts = OverviewQuery['pools'][number]

function Pool({ pool }: { pool: PoolFacts }) {
  const { queue, capacity, used, leader, paused } = pool
  return (
    <article className={styles.pool}>
      <header>
        <Link to="/jobs" search={{ pool: pool.name, state: 'active,waiting' }}>
          {pool.name}
        </Link>
        {(paused || !leader) && <span className={styles.trouble}>{paused ? 'paused' : 'no scheduler'}</span>}
        <span className={styles.when}>
          {queue.running} running, {queue.depth} waiting
          {queue.avgWaitSeconds !== null && `, average wait ${formatDuration(queue.avgWaitSeconds * 1_000)}`}
        </span>
      </header>
      {capacity.gpu > 0 && <Meter label="GPUs" used={used.gpu} all={capacity.gpu} format={String} />}
      <Meter label="Cores" used={used.cpu} all={capacity.cpu} format={(value) => String(Math.round(value * 10) / 10)} />
      <Meter label="Memory" used={used.memoryBytes} all={capacity.memoryBytes} format={formatBytes} />
    </article>
  )
}

interface MeterProps {
  label: string
  used: number
  all: number
  format: (value: number) => string
}

function Meter({ label, used, all, format }: MeterProps) {
  return (
    <div className={styles.meter}>
      <span>{label}</span>
      <meter min={0} max={Math.max(all, used)} value={used} aria-label={`${label} in use`} />
      <span>
        {format(used)} / {format(all)}
      </span>
    </div>
  )
}
