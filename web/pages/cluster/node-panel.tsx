import { Link } from '@tanstack/react-router'
import { NodeDetailsDocument, type NodeDetailsQuery } from '../../generated/graphql.ts'
import { useQuery } from '../../ground/resource.ts'
import { useNow } from '../../ground/server-clock.ts'
import { type Fact, Facts } from '../../parts/facts.tsx'
import { formatBytes, formatClock, formatDuration, formatTenth, plural } from '../../parts/format.ts'
import { FailedInline } from '../../parts/page-states.tsx'
import { formatServerText, nameJob } from '../../parts/server-text.ts'
import { SidePanel } from '../../parts/side-panel.tsx'
import { StateChip } from '../../parts/state-glyph.tsx'
import { Time } from '../../parts/time.tsx'
import styles from './cluster.module.css'
import { describeModel } from './map-layout.ts'
import { NodeActions } from './node-actions.tsx'
import type { ClusterPool, MapNode } from './node-changes.ts'
import { type Claims, findCondition, isClosed } from './node-condition.ts'
import { describeMachine } from './use-machines.ts'

type Details = Extract<NonNullable<NodeDetailsQuery['node']>, { runs: unknown }>
type Run = Details['runs']['nodes'][number]

/** Interval between reads of the progress of runs. A change of the node is read at once. */
const readMs = 10_000
const runsShown = 50

interface NodePanelProps {
  node: MapNode
  claims: Claims
  pool: ClusterPool
  onClose: () => void
}

/** The panel of a node: its runs with their times, and the actions on it. */
export function NodePanel({ node, claims, pool, onClose }: NodePanelProps) {
  const variables = { id: node.id, first: runsShown }
  const { value: found, failure, read } = useQuery(NodeDetailsDocument, variables, { everyMs: readMs, version: node })
  const value = found?.node && 'runs' in found.node ? found.node : undefined
  const hold = pool.holds.find(({ nodes }) => nodes.some(({ id }) => id === node.id))
  return (
    <SidePanel title={node.name} onClose={onClose}>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      <NodeFacts node={node} details={value ?? null} claims={claims} hold={hold} />
      <NodeActions node={node} pool={pool.name} runCount={value?.runs.totalCount ?? null} onRemoved={onClose} />
      <Runs details={value ?? null} node={node} />
    </SidePanel>
  )
}

interface NodeFactsProps {
  node: MapNode
  details: Details | null
  claims: Claims
  hold: ClusterPool['holds'][number] | undefined
}

function NodeFacts({ node, details, claims, hold }: NodeFactsProps) {
  const { state, stateAt, stateInfo, backsOffUntil, capacity, free, gpus } = node
  const condition = findCondition(node, claims)
  const used = gpus.filter(({ allocated }) => allocated).length
  const machine = details?.machine
  const because = state === 'READY' ? details?.backsOffBecause : stateInfo
  const facts: readonly Fact[] = [
    [
      'Condition',
      <span key="condition" className={isClosed(condition) ? styles.warning : undefined}>
        {condition ?? 'ready'}
      </span>,
    ],
    ['Since', state === 'READY' ? null : <Time key="since" at={stateAt} />],
    ['By', state === 'READY' ? null : details?.stateBy?.name],
    ['Why', because && formatServerText(because)],
    ['Until', backsOffUntil && <Time key="until" at={backsOffUntil} />],
    ['Held for', hold && (hold.job ? <JobLink job={hold.job} /> : 'a job that you may not see')],
    ['GPUs', gpus.length > 0 && `${used} of ${gpus.length} in use: ${describeModel(node)}`],
    [
      'Cores',
      `${formatTenth(free.cpu)} of ${formatTenth(capacity.cpu)} free${details?.cpuModel ? `, ${details.cpuModel}` : ''}`,
    ],
    ['Memory', `${formatBytes(free.memoryBytes)} of ${formatBytes(capacity.memoryBytes)} free`],
    ['InfiniBand', details?.infiniband && 'yes'],
    ['Jobs', details?.gpuJobsOnly && 'only with GPUs'],
    ['Engine', machine && describeMachine(machine)],
    ['Address', machine?.address],
    ['Silent since', machine?.silentSince && <Time key="silent" at={machine.silentSince} />],
    ['To repair', machine && [machine.silence ?? [], machine.troubles].flat().join('. ')],
    ['Last seen', details?.lastSeenAt && <Time key="seen" at={details.lastSeenAt} />],
  ]
  return <Facts facts={facts} />
}

const JobLink = ({ job }: { job: { id: string; name: string | null } }) => (
  <Link to="/jobs/$id" params={{ id: job.id }} className={styles.link}>
    {nameJob(job)}
  </Link>
)

function Runs({ details, node }: { details: Details | null; node: MapNode }) {
  if (!details) return null
  const { nodes, totalCount } = details.runs
  return (
    <section className={styles.runs}>
      {nodes.length === 0 && <p className={styles.faint}>No run that you may see is on this node.</p>}
      {nodes.map((run) => (
        <RunItem key={run.id} run={run} />
      ))}
      {totalCount > nodes.length && (
        <Link to="/jobs" search={{ node: node.name, state: 'active' }} className={styles.link}>
          All {plural(totalCount, 'job')} of this node
        </Link>
      )}
    </section>
  )
}

function RunItem({ run: { job, state, startedAt, scheduledAt, gpuIds, number } }: { run: Run }) {
  const nowMs = useNow()
  const since = startedAt ?? scheduledAt
  const { maxRunTimeSeconds } = job
  const until =
    startedAt && maxRunTimeSeconds
      ? `until ${formatClock(Date.parse(startedAt) + maxRunTimeSeconds * 1_000, nowMs)} at most`
      : 'no run time limit'
  return (
    <article className={styles.run}>
      <header>
        <StateChip state={state} fraction={job.progress?.fraction} />
        <JobLink job={job} />
      </header>
      <p>
        <Link to="/jobs" search={{ user: job.user.name, state: 'active,waiting' }}>
          {job.user.name}
        </Link>
        {gpuIds.length > 0 && `, GPU ${gpuIds.join(', ')}`}
        {since && `, for ${formatDuration(nowMs - Date.parse(since))}`}, {until}
      </p>
      <p>
        <Link
          to="/jobs/$id/$tab"
          params={{ id: job.id, tab: 'log' }}
          search={{ run: String(number) }}
          className={styles.link}
        >
          Log of run {number}
        </Link>
      </p>
    </article>
  )
}
