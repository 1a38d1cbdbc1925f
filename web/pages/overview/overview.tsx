import { readTime } from '../../features/jobs/filter/filter-text.ts'
import { useJobChanges } from '../../features/jobs/rows/use-job-changes.ts'
import { AnyJobDocument, type CountsFragment, OverviewDocument, type OverviewQuery } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { useQuery, useResource } from '../../ground/resource.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { useStart } from '../../ground/server-facts.ts'
import { useMay } from '../../ground/use-may.ts'
import { Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { Day } from './day.tsx'
import { type Counted, Figures, formatCounted, type Numbers } from './figures.tsx'
import { FirstJob } from './first-job.tsx'
import { MyJobs } from './my-jobs.tsx'
import { NeedsYou } from './needs-you.tsx'
import styles from './overview.module.css'
import { Pools } from './pools.tsx'

const pauseMs = 5_000

async function readOverview(userId: string, signal: AbortSignal) {
  const ended = { finishedAfter: readTime('24h', serverNowMs()) }
  const failed = { ...ended, users: [userId], states: ['FAILED' as const] }
  return client.request(OverviewDocument, { failed, ended }, { signal })
}

/** The start page: the viewer's jobs, what needs the viewer, and the pools. */
export function OverviewPage() {
  usePageTitle('Overview')
  const { viewer } = useStart()
  const userId = viewer.user.id
  const { value, failure, read } = useResource('overview', (signal) => readOverview(userId, signal), {
    version: useJobChanges(),
    pauseMs,
  })
  const isEmpty = useIsEmpty()
  if (!value) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  const pools = value.pools.nodes
  const isIdle = isEmpty && pools.every(({ workload }) => workload.running + workload.depth + workload.blocked === 0)
  return (
    <>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      <div className={styles.page}>
        {isIdle ? <FirstJob /> : <Work overview={value} userId={userId} />}
        <Pools pools={pools} />
      </div>
    </>
  )
}

/** The viewer's jobs and what needs the viewer. If the viewer has no jobs, the jobs of all users. */
function Work({ overview, userId }: { overview: OverviewQuery; userId: string }) {
  const { viewer, failed, ended, jobs, pools } = overview
  const { runningCount, pendingCount, blockedCount } = viewer.workload
  const hasJobs = runningCount + pendingCount + blockedCount + jobs.nodes.length > 0
  const seesAll = useMay()('JOB_VIEW_ALL')
  const needs = (
    <NeedsYou
      pendingDecisions={viewer.pendingDecisions}
      failed={jobs.nodes}
      failedCount={formatCounted(readCount(failed, 'FAILED'))}
    />
  )
  const all = sumUp(pools.nodes, readCount(ended, 'FAILED'))
  const day = <Day ended={ended} running={seesAll ? all.running : runningCount} />
  if (!hasJobs && seesAll)
    return (
      <>
        <Figures title="Jobs of all users" numbers={all} />
        <div className={styles.columns} data-look="operator">
          {day}
          {needs}
        </div>
      </>
    )
  const numbers = {
    running: runningCount,
    queued: pendingCount,
    blocked: blockedCount,
    failed: readCount(failed, 'FAILED'),
  }
  return (
    <>
      <Figures title="Your jobs" numbers={numbers} userId={userId} />
      <div className={styles.columns}>
        <MyJobs userId={userId} workload={viewer.workload} />
        {needs}
      </div>
      {day}
    </>
  )
}

const readCount = ({ rows, isExact }: CountsFragment, key: string): Counted => ({
  count: rows.find((row) => row.key === key)?.count ?? 0,
  isExact,
})

function sumUp(pools: OverviewQuery['pools']['nodes'], failed: Counted): Numbers {
  const sum = (read: (workload: (typeof pools)[number]['workload']) => number) =>
    pools.reduce((all, { workload }) => all + read(workload), 0)
  return {
    running: sum(({ running }) => running),
    queued: sum(({ depth }) => depth),
    blocked: sum(({ blocked }) => blocked),
    failed,
  }
}

/** true: the viewer sees no job at all. */
function useIsEmpty(): boolean {
  return useQuery(AnyJobDocument, {}, { version: useJobChanges(), pauseMs: 2 * pauseMs }).value?.jobs.nodes.length === 0
}
