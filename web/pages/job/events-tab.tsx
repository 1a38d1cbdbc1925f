import { Link } from '@tanstack/react-router'
import { Button } from '../../parts/button.tsx'
import { formatCount } from '../../parts/format.ts'
import { StateChip } from '../../parts/state-glyph.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { explainEvent, nameEvent } from './event-words.ts'
import styles from './events-tab.module.css'
import { useEarlierEvents } from './use-earlier-events.ts'
import type { JobEvent } from './use-job.ts'

interface EventsTabProps {
  jobId: string
  events: readonly JobEvent[]
  /** Where the known events begin. */
  start: string | null
}

/** Everything that happened to the job, newest first; live. */
export function EventsTab({ jobId, events, start }: EventsTabProps) {
  const earlier = useEarlierEvents(jobId, start)
  const all = [...earlier.events, ...events]
  const missing = (all[0]?.seq ?? 1) - 1
  return (
    <div className={styles.box}>
      <Table label="Events" columns={listColumns(jobId)} rows={all.toReversed()} getKey={({ id }) => id} />
      {earlier.hasMore && (
        <Button onClick={earlier.read} disabled={earlier.isReading}>
          Show earlier events ({formatCount(missing)})
        </Button>
      )}
      {missing > 0 && !earlier.hasMore && (
        <p className={styles.faint}>Events 1 to {formatCount(missing)} were deleted by the retention of events.</p>
      )}
    </div>
  )
}

const listColumns = (jobId: string): readonly Column<JobEvent>[] => [
  { title: '#', isNumber: true, cell: ({ seq }) => <span className={styles.faint}>{seq}</span> },
  {
    title: 'Time',
    cell: ({ at, runNumber }) => (
      <Link
        to="/jobs/$id/$tab"
        params={{ id: jobId, tab: 'log' }}
        search={{ run: runNumber === null ? undefined : String(runNumber), at }}
        className={styles.time}
      >
        <Time at={at} />
      </Link>
    ),
  },
  {
    title: 'What',
    cell: (event) => (
      <>
        {event.type === 'STATE_CHANGED' && event.to ? <StateChip state={event.to} /> : nameEvent(event)}
        {event.runNumber !== null && event.runNumber > 1 && (
          <span className={styles.faint}> run {event.runNumber}</span>
        )}
      </>
    ),
  },
  { title: 'Who', cell: ({ actor }) => actor?.name ?? <span className={styles.faint}>Berth</span> },
  { title: 'Why', cell: (event) => <span className={styles.why}>{explainEvent(event)}</span> },
]
