import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { ListJobsDocument, type OverviewQuery } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'
import { useNow } from '../../ground/server-clock.ts'
import { useStart } from '../../ground/server-facts.ts'
import { formatClock, formatCount } from '../../parts/format.ts'
import styles from './overview.module.css'

interface MyFiguresProps {
  workload: OverviewQuery['viewer']['workload']
  failed: string
  userId: string
}

/** Each number is a link to the jobs that it counts. */
export function MyFigures({ workload, failed, userId }: MyFiguresProps) {
  const { viewer } = useStart()
  const { runningCount, pendingCount, blockedCount } = workload
  return (
    <section className={styles.figures} aria-label="My jobs">
      <Figure count={formatCount(runningCount)} word="running" search={{ state: 'active', user: 'me' }} />
      <Figure count={formatCount(pendingCount)} word="queued" search={{ state: 'queued', user: 'me' }}>
        {pendingCount > 0 && <NextStart userId={userId} />}
      </Figure>
      {blockedCount > 0 && (
        <Figure count={formatCount(blockedCount)} word="blocked" search={{ state: 'blocked', user: 'me' }} />
      )}
      <Figure
        count={failed}
        word="failed in 24 h"
        search={{ state: 'failed', user: 'me', ended: '24h' }}
        isTrouble={failed !== '0'}
      />
      {viewer.permissions.includes('JOB_SUBMIT') && (
        <Link to="/jobs/new" className={styles.newJob}>
          <Plus size={14} />
          New job
        </Link>
      )}
    </section>
  )
}

interface FigureProps {
  count: string
  word: string
  search: Record<string, string>
  isTrouble?: boolean
  children?: React.ReactNode
}

const Figure = ({ count, word, search, isTrouble = false, children }: FigureProps) => (
  <Link to="/jobs" search={search} className={styles.figure} data-trouble={isTrouble}>
    <strong>{count}</strong>
    <span>{word}</span>
    {children}
  </Link>
)

const readMs = 10_000
const looked = 20

/** "next starts ~14:20": the first of my oldest waiting jobs. */
function NextStart({ userId }: { userId: string }) {
  const nowMs = useNow()
  const { value } = useResource(
    'next start',
    async (signal) => {
      const variables = {
        first: looked,
        filter: { users: [userId], states: ['QUEUED' as const] },
        orderBy: { field: 'CREATED_AT' as const, direction: 'ASC' as const },
      }
      const { jobs } = await client.request(ListJobsDocument, variables, { signal })
      return jobs.nodes.flatMap(({ scheduling }) => {
        const at = scheduling?.estimatedStart?.p50
        return at ? [Date.parse(at)] : []
      })
    },
    { everyMs: readMs },
  )
  if (!value || value.length === 0) return null
  return <small>next starts ~{formatClock(Math.max(nowMs, Math.min(...value)), nowMs)}</small>
}
