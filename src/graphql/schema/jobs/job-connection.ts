import type { JobRow } from '../../../domain/submission/stored-job.ts'
import type { FeedPosition } from '../../../feed/event.ts'
import { type ConnectionShape, type NestedList, toConnection } from '../../rows/connection.ts'
import type { RequestContext } from '../../rows/context.ts'
import type { PageArgs } from '../../rows/page.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { JobRef } from '../frame/refs.ts'
import { formatFeedCursor } from './event-cursor.ts'

/** Fields of a list of jobs beyond its page. */
interface JobList {
  head: FeedPosition
}

export const JobConnection = declareConnection<JobRow, JobList>('Job', JobRef)

builder.objectFields(JobConnection, (t) => ({
  asOf: t.field({
    type: 'Cursor',
    description: 'Pass it to jobUpdates(after:) to receive every later change.',
    resolve: ({ head }, _args, { domain }) => formatFeedCursor({ ...head, toldMs: domain.time.nowMs() }),
  }),
}))

export async function readNestedJobs(
  { load, head }: RequestContext,
  list: NestedList,
  { parent, args }: { parent: string; args: PageArgs },
): Promise<ConnectionShape<JobRow> & JobList> {
  const position = await head()
  const connection = await toConnection(await list.load(parent, args), (ids) => load.job.loadMany(ids))
  return { ...connection, head: position }
}
