import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useJobChanges } from '../../features/jobs/rows/use-job-changes.ts'
import { ListJobsDocument, type ListJobsQueryVariables } from '../../generated/graphql.ts'
import { useQuery } from '../../ground/resource.ts'
import { useNow } from '../../ground/server-clock.ts'
import { useStart } from '../../ground/server-facts.ts'
import { formatClock, formatCount } from '../../parts/format.ts'
import styles from './overview.module.css'

/** A count of the server; not exact: the real number is higher. */
export interface Counted {
  count: number
  isExact: boolean
}

export const formatCounted = ({ count, isExact }: Counted): string => `${formatCount(count)}${isExact ? '' : '+'}`

export interface Numbers {
  running: number
  queued: number
  blocked: number
  failed: Counted
}

interface FiguresProps {
  title: string
  numbers: Numbers
  /** The user whose jobs are counted; undefined: all users. */
  userId?: string
}

/** Numbers of jobs, each with a link to the jobs. Zeros are left out. */
export function Figures({ title, numbers, userId }: FiguresProps) {
  const { viewer } = useStart()
  const { running, queued, blocked, failed } = numbers
  const user = userId === undefined ? {} : { user: 'me' }
  return (
    <section className={styles.figures} aria-label={title}>
      {running + queued + blocked === 0 && <p className={styles.quiet}>{title}: none runs or waits.</p>}
      <Figure count={running} word="running" search={{ state: 'active', ...user }} />
      <Figure count={queued} word="queued" search={{ state: 'queued', ...user }}>
        {userId !== undefined && <NextStart userId={userId} />}
      </Figure>
      <Figure count={blocked} word="blocked" search={{ state: 'blocked', ...user }} />
      <Figure
        count={failed.count}
        text={formatCounted(failed)}
        word="failed in 24 h"
        search={{ state: 'failed', ended: '24h', ...user }}
        isTrouble
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
  count: number
  text?: string
  word: string
  search: Record<string, string>
  isTrouble?: boolean
  children?: React.ReactNode
}

const Figure = ({ count, text = formatCount(count), word, search, isTrouble = false, children }: FigureProps) =>
  count > 0 && (
    <Link to="/jobs" search={search} className={styles.figure} data-trouble={isTrouble}>
      <strong>{text}</strong>
      <span>{word}</span>
      {children}
    </Link>
  )

const readMs = 10_000
const looked = 20

/** "next starts ~14:20": the earliest estimated start among the oldest waiting jobs of the user. */
function NextStart({ userId }: { userId: string }) {
  const nowMs = useNow()
  const variables: ListJobsQueryVariables = {
    first: looked,
    filter: { users: [userId], states: ['QUEUED'] },
    orderBy: { field: 'CREATED_AT', direction: 'ASC' },
  }
  const { value } = useQuery(ListJobsDocument, variables, { version: useJobChanges(), pauseMs: readMs })
  const starts = value?.jobs.nodes.flatMap(({ scheduling }) => scheduling?.estimatedStart?.p50 ?? []) ?? []
  if (starts.length === 0) return null
  return <small>next starts ~{formatClock(Math.max(nowMs, Math.min(...starts.map(Date.parse))), nowMs)}</small>
}
