import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { JobEventsPageDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { Button } from '../../parts/button.tsx'
import { FoldButton, type Folded, useFolds } from '../../parts/folds.tsx'
import { formatCount } from '../../parts/format.ts'
import { StateChip } from '../../parts/state-glyph.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Moment } from '../../parts/time.tsx'
import { showToast } from '../../parts/toasts.tsx'
import { explainEvent, nameEvent } from './event-words.ts'
import styles from './events-tab.module.css'
import type { JobEvent } from './use-job.ts'

interface EventsTabProps {
  jobId: string
  events: readonly JobEvent[]
  /** Cursor before the first known event; null: no older event exists. */
  start: string | null
}

/** A live list of the job's events, newest first. */
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

const eventsPerPage = 100

interface EarlierEvents {
  events: readonly JobEvent[]
  /** true: older events exist that were not read. */
  hasMore: boolean
  isReading: boolean
  read: () => void
}

/** Reads older events page by page on request. */
function useEarlierEvents(jobId: string, start: string | null): EarlierEvents {
  const [events, setEvents] = useState<readonly JobEvent[]>([])
  const [cursor, setCursor] = useState<string | null>(start)
  const [isReading, setReading] = useState(false)
  const read = async () => {
    if (isReading || cursor === null) return
    setReading(true)
    try {
      const variables = { id: jobId, last: eventsPerPage, before: cursor }
      const { job } = await client.request(JobEventsPageDocument, variables, { attempts: 8 })
      setEvents((known) => [...(job?.events.nodes ?? []), ...known])
      const { hasPreviousPage = false, startCursor = null } = job?.events.pageInfo ?? {}
      setCursor(hasPreviousPage ? startCursor : null)
    } catch (error) {
      showToast(error instanceof Error ? error.message : String(error), { isTrouble: true })
    } finally {
      setReading(false)
    }
  }
  return { events, hasMore: cursor !== null, isReading, read: () => void read() }
}
