import type { FeedPosition } from '../feed/event.ts'
import { decodeCursor, encodeCursor, filterHash } from './cursor.ts'
import { eventsListing } from './listings.ts'

/**
 * `after` of `Job.events` is a cursor of this list, or one of `jobStatus` for the same job: so a reader that polls goes
 * on where a stream stopped. A cursor of anything else is left for the list to refuse.
 */
export function afterEvent<Args extends { after?: string | null | undefined }>(jobId: string, args: Args): Args {
  const seq = args.after ? seqOf(jobId, args.after) : null
  if (seq === null) return args
  return { ...args, after: encodeCursor('list', { l: eventsListing.name, f: filterHash(jobId), key: [String(seq)] }) }
}

function seqOf(jobId: string, cursor: string): number | null {
  try {
    const { j, s } = decodeCursor('seq', cursor)
    return j === jobId ? s : null
  } catch {
    return null
  }
}

export const feedCursor = ({ position, mark }: FeedPosition): string => encodeCursor('pos', { p: position, m: mark })
