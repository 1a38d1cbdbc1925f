import { removeInBatches } from '../../platform/remove-in-batches.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { lockOwner } from './snapshots.ts'

/**
 * Removes snapshots that no job or artifact has named for seven days, and those whose upload did not end within a day. The
 * foreign keys keep a snapshot that is named meanwhile.
 */

const removalsPerPass = 100
const objectsPerPass = 1_000

export async function sweepSnapshots(domain: Domain): Promise<void> {
  const { sql } = domain.db
  await sql.query(markSql)
  const due = await sql.query<Due>(`${dueSql} LIMIT ${removalsPerPass}`)
  for (const one of due) await removeSnapshot(domain, one)
  await removeInBatches(sql, removeChunksSql)
  await removeInBatches(sql, removeBlobsSql)
  await removeObjects(domain)
  await sql.query(`DELETE FROM used_upload WHERE used_at < berth_now() - interval '1 hour'`)
}

/** After a restore without chunks: snapshots without all of their blobs are incomplete, so no new job may name them. */
export async function forgetContents(sql: Sql): Promise<void> {
  await sql.query('DELETE FROM blob WHERE object_key IS NULL')
  await sql.query(`UPDATE snapshot s SET completed_at = NULL
    WHERE EXISTS (SELECT FROM unnest(s.blobs) AS named(id) WHERE NOT EXISTS (SELECT FROM blob b WHERE b.id = named.id))`)
}

interface Due {
  snapshotId: string
  userId: string
}

const isNamed = `(EXISTS (SELECT FROM job j WHERE j.snapshot_id = s.id)
  OR EXISTS (SELECT FROM artifact a WHERE a.snapshot_id = s.id))`

const markSql = `
UPDATE snapshot s SET unused_since = CASE WHEN ${isNamed} THEN NULL ELSE berth_now() END
WHERE (unused_since IS NOT NULL) = ${isNamed}`

const dueSql = `
SELECT id AS "snapshotId", user_id AS "userId" FROM snapshot s
WHERE unused_since < berth_now() - CASE WHEN completed_at IS NULL THEN interval '1 day' ELSE interval '7 days' END`

/**
 * Gives each blob that the snapshot holds to another snapshot that names the blob, and marks the others for removal. The
 * row is locked before it is judged: a submission has either named the snapshot already, or does not find it.
 */
async function removeSnapshot({ db }: Domain, due: Due): Promise<void> {
  const { snapshotId } = due
  await db.transaction(async (sql) => {
    await lockOwner(sql, due)
    await sql.query('SELECT FROM snapshot WHERE id = $1 FOR UPDATE', [snapshotId])
    const [still] = await sql.query(`${dueSql} AND id = $1 AND NOT ${isNamed}`, [snapshotId])
    if (!still) return
    for (const heir of await readHeirs(sql, due)) {
      const [held] = await sql.query<{ left: number }>(passSql, [snapshotId, heir])
      if (held?.left === 0) break
    }
    // No longer complete, because its chunks are removed from now on: an upload must not count on it.
    await sql.query('UPDATE blob SET snapshot_id = NULL, complete = false WHERE snapshot_id = $1', [snapshotId])
    await sql.query('DELETE FROM snapshot WHERE id = $1', [snapshotId])
  })
}

const passSql = `
WITH passed AS (
  UPDATE blob SET snapshot_id = $2 WHERE snapshot_id = $1 AND complete
    AND id = ANY((SELECT blobs FROM snapshot WHERE id = $2)::bigint[])
  RETURNING 1
)
SELECT (SELECT count(*) FROM blob WHERE snapshot_id = $1) - (SELECT count(*) FROM passed) AS left`

const removeChunksSql = `
DELETE FROM blob_chunk WHERE ctid = ANY(ARRAY(
  SELECT c.ctid FROM blob b JOIN blob_chunk c ON c.blob_id = b.id WHERE b.snapshot_id IS NULL LIMIT $1))
RETURNING 1`

const removeBlobsSql = `
WITH removed AS (
  DELETE FROM blob WHERE ctid = ANY(ARRAY(
    SELECT b.ctid FROM blob b
    WHERE b.snapshot_id IS NULL AND NOT EXISTS (SELECT FROM blob_chunk c WHERE c.blob_id = b.id) LIMIT $1))
  RETURNING object_key
),
objects AS (
  INSERT INTO removed_object (key) SELECT object_key FROM removed WHERE object_key IS NOT NULL ON CONFLICT DO NOTHING
)
SELECT 1 FROM removed`

/** After the blobs: no row names the object any more. A key is forgotten once its object is gone. */
async function removeObjects({ db: { sql }, objects }: Domain): Promise<void> {
  if (!objects) return
  const due = await sql.query<{ key: string }>('SELECT key FROM removed_object ORDER BY key LIMIT $1', [objectsPerPass])
  for (const { key } of due) {
    await objects.delete(key)
    await sql.query('DELETE FROM removed_object WHERE key = $1', [key])
  }
}

/** Snapshots of the same user, the newest first. */
async function readHeirs(sql: Sql, { snapshotId, userId }: Due): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'SELECT id FROM snapshot WHERE user_id = $1 AND id <> $2 ORDER BY created_at DESC',
    [userId, snapshotId],
  )
  return rows.map(({ id }) => id)
}
