import { removeInBatches } from '../../platform/remove-in-batches.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { lockUser } from '../user-lock.ts'

/**
 * Removes snapshots that no job or artifact has used for seven days, and those whose upload did not finish within a
 * day. Foreign keys keep a snapshot that is used again meanwhile.
 */

const removalsPerPass = 100
const objectsPerPass = 1_000
/** Number of failures after which the store counts as unavailable. */
const objectFailuresMax = 10
/** Number of files in the snapshots that one statement reads. */
const heirFilesMax = 1_000_000

export async function sweepSnapshots(domain: Domain): Promise<void> {
  const { sql } = domain.db
  await sql.query(markSql)
  const due = await sql.query<Due>(`${dueSql} LIMIT ${removalsPerPass}`)
  for (const one of due) await removeSnapshot(domain, one)
  await removeInBatches(sql, removeChunksSql)
  await removeInBatches(sql, removeBlobsSql)
  await sql.query(`DELETE FROM used_upload WHERE used_at < berth_now() - interval '1 hour'`)
  await removeObjects(domain)
}

/**
 * After a restore without chunks: marks snapshots that lack blobs as incomplete, so that no new job can use them. They
 * keep the ids of blobs that exist.
 */
export async function forgetContents(sql: Sql): Promise<void> {
  await sql.query('DELETE FROM blob WHERE object_key IS NULL')
  await sql.query(`UPDATE snapshot s SET completed_at = NULL, blobs = ARRAY(SELECT b.id FROM blob b WHERE b.id = ANY(s.blobs))
    WHERE EXISTS (SELECT FROM unnest(s.blobs) AS named(id) WHERE NOT EXISTS (SELECT FROM blob b WHERE b.id = named.id))`)
}

interface Due {
  snapshotId: string
  userId: string
}

const isNamedSql = `(EXISTS (SELECT FROM job j WHERE j.snapshot_id = s.id)
  OR EXISTS (SELECT FROM artifact a WHERE a.snapshot_id = s.id))`

const markSql = `
UPDATE snapshot s SET unused_since = CASE WHEN ${isNamedSql} THEN NULL ELSE berth_now() END
WHERE (unused_since IS NOT NULL) = ${isNamedSql}`

const dueSql = `
SELECT id AS "snapshotId", user_id AS "userId" FROM snapshot s
WHERE unused_since < berth_now() - CASE WHEN completed_at IS NULL THEN interval '1 day' ELSE interval '7 days' END`

/**
 * Removes a snapshot. Each of its blobs moves to another snapshot that names it; the others are marked for removal. The row
 * of the snapshot is locked before the check, so a concurrent submission either names the snapshot already or does not
 * find it.
 */
async function removeSnapshot({ db }: Domain, due: Due): Promise<void> {
  const { snapshotId } = due
  await db.transaction(async (sql) => {
    await lockUser(sql, due.userId)
    await sql.query('SELECT FROM snapshot WHERE id = $1 FOR UPDATE', [snapshotId])
    const [still] = await sql.query(`${dueSql} AND id = $1 AND NOT ${isNamedSql}`, [snapshotId])
    if (!still) return
    for (const heirs of divide(await readHeirs(sql, due))) {
      const [held] = await sql.query<{ left: number }>(passSql, [snapshotId, heirs])
      if (held?.left === 0) break
    }
    // Marks the blobs as incomplete, because their chunks will be removed and an upload must not rely on them.
    await sql.query('UPDATE blob SET snapshot_id = NULL, complete = false WHERE snapshot_id = $1', [snapshotId])
    await sql.query('DELETE FROM snapshot WHERE id = $1', [snapshotId])
  })
}

const passSql = `
WITH held AS MATERIALIZED (SELECT id FROM blob WHERE snapshot_id = $1 AND complete),
heir AS (
  SELECT DISTINCT ON (held.id) held.id, s.id AS heir
  FROM snapshot s CROSS JOIN unnest(s.blobs) AS named(blob_id) JOIN held ON held.id = named.blob_id
  WHERE s.id = ANY($2::text[]) ORDER BY held.id, s.created_at DESC
),
passed AS (UPDATE blob SET snapshot_id = heir.heir FROM heir WHERE blob.id = heir.id RETURNING 1)
SELECT (SELECT count(*) FROM held) - (SELECT count(*) FROM passed) AS left`

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

/**
 * Runs after the removal of blobs, when no row has the key of the object. The key is deleted after its object. An
 * object that cannot be removed is retried later, after the others.
 */
async function removeObjects({ db: { sql }, objects }: Domain): Promise<void> {
  if (!objects) return
  const due = await sql.query<{ key: string }>(
    'SELECT key FROM removed_object WHERE remove_at <= berth_now() ORDER BY remove_at, key LIMIT $1',
    [objectsPerPass],
  )
  const failures: unknown[] = []
  for (const { key } of due) {
    try {
      await objects.delete(key)
      await sql.query('DELETE FROM removed_object WHERE key = $1', [key])
    } catch (error) {
      await sql.query('UPDATE removed_object SET remove_at = DEFAULT WHERE key = $1', [key])
      if (failures.push(error) === objectFailuresMax) break
    }
  }
  if (failures.length > 0) throw failures[0]
}

interface Heir {
  id: string
  files: number
}

/** Reads the other snapshots of the user, newest first. */
const readHeirs = (sql: Sql, { snapshotId, userId }: Due): Promise<Heir[]> =>
  sql.query<Heir>('SELECT id, files FROM snapshot WHERE user_id = $1 AND id <> $2 ORDER BY created_at DESC', [
    userId,
    snapshotId,
  ])

/** Ids in batches of about `heirFilesMax` files. */
function* divide(heirs: readonly Heir[]): Generator<string[]> {
  let batch: string[] = []
  let sum = 0
  for (const { id, files } of heirs) {
    batch.push(id)
    sum += files
    if (sum < heirFilesMax) continue
    yield batch
    batch = []
    sum = 0
  }
  if (batch.length > 0) yield batch
}
