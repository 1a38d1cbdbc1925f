import { NewestChangeDocument } from '../generated/graphql.ts'
import { client } from '../ground/connection.ts'
import { serverNowMs } from '../ground/server-clock.ts'
import { describeChanges, type Values } from './changed-values.ts'
import { type Refusal, refusal } from './form.tsx'
import { formatRelative } from './format.ts'

interface Conflict {
  objectId: string
  before: Values
  now: Values
}

/** Names who changed the object since the form was opened, if the viewer may know, and the new values. */
export async function describeConflict({ objectId, before, now }: Conflict): Promise<Refusal> {
  const newest = await client.request(NewestChangeDocument, { objectId }).then(
    ({ auditLog }) => auditLog.nodes[0],
    () => undefined,
  )
  const who = newest
    ? `${newest.actorName} changed this ${formatRelative(Date.parse(newest.at), serverNowMs())}`
    : 'This was changed meanwhile'
  const changes = describeChanges(before, now)
  return refusal(`${who}${changes && `: ${changes}`}. Your input is kept: save again to store it.`)
}
