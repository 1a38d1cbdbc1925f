import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { client } from '../../app/connection.ts'
import { useResource } from '../../app/resource.ts'
import { useStart } from '../../app/server-facts.ts'
import { useMay } from '../../app/use-may.ts'
import { MyQueueDocument } from '../../generated/graphql.ts'
import { formatCount, formatDuration, plural } from '../../parts/format.ts'
import { StateGlyph } from '../../parts/state-glyph.tsx'
import { stateWords } from '../../parts/states.ts'
import { describeCode } from './pending-reasons.ts'
import styles from './queue.module.css'
import type { QueuePanel } from './use-queue.ts'

const readMs = 5_000
const keysShown = 8

/** Queued, running, maximum and average wait; then the same jobs by state, user and reason. */
export function Panel({ panel }: { panel: QueuePanel }) {
  const { pool, depth, running, blocked, avgWaitSeconds, byState, byUser, byReason } = panel
  const { maxConcurrent } = pool.limits
  const sortedUsers = byUser.toSorted((a, b) => b.count - a.count)
  return (
    <>
      <section className={styles.figures} aria-label="The queue now">
        <Figure to="queued" pool={pool.name} word="queued" value={formatCount(depth)} />
        <Figure to="active" pool={pool.name} word="running" value={formatCount(running)} />
        <a href="#limits" className={styles.figure}>
          <strong>{maxConcurrent === null ? '∞' : formatCount(maxConcurrent)}</strong>
          {maxConcurrent === null ? 'maximum: unlimited' : 'maximum running'}
        </a>
        <span className={styles.figure} title="Of the last 500 jobs that started within 24 hours">
          <strong>{avgWaitSeconds === null ? '–' : formatDuration(avgWaitSeconds * 1_000)}</strong>
          average wait
        </span>
        {blocked > 0 && <Figure to="blocked" pool={pool.name} word="blocked" value={formatCount(blocked)} />}
      </section>
      <MyQueue />
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
                  to="/queue/$pool"
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
      <Gpus panel={panel} />
    </>
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

/** The jobs of the viewer in all pools. */
function MyQueue() {
  const { user } = useStart().viewer
  const may = useMay()
  const { value } = useResource('my queue', readMyQueue, { everyMs: readMs })
  if (!value) return <p className={styles.mine}> </p>
  const { pendingCount, runningCount, blockedCount, bestPosition } = value
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

const readMyQueue = async (signal: AbortSignal) => (await client.request(MyQueueDocument, {}, { signal })).viewer.queue

function Breakdown({ title, more = 0, children }: { title: string; more?: number; children: readonly ReactNode[] }) {
  return (
    <section>
      <h3>{title}</h3>
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

/** The GPUs of a pool that is one machine. */
function Gpus({ panel: { local, pool } }: { panel: QueuePanel }) {
  const all = local ? local.allocatedGpus.length + local.availableGpus.length : 0
  if (!local || all === 0) return null
  return (
    <p className={styles.mine}>
      <Link to="/cluster/$pool" params={{ pool: pool.name }}>
        {local.allocatedGpus.length} of {plural(all, 'GPU')} in use
      </Link>
      {local.allocatedGpus.length > 0 && `: ${local.allocatedGpus.join(', ')}`}
      {local.availableGpus.length > 0 && `; free: ${local.availableGpus.join(', ')}`}
    </p>
  )
}
