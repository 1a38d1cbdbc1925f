import { Link } from '@tanstack/react-router'
import { Hand, ServerCrash } from 'lucide-react'
import type { ReactNode } from 'react'
import type { JobRow } from '../../features/jobs/rows/job-store.ts'
import { markSeen, useSeenJobs } from '../../features/jobs/rows/seen-jobs.ts'
import { useJobChanges } from '../../features/jobs/rows/use-job-changes.ts'
import { OpenApprovalsDocument, TroubledNodesDocument, type TroubledNodesQuery } from '../../generated/graphql.ts'
import { useQuery } from '../../ground/resource.ts'
import { useNow } from '../../ground/server-clock.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { formatCount, formatDuration, plural } from '../../parts/format.ts'
import { formatServerText, nameJob } from '../../parts/server-text.ts'
import { StateGlyph } from '../../parts/state-glyph.tsx'
import { describeEnd, describeInfo } from '../../parts/states.ts'
import { Time } from '../../parts/time.tsx'
import styles from './overview.module.css'

const readMs = 10_000
const hourMs = 3_600_000
const failedShown = 6

interface NeedsYouProps {
  pendingDecisions: number
  /** The last failed jobs. */
  failed: readonly JobRow[]
  failedCount: string
}

/** Lists approvals that the viewer may decide, nodes with problems, and failed jobs that the viewer has not opened. */
export function NeedsYou({ pendingDecisions, failed, failedCount }: NeedsYouProps) {
  const nodes = useTroubledNodes()
  const seen = useSeenJobs()
  const unseen = failed.filter(({ id }) => !seen.has(id))
  const isQuiet = pendingDecisions === 0 && nodes?.length === 0 && unseen.length === 0
  return (
    <section aria-label="Needs you">
      <h2>
        Needs you
        {unseen.length > 0 && (
          <Button look="quiet" onClick={() => markSeen(unseen.map(({ id }) => id))}>
            Mark as looked at
          </Button>
        )}
      </h2>
      {isQuiet && <p className={styles.empty}>Nothing waits for you.</p>}
      <ul className={styles.jobs}>
        {pendingDecisions > 0 && <Approvals count={pendingDecisions} />}
        {!nodes && <li className={styles.room} />}
        {nodes?.map((node) => (
          <Item
            key={node.id}
            icon={<ServerCrash size={16} className={styles.warning} />}
            to={`/cluster/${encodeURIComponent(node.pool)}`}
            search={{ node: node.name }}
            when={node.backsOffUntil && <Time at={node.backsOffUntil} />}
          >
            {node.name} <span className={styles.faint}>{formatServerText(node.trouble)}</span>
          </Item>
        ))}
        {unseen.slice(0, failedShown).map((job) => (
          <Item
            key={job.id}
            icon={<StateGlyph state={job.state} />}
            to={`/jobs/${job.id}`}
            when={job.finishedAt && <Time at={job.finishedAt} />}
          >
            {nameJob(job)}{' '}
            <span className={styles.faint} title={describeInfo(job.stateInfo) ?? undefined}>
              {describeEnd(job)}
            </span>
          </Item>
        ))}
      </ul>
      {unseen.length > failedShown && (
        <Link to="/jobs" search={{ state: 'failed', user: 'me', ended: '24h' }} className={styles.more}>
          All {failedCount} that failed in 24 h
        </Link>
      )}
    </section>
  )
}

interface ItemProps {
  icon: ReactNode
  to: string
  search?: Record<string, string>
  when?: ReactNode
  children: ReactNode
}

const Item = ({ icon, to, search = {}, when, children }: ItemProps) => (
  <li>
    <Link to={to} search={search} className={styles.need}>
      {icon}
      <span className={styles.name}>{children}</span>
      <span className={styles.when}>{when}</span>
    </Link>
  </li>
)

/** "3 approvals: oldest 2 h, 1 ends in 40 min". */
function Approvals({ count }: { count: number }) {
  const nowMs = useNow()
  const value = useQuery(OpenApprovalsDocument, {}, { version: useJobChanges(), pauseMs: readMs }).value?.approvals
    .nodes
  const oldestMs = Math.min(...(value ?? []).map(({ requestedAt }) => Date.parse(requestedAt)))
  const ends = (value ?? []).map(({ expiresAt }) => Date.parse(expiresAt)).filter((ms) => ms - nowMs < hourMs)
  return (
    <Item icon={<Hand size={16} className={styles.warning} />} to="/approvals">
      {plural(count, 'approval')}{' '}
      <span className={styles.faint}>
        {Number.isFinite(oldestMs) && `oldest ${formatDuration(nowMs - oldestMs)}`}
        {ends.length > 0 &&
          `, ${formatCount(ends.length)} ${ends.length === 1 ? 'ends' : 'end'} in ${formatDuration(Math.min(...ends) - nowMs)}`}
      </span>
    </Item>
  )
}

interface TroubledNode {
  id: string
  pool: string
  name: string
  trouble: string
  backsOffUntil: string | null
}

/** Lists lost nodes and nodes in back-off, for viewers who may change nodes; undefined: not read yet. */
function useTroubledNodes(): readonly TroubledNode[] | undefined {
  const isOff = !useMay()('NODE_WRITE')
  const { value } = useQuery(TroubledNodesDocument, {}, { everyMs: readMs, isOff })
  if (isOff) return []
  return value?.pools.nodes.flatMap(({ name: pool, nodes }) =>
    nodes.nodes.flatMap(({ id, name, backsOffUntil, ...node }): TroubledNode[] => {
      const trouble = describeTrouble({ backsOffUntil, ...node })
      return trouble === null ? [] : [{ id, pool, name, backsOffUntil, trouble }]
    }),
  )
}

type NodeFacts = TroubledNodesQuery['pools']['nodes'][number]['nodes']['nodes'][number]

function describeTrouble(node: Omit<NodeFacts, 'id' | 'name'>): string | null {
  if (node.backsOffUntil !== null) return `backs off: ${node.backsOffBecause ?? 'a start failed'}`
  return node.state === 'LOST' ? `lost${node.stateInfo ? `: ${node.stateInfo}` : ''}` : null
}
