import { useState } from 'react'
import { JobEventsPageDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { showToast } from '../../parts/toasts.tsx'
import type { JobEvent } from './use-job.ts'

const eventsPerPage = 100

interface EarlierEvents {
  events: readonly JobEvent[]
  /** Older events exist that were not read. */
  hasMore: boolean
  isReading: boolean
  read: () => void
}

/** Events before those that are known, page by page on demand. */
export function useEarlierEvents(jobId: string, start: string | null): EarlierEvents {
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
