import { Link } from '@tanstack/react-router'
import { Circle, CircleCheck } from 'lucide-react'
import { JobLink, ReasonText } from '../../../features/jobs/reason-text.tsx'
import { describeEstimate } from '../../../features/jobs/rows/describe-estimate.ts'
import type { Spec } from '../../../features/spec/spec-input.ts'
import { type GateCode, PoolNodesDocument } from '../../../generated/graphql.ts'
import { useQuery } from '../../../ground/resource.ts'
import { useNow } from '../../../ground/server-clock.ts'
import { NamedFact } from '../../../parts/facts.tsx'
import { formatBytes, formatClock, formatCount, plural } from '../../../parts/format.ts'
import { formatServerText } from '../../../parts/server-text.ts'
import { StateGlyph } from '../../../parts/state-glyph.tsx'
import { Time } from '../../../parts/time.tsx'
import { describeAsked } from '../job-facts.tsx'
import type { PageJob } from '../use-job.ts'
import { type FitNode, judgeNodes } from './node-fit.ts'
import { WhatIf } from './what-if.tsx'
import styles from './why-it-waits.module.css'

type Scheduling = NonNullable<PageJob['scheduling']>

const readAgainMs = 10_000

/** Shows why a job waits, its position, and its estimated start. */
export function WhyItWaits({ job, spec }: { job: PageJob; spec: Spec | null }) {
  const { scheduling, pool } = job
  const { value } = useQuery(PoolNodesDocument, { name: pool.name }, { everyMs: readAgainMs })
  if (!scheduling) return <p className={styles.panel}>The scheduler has not looked at this job yet.</p>
  const [decisive] = scheduling.reasons
  return (
    <section className={styles.panel} aria-label="Why it waits">
      <p className={styles.lead}>
        {decisive ? <ReasonText {...decisive} /> : 'The scheduler has not looked at this job yet.'}
      </p>
      <Estimate job={job} />
      <Conditions job={job} scheduling={scheduling} />
      <Resources job={job} spec={spec} nodes={value?.pool?.nodes.nodes} />
      {spec && value && <WhatIf job={job} spec={spec} queues={value.submissionQueues} />}
      {scheduling.lastConsideredAt && (
        <p className={styles.faint}>
          Considered <Time at={scheduling.lastConsideredAt} />
        </p>
      )}
    </section>
  )
}

function Estimate({ job: { scheduling, position, pool } }: { job: PageJob }) {
  const nowMs = useNow()
  const estimate = scheduling?.estimatedStart
  const clock = (at: string) => formatClock(Math.max(Date.parse(at), nowMs), nowMs)
  return (
    <div>
      <dl className={styles.numbers}>
        <NamedFact name="Starts">{(estimate && describeEstimate(estimate, nowMs)) ?? 'no estimate'}</NamedFact>
        {position !== null && <NamedFact name="Position">{formatCount(position)}</NamedFact>}
        {position !== null && (
          <NamedFact name="Ahead">
            <Link to="/workload/$pool" params={{ pool: pool.name }} className={styles.link}>
              {describeAhead(scheduling)}
            </Link>
          </NamedFact>
        )}
      </dl>
      {estimate && (
        <p className={styles.faint}>
          {formatServerText(estimate.message)}.
          {estimate.earliest && ` From ${clock(estimate.earliest)} unless other jobs end early`}
          {estimate.earliest &&
            (estimate.latest
              ? `, by ${clock(estimate.latest)} unless other jobs get ahead.`
              : '; a job ahead has no known end.')}
        </p>
      )}
    </div>
  )
}

function describeAhead(scheduling: Scheduling | null): string {
  if (!scheduling?.jobsAhead) return 'no job'
  return `${scheduling.positionIsExact ? '' : 'about '}${plural(scheduling.jobsAhead, 'job')}`
}

const gateWords: Readonly<Record<GateCode, readonly [open: string, closed: string]>> = {
  APPROVAL: ['approved', 'needs an approval'],
  DEPENDENCY: ['its dependency has ended', 'waits for a dependency'],
  NOT_BEFORE: ['start time has come', 'start time'],
  RESERVATION_WINDOW: ['reservation is open', 'reservation opens'],
  RESTART_BACKOFF: ['pause before the next run is over', 'pause before the next run'],
}

