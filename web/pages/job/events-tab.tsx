import { Link } from '@tanstack/react-router'
import { Button } from '../../parts/button.tsx'
import { FoldButton, type Folded, useFolds } from '../../parts/folds.tsx'
import { formatCount } from '../../parts/format.ts'
import { StateChip } from '../../parts/state-glyph.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Moment } from '../../parts/time.tsx'
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
  const { folded, toggle } = useFolds(all.toReversed(), { getKey: ({ id }) => id, describe })
  const missing = (all[0]?.seq ?? 1) - 1
  return (
    <div className={styles.box}>
      <Table label="Events" columns={listColumns(jobId, toggle)} rows={folded} getKey={({ row }) => row.id} />
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

const describe = ({ type, to, stateReason, runNumber, actor }: JobEvent) =>
  JSON.stringify([type, to, stateReason, runNumber, actor?.name])

type Row = Folded<JobEvent>

const listColumns = (jobId: string, toggle: (row: Row) => void): readonly Column<Row>[] => [
  { title: '#', isNumber: true, cell: ({ row: { seq } }) => <span className={styles.faint}>{seq}</span> },
  {
    title: 'Time',
    cell: ({ row: { at, runNumber } }) => (
      <Link
        to="/jobs/$id/$tab"
        params={{ id: jobId, tab: 'log' }}
        search={{ run: runNumber === null ? undefined : String(runNumber), at }}
        className={styles.time}
      >
        <Moment at={at} />
      </Link>
    ),
  },
  {
    title: 'What',
    cell: ({ row: event, ...fold }) => (
      <>
        <FoldButton folded={{ row: event, ...fold }} toggle={toggle} />
        {event.type === 'STATE_CHANGED' && event.to ? <StateChip state={event.to} /> : nameEvent(event)}
        {event.runNumber !== null && event.runNumber > 1 && (
          <span className={styles.faint}> run {event.runNumber}</span>
        )}
      </>
    ),
  },
  { title: 'Who', cell: ({ row: { actor } }) => actor?.name ?? <span className={styles.faint}>Berth</span> },
  { title: 'Why', cell: ({ row }) => <span className={styles.why}>{explainEvent(row)}</span> },
]
