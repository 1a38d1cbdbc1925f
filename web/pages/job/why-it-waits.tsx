import { Link } from '@tanstack/react-router'
import { Circle, CircleCheck } from 'lucide-react'
import { useNow } from '../../app/server-clock.ts'
import type { GateCode } from '../../generated/graphql.ts'
import { formatClock, plural } from '../../parts/format.ts'
import { StateGlyph } from '../../parts/state-glyph.tsx'
import { Time } from '../../parts/time.tsx'
import { StartEstimate } from '../jobs/estimates.tsx'
import type { PageJob } from './use-job.ts'
import styles from './why-it-waits.module.css'

type Scheduling = NonNullable<PageJob['scheduling']>

/** Why a job waits, with numbers and a time. */
export function WhyItWaits({ job }: { job: PageJob }) {
  const { scheduling } = job
  if (!scheduling) return <p className={styles.panel}>The scheduler has not looked at this job yet.</p>
  const [decisive, ...others] = scheduling.reasons
  return (
    <section className={styles.panel} aria-label="Why it waits">
      <p className={styles.lead}>
        {decisive?.message ?? 'The scheduler has not looked at this job yet.'}
        {decisive?.job && <JobLink job={decisive.job} />}
      </p>
      <Estimate job={job} />
      {others.length > 0 && (
        <div>
          <h3>Also</h3>
          <ul>
            {others.map(({ code, message, job: cause }) => (
              <li key={`${code} ${message}`}>
                {message} {cause && <JobLink job={cause} />}
              </li>
            ))}
          </ul>
        </div>
      )}
      <Gates job={job} gates={scheduling.gates} />
      <Fit scheduling={scheduling} />
      {scheduling.lastConsideredAt && (
        <p className={styles.faint}>
          Considered <Time at={scheduling.lastConsideredAt} />
        </p>
      )}
    </section>
  )
}

const JobLink = ({ job: { id, name } }: { job: { id: string; name: string | null } }) => (
  <Link to="/jobs/$id" params={{ id }} className={styles.link}>
    {name ?? id}
  </Link>
)

function Estimate({ job }: { job: PageJob }) {
  const { scheduling, queuePosition, pool } = job
  const ahead = scheduling?.jobsAhead ?? 0
  return (
    <dl className={styles.numbers}>
      <div>
        <dt>Starts</dt>
        <dd>{scheduling?.estimatedStart ? <StartEstimate job={job} /> : 'no estimate yet'}</dd>
      </div>
      {queuePosition !== null && (
        <div>
          <dt>Position</dt>
          <dd>{queuePosition}</dd>
        </div>
      )}
      {queuePosition !== null && (
        <div>
          <dt>Ahead</dt>
          <dd>
            <Link to="/jobs" search={{ state: 'queued', pool: pool.name, order: 'oldest' }} className={styles.link}>
              {scheduling?.positionIsExact === false && 'about '}
              {plural(ahead, 'job')}
            </Link>
          </dd>
        </div>
      )}
    </dl>
  )
}

const gateWords: Readonly<Record<GateCode, readonly [open: string, closed: string]>> = {
  APPROVAL: ['approved', 'needs an approval'],
  DEPENDENCY: ['its dependency has ended', 'waits for a dependency'],
  NOT_BEFORE: ['start time has come', 'start time'],
  RESERVATION_WINDOW: ['reservation is open', 'reservation opens'],
  RESTART_BACKOFF: ['pause before the next run is over', 'pause before the next run'],
}

function Gates({ job, gates }: { job: PageJob; gates: Scheduling['gates'] }) {
  const nowMs = useNow()
  if (gates.length === 0) return null
  return (
    <div>
      <h3>Conditions</h3>
      <ul>
        {gates.map(({ code, open, opensAt, detail }) => {
          const dependency = job.dependencies.find((each) => each.job.id === detail)?.job
          return (
            <li key={`${code} ${detail}`} className={styles.gate}>
              {open ? <CircleCheck size={14} className={styles.open} /> : <Circle size={14} />}
              {gateWords[code][open ? 0 : 1]}
              {dependency && <StateGlyph state={dependency.state} />}
              {dependency && <JobLink job={dependency} />}
              {opensAt && <span className={styles.faint}>{formatClock(Date.parse(opensAt), nowMs)}</span>}
            </li>
          )
        })}
      </ul>
    </div>
  )
}

function Fit({ scheduling: { fit, hold } }: { scheduling: Scheduling }) {
  if (fit.missing.length === 0 && !hold && fit.couldEverFit) return null
  return (
    <div>
      <h3>Resources</h3>
      {!fit.couldEverFit && <p className={styles.never}>No node of the pool could ever run this job as it is.</p>}
      <ul>
        {fit.missing.map((each) => (
          <li key={each}>{each}</li>
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
