import type { JobRow } from '../../domain/submission/stored-job.ts'
import type { FeedPosition } from '../../feed/event.ts'
import { type ConnectionShape, type NestedList, toConnection } from '../rows/connection.ts'
import type { RequestContext } from '../rows/context.ts'
import type { PageArgs } from '../rows/page.ts'
import { builder } from './builder.ts'
import { connectionType } from './connection-type.ts'
import { feedCursor } from './event-cursor.ts'
import { JobRef } from './refs.ts'

/** What a list of jobs knows beyond its page. */
interface JobList {
  head: FeedPosition
}

export const JobConnection = connectionType<JobRow, JobList>('Job', JobRef)

builder.objectFields(JobConnection, (t) => ({
  asOf: t.field({
    type: 'Cursor',
    description: 'Hand it to jobUpdates(after:): nothing that the page does not show is missed.',
    resolve: ({ head }) => feedCursor(head),
  }),
}))

/** A list of jobs below another noun. */
export async function nestedJobs(
  { load, head }: RequestContext,
  list: NestedList,
  { parent, args }: { parent: string; args: PageArgs },
): Promise<ConnectionShape<JobRow> & JobList> {
  const position = await head()
  const connection = await toConnection(await list.load(parent, args), (ids) => load.job.loadMany(ids))
  return { ...connection, head: position }
}
