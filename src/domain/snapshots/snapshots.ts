import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import { z } from 'zod'
import type { Sql } from '../../platform/tx.ts'
import { demand, type Viewer } from '../access.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { Forbidden, InvalidInput, NotFound } from '../errors.ts'
import { newId } from '../ids.ts'
import { parseInput } from '../parse.ts'
import { lockUser } from '../user-lock.ts'
import {
  type Announced,
  type FileList,
  formatList,
  isFile,
  type ListedFile,
  parseList,
  readFileList,
  readListText,
  type SnapshotEntry,
  sha256Form,
} from './file-list.ts'

/**
 * A snapshot is uploaded in three steps: announcement, list, and the blobs that its user has not sent before. A job may
 * use it when it is complete. All rows belong to one user. Each step that relates snapshots to blobs locks the row of
 * the user, so that a removal (removal.ts) sees a step completely or not at all.
 */

export interface SnapshotLimits {
  bytesMax: number
  filesMax: number
  /** Maximum total size of the contents of a user. */
  userBytesMax: number
}

const incompleteMax = 20
const snapshotsMax = 100_000

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

const announcement = z.strictObject({
  hash: z.string().regex(sha256Form, 'must be a SHA-256 in hexadecimal digits'),
  files: z.int().min(1, 'must be at least 1'),
  bytes: z.int().min(0, 'must not be negative'),
})

export interface AnnouncedSnapshot {
  id: string
  isComplete: boolean
}

/** Announces a snapshot, or finds the one with the same list. A complete one is kept for another seven days. */
export async function createSnapshot(
  domain: Domain,
  viewer: Viewer,
  raw: unknown,
  limits: SnapshotLimits,
): Promise<AnnouncedSnapshot> {
  const userId = await findSenderOwner(domain, viewer)
  const { hash, files, bytes } = parseInput(announcement, raw)
  if (files > limits.filesMax)
    throw InvalidInput.at('files', `${files} is above files.snapshotFilesMax, which is ${limits.filesMax}`)
  if (bytes > limits.bytesMax)
    throw InvalidInput.at('bytes', `${bytes} is above files.snapshotBytesMax, which is ${limits.bytesMax}`)
  const nowMs = domain.time.nowMs()
  const id = newId('snapshot', nowMs)
  return domain.db.transaction(async (sql) => {
    await lockUser(sql, userId)
    await checkUse(sql, { userId }, { hash, bytes }, limits)
    const [row] = await sql.query<AnnouncedSnapshot>(announceSql, [id, userId, Buffer.from(hash, 'hex'), files, bytes])
    if (!row) throw new Error('A snapshot was not stored')
    if (row.id === id && viewer.run === null)
      await audit(sql, viewer, [{ action: 'snapshot.create', objectId: id, detail: { hash, files, bytes } }], nowMs)
    return row
  })
}

/** Returns the owner of uploaded contents: the viewer or, if the viewer is a run, the user of its job. */
export async function findSenderOwner({ db }: Domain, viewer: Viewer): Promise<string> {
  if (viewer.run === null) {
    demand(viewer, 'job.submit')
    return viewer.userId
  }
  const [job] = await db.sql.query<{ userId: string }>('SELECT user_id AS "userId" FROM job WHERE id = $1', [
    viewer.run.jobId,
  ])
  if (!job) throw new Forbidden('run')
  return job.userId
}

interface Use {
  storedBytes: number
  /** Bytes that incomplete snapshots announced but did not send. */
  awaitedBytes: number
  snapshots: number
  incomplete: number
  isComplete: boolean
}

/** Refuses a snapshot that would exceed the limits of the user. A complete snapshot needs no further space. */
async function checkUse(
  sql: Sql,
  { userId }: Pick<SnapshotOwner, 'userId'>,
  { hash, bytes }: Pick<Announced, 'hash' | 'bytes'>,
  { userBytesMax }: SnapshotLimits,
): Promise<void> {
  const [use] = await sql.query<Use>(useSql, [userId, Buffer.from(hash, 'hex')])
  if (!use || use.isComplete) return
  if (use.incomplete >= incompleteMax)
    throw InvalidInput.at(
      'hash',
      `You have ${use.incomplete} incomplete snapshots, and at most ${incompleteMax} are allowed; complete one, or wait: each counts for an hour after its last upload began`,
    )
  if (use.snapshots >= snapshotsMax)
    throw InvalidInput.at(
      'hash',
      `You have ${use.snapshots} snapshots, and at most ${snapshotsMax} are allowed; those that no job has named for seven days are removed, so remove jobs whose files you do not need`,
    )
  const usedBytes = use.storedBytes + use.awaitedBytes
  if (usedBytes + bytes > userBytesMax)
    throw InvalidInput.at(
      'bytes',
      `${bytes} and the ${usedBytes} bytes of your stored files, their lists and uploads under way are above files.userBytesMax, which is ${userBytesMax}; snapshots that no job has named for seven days are removed, so remove jobs whose files you do not need`,
    )
}

