import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useJobChanges } from '../../features/jobs/rows/use-job-changes.ts'
import { describeCode } from '../../features/machines/pending-reasons.ts'
import { MyWorkloadDocument } from '../../generated/graphql.ts'
import { useQuery } from '../../ground/resource.ts'
import { useStart } from '../../ground/server-facts.ts'
import { useMay } from '../../ground/use-may.ts'
import { formatCount, formatDuration } from '../../parts/format.ts'
import { StateGlyph } from '../../parts/state-glyph.tsx'
import { stateWords } from '../../parts/states.ts'
import type { WorkloadPanel } from './use-workload.ts'
import styles from './workload.module.css'

const readMs = 5_000
const keysShown = 8

/** Shows the numbers of queued and running jobs, the maximum, and the average wait. */
export function Numbers({ panel: { pool, depth, running, blocked, avgWaitSeconds } }: { panel: WorkloadPanel }) {
  const { maxConcurrent } = pool.limits
  return (
    <>
      <section className={styles.figures} aria-label="The workload now">
        <Figure to="queued" pool={pool.name} word="queued" value={formatCount(depth)} />
        <Figure to="active" pool={pool.name} word="running" value={formatCount(running)} />
        <Link to="/workload/$pool" params={{ pool: pool.name }} search={{ view: 'limits' }} className={styles.figure}>
          <strong>{maxConcurrent === null ? 'no' : formatCount(maxConcurrent)}</strong>
          {maxConcurrent === null ? 'limit of running jobs' : 'may run at once'}
        </Link>
        <span className={styles.figure} title="Of the last 500 jobs that started within 24 hours">
          <strong>{avgWaitSeconds === null ? '–' : formatDuration(avgWaitSeconds * 1_000)}</strong>
          average wait
        </span>
        {blocked > 0 && <Figure to="blocked" pool={pool.name} word="blocked" value={formatCount(blocked)} />}
        {pool.capacity.gpu > 0 && (
          <Link to="/cluster/$pool" params={{ pool: pool.name }} className={styles.figure}>
            <strong>
              {formatCount(pool.used.gpu)} of {formatCount(pool.capacity.gpu)}
            </strong>
            GPUs in use
          </Link>
        )}
      </section>
      <MyWorkload />
    </>
  )
}

/** Shows the numbers of jobs by state, user and reason. */
export function Breakdowns({ panel: { pool, byState, byUser, byReason } }: { panel: WorkloadPanel }) {
  const sortedUsers = byUser.toSorted((a, b) => b.count - a.count)
  return (
    <div className={styles.breakdowns}>
      <Breakdown title="By state">
        {byState.map(({ state, count }) => (
          <Row key={state} count={count}>
            <Link to="/jobs" search={{ pool: pool.name, state: state.toLowerCase() }}>
              <StateGlyph state={state} /> {stateWords[state]}
            </Link>
          </Row>
        ))}
      </Breakdown>
      <Breakdown title="By user" more={sortedUsers.length - keysShown}>
        {sortedUsers.slice(0, keysShown).map(({ user, count }) => (
          <Row key={user.id} count={count}>
            <Link to="/jobs" search={{ pool: pool.name, user: user.name, state: 'active,waiting' }}>
              {user.name}
            </Link>
          </Row>
        ))}
      </Breakdown>
      <Breakdown title="Why jobs wait" more={byReason.length - keysShown}>
        {byReason.slice(0, keysShown).map(({ code, count }) => (
          <Row key={code} count={count}>
            {code === 'APPROVAL_PENDING' ? (
              <Link to="/jobs" search={{ pool: pool.name, state: 'blocked' }}>
                {describeCode(code)}
              </Link>
            ) : (
              <Link
                to="/workload/$pool"
                params={{ pool: pool.name }}
                search={(before: object) => ({ ...before, reason: code })}
                hash="line"
              >
                {describeCode(code)}
              </Link>
            )}
          </Row>
        ))}
      </Breakdown>
    </div>
  )
}

interface FigureProps {
  to: string
  pool: string
  word: string
  value: string
}

const Figure = ({ to, pool, word, value }: FigureProps) => (
  <Link to="/jobs" search={{ state: to, pool }} className={styles.figure}>
    <strong>{value}</strong>
    {word}
  </Link>
)

/** Shows the numbers of the viewer's jobs in all pools. */
function MyWorkload() {
  const { user } = useStart().viewer
  const may = useMay()
  const { value } = useQuery(MyWorkloadDocument, {}, { version: useJobChanges(), pauseMs: readMs })
  if (!value) return <p className={styles.mine}> </p>
  const { pendingCount, runningCount, blockedCount, bestPosition } = value.viewer.workload
  if (may('JOB_VIEW_ALL') && pendingCount + runningCount + blockedCount === 0) return null
  const link = (state: string, text: string) => (
    <Link to="/jobs" search={{ user: 'me', state }}>
      {text}
    </Link>
  )
  return (
    <p className={styles.mine}>
      {user.displayName ?? user.name}, in all pools: {link('queued', `${formatCount(pendingCount)} queued`)}
      {bestPosition !== null && ` (best position ${formatCount(bestPosition)})`},{' '}
      {link('active', `${formatCount(runningCount)} running`)},{' '}
      {link('blocked', `${formatCount(blockedCount)} blocked`)}
      {!may('JOB_VIEW_ALL') && '. Lists and charts of this page have only your own jobs.'}
    </p>
  )
}

function Breakdown({ title, more = 0, children }: { title: string; more?: number; children: readonly ReactNode[] }) {
  return (
    <section className={styles.breakdown}>
      <h2>{title}</h2>
      {children.length === 0 ? <p className={styles.faint}>none</p> : <ul>{children}</ul>}
      {more > 0 && <p className={styles.faint}>and {formatCount(more)} more</p>}
    </section>
  )
}

const Row = ({ count, children }: { count: number; children: ReactNode }) => (
  <li className={styles.count}>
    {children}
    <b>{formatCount(count)}</b>
  </li>
)
