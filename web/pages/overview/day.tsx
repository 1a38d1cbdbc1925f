import { Link, useSearch } from '@tanstack/react-router'
import { type SyntheticEvent, useMemo, useState } from 'react'
import { useJobChanges } from '../../features/jobs/rows/use-job-changes.ts'
import {
  DayJobsDocument,
  type DayJobsQueryVariables,
  type JobState,
  type OverviewQuery,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { readPages } from '../../ground/list-pages.ts'
import { useResource } from '../../ground/resource.ts'
import { serverNowMs, useNow } from '../../ground/server-clock.ts'
import { useMay } from '../../ground/use-may.ts'
import { formatClock, formatCount, formatDuration, plural } from '../../parts/format.ts'
import { FailedInline } from '../../parts/page-states.tsx'
import { nameJob } from '../../parts/server-text.ts'
import { states, stateWords } from '../../parts/states.ts'
import { Tabs } from '../../parts/tabs.tsx'
import { formatAxisTime } from '../../parts/time-axis.ts'
import styles from './day.module.css'
import {
  type DayBar,
  type DayJob,
  type DayRow,
  dayMs,
  dayRowsMax,
  listDayRows,
  listHours,
  markMs,
  type RowsBy,
} from './day-rows.ts'

const readMs = 15_000
/** How often the drawing moves. */
const stepMs = 15_000
const pageRows = 100
const pagesMax = 3

const readJobs = (variables: Omit<DayJobsQueryVariables, 'first' | 'after'>, signal: AbortSignal) =>
  readPages(
    async (after) => (await client.request(DayJobsDocument, { ...variables, first: pageRows, after }, { signal })).jobs,
    pagesMax,
  )

async function readDay(signal: AbortSignal) {
  const order = (field: 'FINISHED_AT' | 'STARTED_AT') => ({ field, direction: 'DESC' as const })
  const finishedAfter = new Date(serverNowMs() - dayMs).toISOString()
  const [active, ended] = await Promise.all([
    readJobs({ filter: { stateCategories: ['ACTIVE'] }, orderBy: order('STARTED_AT') }, signal),
    readJobs({ filter: { finishedAfter }, orderBy: order('FINISHED_AT') }, signal),
  ])
  const byId = new Map([...active.rows, ...ended.rows].map((job) => [job.id, job]))
  return { jobs: [...byId.values()], isWhole: !active.hasMore && !ended.hasMore }
}

/** Draws the jobs of the last 24 hours as bars, in rows by pool or user. Each bar is a link to its job. */
export function Day({ ended, running }: { ended: OverviewQuery['ended']; running: number }) {
  const isOwn = !useMay()('JOB_VIEW_ALL')
  const { rows: asked } = useSearch({ strict: false })
  const by: RowsBy = asked === 'user' && !isOwn ? 'user' : 'pool'
  const nowMs = useNow(stepMs)
  const { value, failure, read } = useResource('day', readDay, { version: useJobChanges(), pauseMs: readMs })
  const rows = useMemo(() => listDayRows(value?.jobs ?? [], { by, nowMs }), [value, by, nowMs])
  const [pointed, setPointed] = useState<string | null>(null)
  const point = ({ target }: SyntheticEvent) =>
    setPointed((target instanceof Element && target.closest<HTMLElement>('[data-job]')?.dataset['job']) || null)
  const job = value?.jobs.find(({ id }) => id === pointed)
  return (
    <section aria-label="Last 24 hours" className={styles.day}>
      <header>
        <h2>Last 24 hours</h2>
        <span className={styles.whose}>{isOwn ? 'your jobs' : 'jobs of all users'}</span>
        <Legend ended={ended} running={running} isOwn={isOwn} />
        {!isOwn && <RowsChoice by={by} />}
      </header>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      {!value && <div className={styles.room} />}
      {value && rows.length === 0 && <p className={styles.note}>No job ran.</p>}
      {rows.length > 0 && (
        // biome-ignore lint/a11y/noStaticElementInteractions: each bar is a link with the same words
        <div className={styles.rows} onPointerOver={point} onFocus={point} onPointerLeave={() => setPointed(null)}>
          <Hours nowMs={nowMs} />
          {rows.slice(0, dayRowsMax).map((row) => (
            <Row key={row.key} row={row} by={by} nowMs={nowMs} />
          ))}
        </div>
      )}
      {rows.length > 0 && (
        <p className={styles.note} aria-live="off">
          {job
            ? describeJob(job, nowMs)
            : describeRest(rows, { by, isWhole: value?.isWhole ?? true, shown: value?.jobs.length ?? 0 })}
        </p>
      )}
    </section>
  )
}

const RowsChoice = ({ by }: { by: RowsBy }) => (
  <Tabs
    look="choice"
    label="Rows"
    tabs={(['pool', 'user'] as const).map((each) => ({
      title: `by ${each}`,
      to: '/',
      search: each === 'pool' ? {} : { rows: each },
      isShown: each === by,
    }))}
  />
)

interface LegendProps {
  ended: OverviewQuery['ended']
  running: number
  isOwn: boolean
}

/** Numbers of running jobs, and of ended jobs by state. Each is a link to the jobs. */
const Legend = ({ ended: { rows, isExact }, running, isOwn }: LegendProps) => (
  <ul className={styles.legend}>
    {running > 0 && (
      <li data-state="RUNNING">
        <Link to="/jobs" search={{ state: 'active', ...(isOwn && { user: 'me' }) }}>
          <b>{formatCount(running)}</b> running
        </Link>
      </li>
    )}
    {states.flatMap((state) => {
      const count = rows.find(({ key }) => key === state)?.count
      if (!count) return []
      return [
        <li key={state} data-state={state}>
          <Link to="/jobs" search={{ state: state.toLowerCase(), ended: '24h', ...(isOwn && { user: 'me' }) }}>
            <b>
              {formatCount(count)}
              {!isExact && '+'}
            </b>{' '}
            {stateWords[state as JobState].toLowerCase()}
          </Link>
        </li>,
      ]
    })}
  </ul>
)

const place = (ms: number, nowMs: number) => `${(100 * (ms - nowMs + dayMs)) / dayMs}%`

const Hours = ({ nowMs }: { nowMs: number }) => (
  <div className={styles.hours} aria-hidden="true">
    {listHours(nowMs).map((ms, i, all) => (
      <span key={ms} style={{ insetInlineStart: place(ms, nowMs) }}>
        {formatAxisTime(ms, markMs, all[i - 1]).replace(/ 00:00$/, '')}
      </span>
    ))}
  </div>
)

const Row = ({ row: { key, lanes, hidden }, by, nowMs }: { row: DayRow; by: RowsBy; nowMs: number }) => (
  <div className={styles.row}>
    <Link to="/jobs" search={{ [by]: key, order: 'start' }} className={styles.name}>
      {key}
      {hidden > 0 && <small> +{formatCount(hidden)}</small>}
    </Link>
    <div className={styles.lanes} style={{ height: lanes.length * laneHeight + 8 }}>
      {lanes.flatMap((bars, lane) => bars.map((bar) => <Bar key={bar.job.id} bar={bar} lane={lane} nowMs={nowMs} />))}
    </div>
  </div>
)

const laneHeight = 12

const Bar = ({ bar: { job, fromMs, toMs }, lane, nowMs }: { bar: DayBar; lane: number; nowMs: number }) => (
  <Link
    to="/jobs/$id"
    params={{ id: job.id }}
    className={styles.bar}
    data-state={job.state}
    data-job={job.id}
    aria-label={describeJob(job, nowMs)}
    style={{
      top: lane * laneHeight + 4,
      // A bar that begins now must keep its minimum width.
      insetInlineStart: `min(${place(fromMs, nowMs)}, 100% - 4px)`,
      width: `${(100 * (toMs - fromMs)) / dayMs}%`,
    }}
  />
)

/** "train-7 (ann, gpu): succeeded, 14:02 to 15:10, 1 h 08 min". */
function describeJob({ id, name, state, user, pool, startedAt, finishedAt }: DayJob, nowMs: number): string {
  const clock = (at: string) => formatClock(Date.parse(at), nowMs)
  const endMs = finishedAt === null ? nowMs : Date.parse(finishedAt)
  const times =
    startedAt === null
      ? `ended ${clock(finishedAt ?? '')} without a start`
      : `${clock(startedAt)} to ${finishedAt === null ? 'now' : clock(finishedAt)}, ${formatDuration(endMs - Date.parse(startedAt))}`
  return `${nameJob({ id, name })} (${user.name}, ${pool.name}): ${stateWords[state].toLowerCase()}, ${times}`
}

/** Describes which jobs are not drawn. */
function describeRest(
  rows: readonly DayRow[],
  { by, isWhole, shown }: { by: RowsBy; isWhole: boolean; shown: number },
) {
  const hidden = rows.reduce((sum, each) => sum + each.hidden, 0)
  const parts = [
    !isWhole && `Only the last ${formatCount(shown)} jobs are drawn.`,
    rows.length > dayRowsMax && `${plural(rows.length - dayRowsMax, `more ${by}`)} with fewer jobs.`,
    hidden > 0 && `Not drawn: ${plural(hidden, 'job')} that overlapped too many others.`,
  ].filter(Boolean)
  return parts.length > 0 ? parts.join(' ') : 'Each bar is a job. Click or tap it to open the job.'
}