/** Stored bytes of the contents of users, from snapshots and artifacts. Users without contents are missing. */
export const readStoredBytes = (sql: Sql, userIds: readonly string[]): Promise<{ userId: string; bytes: number }[]> =>
  sql.query(
    'SELECT user_id AS "userId", sum(bytes)::bigint AS bytes FROM blob WHERE user_id = ANY($1) AND complete GROUP BY user_id',
    [userIds],
    'stored_bytes',
  )

const storedSql = `(
  (SELECT coalesce(sum(bytes), 0) FROM blob WHERE user_id = $1 AND complete)
  + (SELECT coalesce(sum(coalesce(octet_length(list), 0) + coalesce(octet_length(wanted), 0)
      + coalesce(octet_length(diff), 0)), 0)
    FROM snapshot WHERE user_id = $1))::bigint`

/** An interrupted upload counts for an hour, so that it soon makes space for others. */
const isUnderWaySql = `completed_at IS NULL AND unused_since > berth_now() - interval '1 hour' AND hash <> $2`

const awaitedSql = `(
  SELECT coalesce(sum(greatest(0, s.bytes
    - (SELECT coalesce(sum(b.bytes), 0) FROM blob b WHERE b.snapshot_id = s.id AND b.complete)
    - (SELECT coalesce(sum(b.bytes), 0) FROM blob b WHERE b.id = ANY(s.blobs) AND b.snapshot_id <> s.id))), 0)::bigint
  FROM snapshot s WHERE user_id = $1 AND ${isUnderWaySql})`

const useSql = `
SELECT ${storedSql} AS "storedBytes", ${awaitedSql} AS "awaitedBytes", count(*) AS snapshots,
  count(*) FILTER (WHERE ${isUnderWaySql}) AS incomplete,
  coalesce(bool_or(completed_at IS NOT NULL AND hash = $2), false) AS "isComplete"
FROM snapshot WHERE user_id = $1`

const announceSql = `
INSERT INTO snapshot (id, user_id, hash, files, bytes) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (user_id, hash) DO UPDATE SET unused_since = berth_now(),
  files = CASE WHEN snapshot.completed_at IS NULL THEN excluded.files ELSE snapshot.files END,
  bytes = CASE WHEN snapshot.completed_at IS NULL THEN excluded.bytes ELSE snapshot.bytes END
RETURNING id, completed_at IS NOT NULL AS "isComplete"`

export interface AnnouncedFiles {
  /** null: none of the files fits. */
  snapshot: AnnouncedSnapshot | null
  files: readonly ListedFile[]
  /** The list of these files, for `storeList`. */
  text: string
  /** Files that exceed the maximum total size of the user. */
  tooMany: readonly ListedFile[]
}

/** Announces a snapshot of files that the server itself found, with as many of them as the user may store. */
export async function announceFiles(
  { db, time }: Domain,
  { userId, files, userBytesMax }: { userId: string; files: readonly ListedFile[]; userBytesMax: number },
): Promise<AnnouncedFiles> {
  const id = newId('snapshot', time.nowMs())
  return db.transaction(async (sql) => {
    await lockUser(sql, userId)
    const missing = await nameBlobs(sql, { snapshotId: id, userId }, listHashes(files)) // the snapshot does not exist yet
    const [use] = await sql.query<{ storedBytes: number }>(`SELECT ${storedSql} AS "storedBytes"`, [userId])
    const fitting = fitFiles(files, { missing, bytesLeft: userBytesMax - (use?.storedBytes ?? 0) })
    const kept = new Set(fitting)
    const tooMany = files.filter((file) => !kept.has(file))
    const text = formatList(fitting)
    if (fitting.length === 0) return { snapshot: null, files: [], text, tooMany }
    const bytes = fitting.reduce((sum, { size }) => sum + size, 0)
    const hash = createHash('sha256').update(text).digest()
    const [snapshot] = await sql.query<AnnouncedSnapshot>(announceSql, [id, userId, hash, fitting.length, bytes])
    return { snapshot: snapshot ?? null, files: fitting, text, tooMany }
  })
}

