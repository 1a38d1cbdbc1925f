import { useNow } from '../../app/server-clock.ts'
import { formatClockSeconds, formatDuration } from '../../parts/format.ts'
import { stateWords } from '../../parts/states.ts'
import { listPhases, type Phase } from './phases.ts'
import styles from './timeline.module.css'
import type { PageJob } from './use-job.ts'

/** The phases of all runs on one axis. Short phases keep a width that can be pointed at. */
export function Timeline({ job }: { job: PageJob }) {
  const nowMs = useNow()
  const phases = listPhases(job, job.runs.nodes)
  const [first] = phases
  if (!first) return null
  const endMs = phases.at(-1)?.toMs ?? nowMs
  return (
    <div className={styles.timeline}>
      <ol className={styles.phases} aria-label="Phases">
        {phases.map((phase) => (
          <PhaseBar key={`${phase.run} ${phase.state} ${phase.fromMs}`} phase={phase} nowMs={nowMs} />
        ))}
      </ol>
      <div className={styles.axis}>
        <span>{formatClockSeconds(first.fromMs)}</span>
        <span>{job.stateCategory === 'FINAL' ? formatClockSeconds(endMs) : 'now'}</span>
      </div>
    </div>
  )
}

const words = { ...stateWords, QUEUED: 'waiting', BLOCKED: 'blocked', STARTING: 'starting', RUNNING: 'running' }

function PhaseBar({ phase: { state, run, fromMs, toMs }, nowMs }: { phase: Phase; nowMs: number }) {
  const lastedMs = Math.max(0, (toMs ?? nowMs) - fromMs)
  const lasted = lastedMs < 1_000 ? `${lastedMs} ms` : formatDuration(lastedMs)
  return (
    <li
      className={styles.phase}
      data-state={state}
      data-live={toMs === null}
      style={{ flexGrow: Math.max(1, lastedMs) }}
      title={`Run ${run}: ${words[state]} ${lasted}, from ${formatClockSeconds(fromMs)}`}
    >
      <span>
        {words[state]} <b>{lasted}</b>
      </span>
    </li>
  )
}
