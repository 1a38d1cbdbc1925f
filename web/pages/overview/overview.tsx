import { readTime } from '../../features/jobs/filter/filter-text.ts'
import { AnyJobDocument, OverviewDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { useResource } from '../../ground/resource.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { useStart } from '../../ground/server-facts.ts'
import { formatCount } from '../../parts/format.ts'
import { Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { FirstJob } from './first-job.tsx'
import { MyFigures } from './my-figures.tsx'
import { MyJobs } from './my-jobs.tsx'
import { NeedsYou } from './needs-you.tsx'
import styles from './overview.module.css'
import { Pools } from './pools.tsx'

const readMs = 5_000

async function readOverview(userId: string, signal: AbortSignal) {
  const failed = { users: [userId], states: ['FAILED' as const], finishedAfter: readTime('24h', serverNowMs()) }
  return client.request(OverviewDocument, { failed }, { signal })
}

/** How my jobs are, what waits for me, and how the pools are. */
export function OverviewPage() {
  usePageTitle('Overview')
  const { viewer } = useStart()
  const userId = viewer.user.id
  const { value, failure, read } = useResource('overview', (signal) => readOverview(userId, signal), {
    everyMs: readMs,
  })
  const isEmpty = useIsEmpty()
  if (!value) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  const failed = value.jobs.nodes
  const failedCount = `${formatCount(value.jobCounts.rows[0]?.count ?? 0)}${value.jobCounts.isExact ? '' : '+'}`
  const isIdle =
    isEmpty && value.pools.nodes.every(({ workload }) => workload.running + workload.depth + workload.blocked === 0)
  return (
    <>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      <div className={styles.page}>
        {isIdle ? (
          <FirstJob />
        ) : (
          <>
            <MyFigures workload={value.viewer.workload} failed={failedCount} userId={userId} />
            <div className={styles.columns}>
              <MyJobs userId={userId} workload={value.viewer.workload} />
              <NeedsYou pendingDecisions={value.viewer.pendingDecisions} failed={failed} failedCount={failedCount} />
            </div>
          </>
        )}
        <Pools pools={value.pools.nodes} />
      </div>
    </>
  )
}

/** true: the viewer sees no job at all. */
function useIsEmpty(): boolean {
  const { value } = useResource(
    'any job',
    async (signal) => {
      const { jobs } = await client.request(AnyJobDocument, {}, { signal })
      return jobs.nodes.length > 0
    },
    { everyMs: readMs * 2 },
  )
  return value === false
}