/** Files with known contents need no bytes. */
function fitFiles(
  files: readonly ListedFile[],
  { missing, bytesLeft }: { missing: readonly string[]; bytesLeft: number },
): ListedFile[] {
  const unstored = new Set(missing)
  let left = bytesLeft
  return files.filter(({ sha256, size }) => {
    if (!unstored.has(sha256)) return true
    if (size > left) return false
    left -= size
    unstored.delete(sha256)
    return true
  })
}

export interface SnapshotOwner {
  snapshotId: string
  userId: string
}

/** Stores the list. Returns the hashes of the blobs that the client must send; empty: the snapshot is complete. */
export async function storeList(
  domain: Domain,
  owner: SnapshotOwner,
  body: AsyncIterable<Uint8Array>,
): Promise<string[]> {
  const announced = await readAnnounced(domain.db.sql, owner)
  const { packed, list } = await receiveList(body, announced).catch(async (error) => {
    if (error instanceof InvalidInput) await domain.db.sql.query(removeRefusedSql, [owner.snapshotId])
    throw error
  })
  const { entries } = list
  const hashes = listHashes(entries)
  return domain.db.transaction(async (sql) => {
    await lockUser(sql, owner.userId)
    const stored = await sql.query(storeListSql, [owner.snapshotId, packed, ...listFacts(list)])
    if (stored.length === 0) await readAnnounced(sql, owner) // throws if it was removed
    const missing = await nameBlobs(sql, owner, hashes)
    if (missing.length === 0) await complete(sql, owner)
    else await sql.query(storeWantedSql, [owner.snapshotId, await compress(formatList(pickFiles(entries, missing)))])
    return missing
  })
}

/** Checks a list while its text is compressed. */
async function receiveList(
  body: AsyncIterable<Uint8Array>,
  announced: Announced,
): Promise<{ packed: Buffer; list: FileList }> {
  const text = await readListText(body, announced)
  const [packed, list] = await Promise.all([compress(text), readFileList(text, announced)])
  return { packed, list }
}

/** Returns a file for each hash. */
export function pickFiles(entries: readonly SnapshotEntry[], hashes: readonly string[]): ListedFile[] {
  const left = new Set(hashes)
  return entries.filter(isFile).filter(({ sha256 }) => left.delete(sha256))
}

const listFacts = ({ git }: FileList) => [
  git?.commit ?? null,
  git?.branch ?? null,
  git?.remote ?? null,
  git?.changed ?? null,
  git?.diff ?? null,
]

const storeListSql = `
UPDATE snapshot SET list = $2, commit = $3, branch = $4, remote = $5, changed = $6, diff = $7
WHERE id = $1 AND completed_at IS NULL RETURNING 1`

/** Lists that arrive again have the same text, and no more missing blobs. */
const storeWantedSql = 'UPDATE snapshot SET wanted = $2 WHERE id = $1 AND completed_at IS NULL AND wanted IS NULL'

/** Removes the snapshot without a list, which therefore has no blobs. The next try announces it again. */
const removeRefusedSql = 'DELETE FROM snapshot WHERE id = $1 AND completed_at IS NULL AND list IS NULL'

async function readAnnounced(sql: Sql, { snapshotId, userId }: SnapshotOwner): Promise<Announced> {
  const [row] = await sql.query<Announced>(
    `SELECT encode(hash, 'hex') AS hash, files, bytes FROM snapshot WHERE id = $1 AND user_id = $2`,
    [snapshotId, userId],
  )
  if (!row) throw snapshotNotFound(snapshotId)
  return row
}

/** Reads the entries of a list that is stored. */
export async function readSnapshotEntries(sql: Sql, { snapshotId, userId }: SnapshotOwner): Promise<SnapshotEntry[]> {
  const [row] = await sql.query<{ list: Buffer | null }>('SELECT list FROM snapshot WHERE id = $1 AND user_id = $2', [
    snapshotId,
    userId,
  ])
  if (!row?.list) throw snapshotNotFound(snapshotId)
  return parseList(await decompress(row.list))
}

export interface WantedFiles {
  /** A file for each blob that the client must send. */
  files: readonly SnapshotEntry[]
  /** Number of blobs of the whole list. */
  blobs: number
}

