import { client } from '../../app/connection.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { useResource } from '../../app/resource.ts'
import { serverNowMs } from '../../app/server-clock.ts'
import { useStart } from '../../app/server-facts.ts'
import { AnyJobDocument, OverviewDocument } from '../../generated/graphql.ts'
import { Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { readTime } from '../../rows/filter-text.ts'
import { FirstJob } from './first-job.tsx'
import { MyFigures } from './my-figures.tsx'
import { MyJobs } from './my-jobs.tsx'
import { NeedsYou } from './needs-you.tsx'
import styles from './overview.module.css'
import { Pools } from './pools.tsx'

const readMs = 5_000

async function readOverview(userId: string, signal: AbortSignal) {
  const failed = { users: [userId], states: ['FAILED' as const], createdAfter: readTime('24h', serverNowMs()) }
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
  const isIdle = isEmpty && value.pools.every(({ queue }) => queue.running + queue.depth + queue.blocked === 0)
  return (
    <>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      <div className={styles.page}>
        {isIdle ? (
          <FirstJob />
        ) : (
          <>
            <MyFigures
              queue={value.viewer.queue}
              failed={failed.length}
              hasMoreFailed={value.jobs.pageInfo.hasNextPage}
              userId={userId}
            />
            <div className={styles.columns}>
              <MyJobs userId={userId} queue={value.viewer.queue} />
              <NeedsYou pendingDecisions={value.viewer.pendingDecisions} failed={failed} />
            </div>
          </>
        )}
        <Pools pools={value.pools} />
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
