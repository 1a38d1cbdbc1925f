import type { Sql } from '../../platform/tx.ts'
import type { Viewer } from '../access.ts'
import type { Violation } from '../errors.ts'
import type { SubmissionInput } from '../input.ts'

/** Snapshots that submissions use. */

export interface KnownSnapshot {
  id: string
  userId: string
  isComplete: boolean
}

/** Locks the snapshots, so that they are not removed before the new jobs are stored. */
export async function readNamedSnapshots(
  sql: Sql,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KnownSnapshot>> {
  if (ids.length === 0) return new Map()
  const rows = await sql.query<KnownSnapshot>(
    `SELECT id, user_id AS "userId", completed_at IS NOT NULL AS "isComplete" FROM snapshot
     WHERE id = ANY($1::text[]) FOR KEY SHARE`,
    [[...new Set(ids)]],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** A job may name snapshots of its own user. A retry keeps that of its job, which its user may see. */
export function snapshotViolations(
  { spec, retried }: SubmissionInput,
  snapshots: ReadonlyMap<string, KnownSnapshot>,
  viewer: Viewer,
): Violation[] {
  if (spec.snapshot == null) return []
  const snapshot = snapshots.get(spec.snapshot)
  const isKept = retried != null && !Object.hasOwn(retried.overrides ?? {}, 'snapshot')
  const refuse = (message: string) => [{ path: ['spec', 'snapshot'], message: `Snapshot ${spec.snapshot} ${message}` }]
  if (!snapshot || (snapshot.userId !== viewer.userId && !isKept)) return refuse('not found')
  return snapshot.isComplete ? [] : refuse('is incomplete; upload its files first')
}
