import { useState } from 'react'
import { NewestChangeDocument } from '../generated/graphql.ts'
import { client } from '../ground/connection.ts'
import { serverNowMs } from '../ground/server-clock.ts'
import { describeChanges, mergeDraft, type Values } from './changed-values.ts'
import { type Refusal, refusal } from './form.tsx'
import { formatRelative } from './format.ts'

interface DraftOptions<Stored, Draft> {
  /** The stored object; null: the form creates a new one. */
  stored: Stored
  toDraft: (stored: Stored) => Draft
}

/** The state of a form that edits an object. `base`: the object when the form was opened or last merged; `before`: its draft. */
export function useObjectDraft<Stored, Draft extends object>({ stored, toDraft }: DraftOptions<Stored, Draft>) {
  const [base, setBase] = useState(stored)
  const [draft, setDraft] = useState(() => toDraft(stored))
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  /** After a version conflict: rebases the draft on the newest object, and returns the message for the form. */
  const merge = (
    objectId: string,
    now: NonNullable<Stored>,
    toValues: (stored: NonNullable<Stored>) => Values,
  ): Promise<Refusal> => {
    setBase(now)
    setDraft(mergeDraft(draft, toDraft(base), toDraft(now)))
    return describeConflict(objectId, base ? toValues(base) : {}, toValues(now))
  }
  return { base, draft, before: toDraft(base), set, merge }
}

/** Describes the new values and, if the viewer may read the audit log, who changed the object. */
async function describeConflict(objectId: string, before: Values, now: Values): Promise<Refusal> {
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
