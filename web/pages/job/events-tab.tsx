import { formatExact } from '../../parts/format.ts'
import { StateChip } from '../../parts/state-glyph.tsx'
import { describeReason } from '../../parts/states.ts'
import { Time } from '../../parts/time.tsx'
import styles from './events-tab.module.css'
import type { JobEvent } from './use-job.ts'

const typeWords: Readonly<Record<string, string>> = {
  APPROVAL_DECIDED: 'Approval decided',
  APPROVAL_REQUESTED: 'Approval requested',
  ARTIFACT_PUBLISHED: 'Artifact published',
  CREATED: 'Submitted',
  LATE_REPORT: 'Late report',
  PREEMPT_REQUESTED: 'Preemption requested',
  PREEMPT_WITHDRAWN: 'Preemption withdrawn',
  PRIORITY_CHANGED: 'Priority changed',
}

/** What happened to the job, newest first. */
export function EventsTab({ events, hasEarlier }: { events: readonly JobEvent[]; hasEarlier: boolean }) {
  return (
    <div className={styles.box}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th className={styles.seq}>#</th>
            <th>Time</th>
            <th>What</th>
            <th>Who</th>
            <th>Why</th>
          </tr>
        </thead>
        <tbody>
          {events.toReversed().map((event) => (
            <tr key={event.seq}>
              <td className={styles.seq}>{event.seq}</td>
              <td title={formatExact(Date.parse(event.at))}>
                <Time at={event.at} />
              </td>
              <td>
                {event.type === 'STATE_CHANGED' && event.to ? (
                  <StateChip state={event.to} />
                ) : (
                  (typeWords[event.type] ?? event.type)
                )}
                {event.runNumber !== null && event.runNumber > 1 && (
                  <span className={styles.faint}> run {event.runNumber}</span>
                )}
              </td>
              <td>{event.actor?.name ?? <span className={styles.faint}>Berth</span>}</td>
              <td className={styles.why}>
                {[
                  event.reason && event.reason !== 'EXIT_CODE' && describeReason(event.reason),
                  event.exitCode !== null && `exit code ${event.exitCode}`,
                  event.message,
                ]
                  .filter(Boolean)
                  .join(' · ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {hasEarlier && <p className={styles.faint}>The newest 100 events are shown.</p>}
    </div>
  )
}
