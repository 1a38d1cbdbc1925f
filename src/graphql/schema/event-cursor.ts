import { type FeedEvent, type FeedPosition, markEntry } from '../../feed/event.ts'
import { refusal } from '../errors.ts'
import { decodeCursor, encodeCursor, filterHash, invalidCursor } from '../rows/cursor.ts'
import { eventsListing } from '../rows/listings.ts'
import type { Loaders } from '../rows/loaders.ts'
import type { PageArgs } from '../rows/page.ts'
import { eventId } from '../rows/typed-id.ts'

/**
 * Cursors of events. `jobStatus`, `Job.eventCursor` and `Job.events` give the same ones, so a reader goes on by any of
 * them. Each has the mark of its event (feed/event.ts): another database, or this one after it was restored, may have
 * another event there.
 */

export interface SeqPosition {
  jobId: string
  seq: number
  /** undefined: a cursor of before, or its event is gone. */
  mark?: string | undefined
}

export const seqCursor = ({ jobId, seq, mark }: SeqPosition): string =>
  encodeCursor('seq', { j: jobId, s: seq, m: mark })

export const eventCursor = (event: FeedEvent): string => seqCursor({ ...event, mark: markEntry(event) })

/** After the event that made the job what it is at this version. */
export async function cursorAt({ id, version }: AtVersion, load: Loaders): Promise<string> {
  const mark = await load.eventMark.load(eventId({ jobId: id, seq: version }))
  return seqCursor({ jobId: id, seq: version, mark: mark ?? undefined })
}

export function openSeq(jobId: string, cursor: string | null | undefined) {
  if (cursor == null) return {}
  const { seq: after, mark, ...of } = positionAt(cursor)
  if (of.jobId !== jobId) throw invalidCursor()
  return { after, mark }
}

function positionAt(cursor: string): SeqPosition {
  const { j: jobId, s: seq, m: mark } = decodeCursor('seq', cursor)
  return { jobId, seq, mark }
}

interface AtVersion {
  id: string
  version: number
}

/** The arguments as `eventsListing` takes them; refuses a cursor at an event that the job does not have. */
export async function eventsArgs(job: AtVersion, args: PageArgs, load: Loaders): Promise<PageArgs> {
  const [after, before] = await Promise.all([args.after, args.before].map((cursor) => listCursor(job, cursor, load)))
  return { ...args, after, before }
}

/** A cursor of anything else is left for the list to refuse. */
async function listCursor(job: AtVersion, cursor: PageArgs['after'], load: Loaders): Promise<PageArgs['after']> {
  const place = cursor == null ? null : placeOf(cursor)
  if (place?.jobId !== job.id) return cursor
  if (place.seq > job.version || (await isAnother(place, load)))
    throw refusal('INVALID_CURSOR', 'Invalid cursor: its event is not in this database; read the events from the first')
  return encodeCursor('list', { l: eventsListing.name, f: filterHash(job.id), key: [String(place.seq)] })
}

function placeOf(cursor: string): SeqPosition | null {
  try {
    return positionAt(cursor)
  } catch {
    return null
  }
}

async function isAnother({ jobId, seq, mark }: SeqPosition, load: Loaders): Promise<boolean> {
  const stored = mark === undefined ? null : await load.eventMark.load(eventId({ jobId, seq }))
  return stored !== null && stored !== mark
}

export const feedCursor = ({ position, mark }: FeedPosition): string => encodeCursor('pos', { p: position, m: mark })