/** Lists the conditions before the start, met or not, and the limits that are reached. */
function Conditions({ job, scheduling: { gates, reasons } }: { job: PageJob; scheduling: Scheduling }) {
  const reached = reasons.slice(1) // the first one is the title
  const isInTitle = gates.length === 1 && !gates[0]?.open && gates[0]?.code !== 'APPROVAL'
  if (reached.length === 0 && (gates.length === 0 || isInTitle)) return null
  return (
    <div>
      <h3>Conditions</h3>
      <ul>
        {gates.map((gate) => (
          <GateLine key={gate.code} job={job} gate={gate} />
        ))}
        {reached.map((reason) => (
          <li key={`${reason.code} ${reason.message}`} className={styles.gate}>
            <Circle size={14} />
            <span>
              <ReasonText {...reason} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

function GateLine({
  job,
  gate: { code, open, opensAt, job: dependency },
}: {
  job: PageJob
  gate: Scheduling['gates'][number]
}) {
  const nowMs = useNow()
  return (
    <li className={styles.gate}>
      {open ? <CircleCheck size={14} className={styles.open} /> : <Circle size={14} />}
      {gateWords[code][open ? 0 : 1]}
      {dependency && <StateGlyph state={dependency.state} />}
      {dependency && <JobLink job={dependency} />}
      {opensAt && <span className={styles.faint}>{formatClock(Date.parse(opensAt), nowMs)}</span>}
      {code === 'APPROVAL' && job.approval && <ApprovalWords approval={job.approval} />}
    </li>
  )
}

function ApprovalWords({ approval }: { approval: NonNullable<PageJob['approval']> }) {
  const { status, decidedBy } = approval
  if (status !== 'PENDING') return decidedBy && <span className={styles.faint}>by {decidedBy.name}</span>
  return (
    <Link to="/approvals" search={{ tab: 'pending' }} className={styles.link}>
      Approvals
    </Link>
  )
}

const namesMax = 8

interface ResourcesProps {
  job: PageJob
  spec: Spec | null
  nodes: readonly FitNode[] | undefined
}

/** Compares requested and free resources, and lists the nodes on which the job would fit. */
function Resources({ job, spec, nodes }: ResourcesProps) {
  const { fit, hold } = job.scheduling ?? {}
  if (!spec || !fit) return null
  const { gpu, gpuModel, gpuMemoryBytes } = spec.resources
  const found = nodes && judgeNodes(nodes, spec.resources)
  const unit = gpu > 0 ? 'GPU' : 'core'
  const wanted = [gpuMemoryBytes !== null && `each with ${formatBytes(gpuMemoryBytes)}`, ...gpuModel].filter(Boolean)
  const names = found?.fitting ?? []
  return (
    <div>
      <h3>Resources</h3>
      <ul>
        <li>
          Asked: {describeAsked(spec.resources)}
          {wanted.length > 0 && ` (${wanted.join(', ')})`}
        </li>
        {found && (
          <li>
            Free now: {plural(found.free, unit)}
            {found.largest < found.free && `, at most ${formatCount(found.largest)} on one node`}
          </li>
        )}
        {found && (
          <li className={names.length === 0 ? styles.never : undefined}>
            Nodes that fit:{' '}
            <Link to="/cluster/$pool" params={{ pool: job.pool.name }} className={styles.link}>
              {names.slice(0, namesMax).join(', ') || 'none that takes runs now'}
              {names.length > namesMax && ` and ${formatCount(names.length - namesMax)} more`}
            </Link>
          </li>
        )}
        {!fit.couldEverFit && (
          <li className={styles.never}>It cannot start until nodes, limits or settings of the pool change.</li>
        )}
        {fit.missing
          .filter((each) => !job.scheduling?.reasons.some(({ message }) => message === each))
          .map((each) => (
            <li key={each}>{formatServerText(each)}</li>
          ))}
        {hold && (
          <li>
            Held for this job: {hold.nodes.map(({ name }) => name).join(', ')}
            {hold.waitingForVictims > 0 && `; ${plural(hold.waitingForVictims, 'preempted run')} still end`}
          </li>
        )}
      </ul>
    </div>
  )
}
