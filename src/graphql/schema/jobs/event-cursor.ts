import { type FeedEvent, type FeedPosition, markEntry } from '../../../feed/event.ts'
import { refusal } from '../../errors.ts'
import { decodeCursor, encodeCursor, hashFilter, invalidCursor } from '../../rows/cursor.ts'
import { eventsListing } from '../../rows/listings.ts'
import type { Loaders } from '../../rows/loaders.ts'
import type { PageArgs } from '../../rows/page.ts'
import { eventId } from '../../rows/typed-id.ts'

/**
 * Cursors of events. `jobStatus`, `Job.eventCursor` and `Job.events` return the same cursors, so a reader can continue
 * with any of them. The mark (feed/event.ts) identifies the event: a restored database may have another event with the
 * same number.
 */

export interface SeqPosition {
  jobId: string
  seq: number
  /** Mark of the event; undefined: the event was deleted. */
  mark?: string | undefined
}

export const formatSeqCursor = ({ jobId, seq, mark }: SeqPosition): string =>
  encodeCursor('seq', { j: jobId, s: seq, m: mark })

export const eventCursor = (event: FeedEvent): string => formatSeqCursor({ ...event, mark: markEntry(event) })

/** Returns the cursor after the event that led to this version. */
export async function readEventCursor({ id, version }: AtVersion, load: Loaders): Promise<string> {
  const mark = await load.eventMark.load(eventId({ jobId: id, seq: version }))
  return formatSeqCursor({ jobId: id, seq: version, mark: mark ?? undefined })
}

export function openSeqCursor(jobId: string, cursor: string | null | undefined) {
  if (cursor == null) return {}
  const { seq: after, mark, ...of } = openCursor(cursor)
  if (of.jobId !== jobId) throw invalidCursor()
  return { after, mark }
}

function openCursor(cursor: string): SeqPosition {
  const { j: jobId, s: seq, m: mark } = decodeCursor('seq', cursor)
  return { jobId, seq, mark }
}

interface AtVersion {
  id: string
  version: number
}

/** Converts the cursors for `eventsListing`; refuses a cursor at an event that the job does not have. */
export async function openEventsArgs(job: AtVersion, args: PageArgs, load: Loaders): Promise<PageArgs> {
  const [after, before] = await Promise.all([args.after, args.before].map((cursor) => listCursor(job, cursor, load)))
  return { ...args, after, before }
}

/** Converts a cursor of an event to a cursor of the list. The list refuses cursors of other kinds. */
async function listCursor(job: AtVersion, cursor: PageArgs['after'], load: Loaders): Promise<PageArgs['after']> {
  const place = cursor == null ? null : tryOpenCursor(cursor)
  if (place?.jobId !== job.id) return cursor
  if (place.seq > job.version || (await isOtherEvent(place, load)))
    throw refusal('INVALID_CURSOR', 'Invalid cursor: its event is not in this database; read the events from the first')
  return encodeCursor('list', { l: eventsListing.name, f: hashFilter(job.id), key: [String(place.seq)] })
}

function tryOpenCursor(cursor: string): SeqPosition | null {
  try {
    return openCursor(cursor)
  } catch {
    return null
  }
}

async function isOtherEvent({ jobId, seq, mark }: SeqPosition, load: Loaders): Promise<boolean> {
  const stored = mark === undefined ? null : await load.eventMark.load(eventId({ jobId, seq }))
  return stored !== null && stored !== mark
}

export const formatFeedCursor = ({ position, mark, toldMs }: FeedPosition): string =>
  encodeCursor('pos', { p: position, m: mark, t: toldMs })
