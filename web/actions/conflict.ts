import { client } from '../app/connection.ts'
import { serverNowMs } from '../app/server-clock.ts'
import { NewestChangeDocument } from '../generated/graphql.ts'
import { type Refusal, refusal } from '../parts/form.tsx'
import { formatRelative } from '../parts/format.ts'

/** The values of an object that a form changes, as a person reads them. */
export type Values = Readonly<Record<string, string>>

/** "limit was 8 and is 12". */
export function describeChanges(before: Values, now: Values): string {
  const changed = Object.keys(now).filter((name) => before[name] !== now[name])
  return changed.map((name) => `${name} was ${before[name] || 'empty'} and is ${now[name] || 'empty'}`).join('; ')
}

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
  return refusal(`${who}${changes && `: ${changes}`}. Save again to put your values in their place.`)
}