/** Returns all files of the list if the snapshot is complete. */
export async function readWantedFiles(sql: Sql, { snapshotId, userId }: SnapshotOwner): Promise<WantedFiles> {
  const [row] = await sql.query<{ text: Buffer | null; stored: number }>(
    `SELECT coalesce(wanted, list) AS text, CASE WHEN wanted IS NULL THEN 0 ELSE cardinality(blobs) END AS stored
     FROM snapshot WHERE id = $1 AND user_id = $2`,
    [snapshotId, userId],
  )
  if (!row?.text) throw snapshotNotFound(snapshotId)
  const files = parseList(await decompress(row.text))
  return { files, blobs: row.stored + listHashes(files).length }
}

/**
 * Completes a snapshot when all of its blobs are stored; `blobs`: their number. Throws InvalidInput with the name of a
 * file without its blob.
 */
export async function completeSnapshot({ db }: Domain, owner: SnapshotOwner, blobs: number): Promise<void> {
  await db.transaction(async (sql) => {
    await lockUser(sql, owner.userId)
    const named = await sql.query(nameSentSql, [owner.snapshotId, blobs])
    if (named.length === 0) await nameListed(sql, owner)
    await complete(sql, owner)
  })
}

async function nameListed(sql: Sql, owner: SnapshotOwner): Promise<void> {
  const entries = await readSnapshotEntries(sql, owner)
  const [first] = await nameBlobs(sql, owner, listHashes(entries))
  const without = entries.find((each) => isFile(each) && each.sha256 === first)
  if (without) throw InvalidInput.at('body', `The content of ${JSON.stringify(without.path)} is missing`)
}

/** Also removes incomplete blobs, which interrupted uploads left. */
async function complete(sql: Sql, { snapshotId }: SnapshotOwner): Promise<void> {
  await sql.query(
    `UPDATE snapshot SET completed_at = berth_now(), unused_since = berth_now(), wanted = NULL
     WHERE id = $1 AND completed_at IS NULL`,
    [snapshotId],
  )
  await sql.query(`UPDATE blob SET snapshot_id = NULL WHERE snapshot_id = $1 AND NOT complete`, [snapshotId])
}

/** Lists the hashes of all files that are not empty. */
const listHashes = (entries: readonly SnapshotEntry[]): string[] => [
  ...new Set(entries.flatMap((each) => (isFile(each) && each.size > 0 ? [each.sha256] : []))),
]

const hashBytes = 32

/** Stores which of the snapshot's blobs the server has. Returns the hashes of the others. */
async function nameBlobs(
  sql: Sql,
  { snapshotId, userId }: SnapshotOwner,
  hashes: readonly string[],
): Promise<string[]> {
  const rows = await sql.query<{ place: number }>(nameBlobsSql, [
    userId,
    Buffer.from(hashes.join(''), 'hex'),
    hashes.length,
    snapshotId,
  ])
  return rows.flatMap(({ place }) => hashes[place] ?? [])
}

/** The ids of up to 50,000 blobs stay in the database. */
const nameBlobsSql = `
WITH named AS MATERIALIZED (
  SELECT w.place, b.id FROM generate_series(0, $3::int - 1) AS w(place)
  LEFT JOIN blob b ON b.user_id = $1 AND b.complete AND b.hash = substring($2::bytea FROM w.place * ${hashBytes} + 1 FOR ${hashBytes})
),
stored AS (
  UPDATE snapshot SET blobs = ARRAY(SELECT id FROM named WHERE id IS NOT NULL) WHERE id = $4 AND completed_at IS NULL
)
SELECT place FROM named WHERE id IS NULL ORDER BY place`

/**
 * Adds the blobs that were sent for a snapshot to those that the server had, if together they are as many as the list
 * names. Otherwise one is missing, another snapshot has it, the list arrived again, or the snapshot is complete already.
 * Looking up each hash takes longer.
 */
const nameSentSql = `
WITH held AS MATERIALIZED (
  SELECT ARRAY(
    SELECT b.id FROM snapshot s JOIN blob b ON b.id = ANY(s.blobs) AND b.complete WHERE s.id = $1
    UNION SELECT id FROM blob WHERE snapshot_id = $1 AND complete
  ) AS blobs
)
UPDATE snapshot SET blobs = held.blobs FROM held
WHERE id = $1 AND completed_at IS NULL AND cardinality(held.blobs) = $2 RETURNING 1`

export const snapshotNotFound = (id: string) => new NotFound(`Snapshot ${id.slice(0, 64)} not found`)

/** Marks the random part of an upload URL as used; false: it was used before. */
export async function useUpload({ db }: Domain, id: string): Promise<boolean> {
  const rows = await db.sql.query('INSERT INTO used_upload (id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING 1', [id])
  return rows.length === 1
}
