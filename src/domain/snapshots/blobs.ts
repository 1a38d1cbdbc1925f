import { createHash, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import type { Db } from '../../platform/db.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { brokenConstraint, relaxed, type Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput } from '../errors.ts'
import { ByteReader } from './byte-reader.ts'
import { isFile, type ListedFile } from './file-list.ts'
import { completeSnapshot, readWantedFiles, type SnapshotOwner } from './snapshots.ts'

/**
 * Stores blobs in rows of `chunkBytes`. While the pack arrives, each blob is stored in its own transactions, so an
 * interrupted upload keeps the blobs that were received, and no transaction takes as long as an upload. Only a complete
 * blob counts. With `files.s3`, a blob of several chunks is stored as an object there, after its key was stored here.
 */

export const chunkBytes = 256 * 1024
const batchBytesMax = 2 * 1024 * 1024
const batchBlobsMax = 500
const headingBytesMax = 96
const headingForm = /^([0-9a-f]{64}) (\d{1,15})\n$/

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** A chunk as stored: compressed if that makes it shorter. */
async function pack(chunk: Buffer): Promise<Buffer> {
  const packed = await compress(chunk)
  return packed.length < chunk.length ? packed : chunk
}

const unpack = async (data: Buffer, bytes: number): Promise<Buffer> =>
  data.length === bytes ? data : await decompress(data)

interface Heading {
  sha256: string
  size: number
  path: string
}

/**
 * Stores the blobs of a pack and completes the snapshot. For each blob a pack has a line `SHA-256 SIZE` and the bytes.
 * Throws InvalidInput with the name of the file whose blob differs from the list.
 */
export async function storePack(domain: Domain, owner: SnapshotOwner, body: AsyncIterable<Uint8Array>): Promise<void> {
  const { files, blobs } = await readWantedFiles(domain.db.sql, owner)
  const wanted = new Map(files.filter(isFile).map((file) => [file.sha256, file]))
  const reader = new ByteReader(body)
  const writer = new BlobWriter(domain, owner)
  try {
    for (let line = await reader.line(headingBytesMax); line !== null; line = await reader.line(headingBytesMax)) {
      const heading = readHeading(line, wanted)
      if (heading.size > chunkBytes) await storeLarge(domain, owner, reader, heading)
      else await writer.add(heading, await takeVerified(reader, heading))
    }
  } finally {
    await writer.flush() // also what arrived before a cut
  }
  await completeSnapshot(domain, owner, blobs)
}

function readHeading(line: Buffer, wanted: Map<string, ListedFile>): Heading {
  const [, sha256 = '', size = ''] = headingForm.exec(line.toString('latin1')) ?? []
  if (sha256 === '') throw refuse(`A blob begins with ${JSON.stringify(line.toString().slice(0, headingBytesMax))}`)
  const file = wanted.get(sha256)
  if (!file) throw refuse(`The blob ${sha256} is not in the list of the snapshot, was sent twice, or was stored before`)
  wanted.delete(sha256)
  if (Number(size) !== file.size || file.size === 0)
    throw refuse(`${JSON.stringify(file.path)} was sent with ${size} bytes, but listed with ${file.size}`)
  return file
}

async function takeVerified(reader: ByteReader, file: Heading): Promise<Buffer> {
  const content = await reader.take(file.size)
  if (content.length < file.size) throw cutOff(file)
  if (createHash('sha256').update(content).digest('hex') !== file.sha256) throw changed(file)
  return content
}

const refuse = (message: string) => InvalidInput.at('body', message)
const cutOff = ({ path }: Heading) => refuse(`The body ends within ${JSON.stringify(path)}`)
const changed = ({ path }: Heading) =>
  refuse(`${JSON.stringify(path)} has another SHA-256 than listed: it changed while it was read`)

/** Stores small blobs, many with one statement. */
class BlobWriter {
  readonly #sql: Sql
  readonly #owner: SnapshotOwner
  #batch: { file: Heading; data: Buffer }[] = []
  #bytes = 0

  constructor({ db }: Domain, owner: SnapshotOwner) {
    this.#sql = db.sql
    this.#owner = owner
  }

  async add(file: Heading, content: Buffer): Promise<void> {
    const data = await pack(content)
    this.#batch.push({ file, data })
    this.#bytes += data.length
    if (this.#bytes >= batchBytesMax || this.#batch.length >= batchBlobsMax) await this.flush()
  }

  async flush(): Promise<void> {
    const batch = this.#batch
    if (batch.length === 0) return
    this.#batch = []
    this.#bytes = 0
    await this.#sql.query(storeBatchSql, [
      this.#owner.snapshotId,
      Buffer.from(batch.map(({ file }) => file.sha256).join(''), 'hex'),
      Buffer.concat(batch.map(({ data }) => data)),
      batch.map(({ data }) => data.length),
      batch.map(({ file }) => file.size),
    ])
  }
}

/** Locks the row of the snapshot against its removal. A complete snapshot needs no further blobs. */
const placeSql = 'SELECT id, user_id FROM snapshot WHERE id = $1 AND completed_at IS NULL FOR KEY SHARE'

const storeBatchSql = `
WITH place AS MATERIALIZED (${placeSql}),
piece AS MATERIALIZED (
  SELECT substring($2::bytea FROM (32 * (n - 1) + 1)::int FOR 32) AS hash, bytes, length,
    sum(length) OVER (ORDER BY n) - length AS start
  FROM unnest($4::int[], $5::bigint[]) WITH ORDINALITY AS p(length, bytes, n)
),
stored AS (
  INSERT INTO blob (user_id, hash, bytes, complete, snapshot_id)
  SELECT place.user_id, piece.hash, piece.bytes, true, place.id FROM piece, place
  ON CONFLICT (user_id, hash) WHERE complete DO NOTHING
  RETURNING id, hash
)
INSERT INTO blob_chunk (blob_id, start_offset, data)
SELECT stored.id, 0, substring($3::bytea FROM piece.start::int + 1 FOR piece.length) FROM stored JOIN piece USING (hash)`

/**
 * Stores a blob of several chunks. It is complete, and can be found, when the last chunk is stored and its hash is
 * correct.
 */
async function storeLarge(
  { db, objects }: Domain,
  { snapshotId }: SnapshotOwner,
  reader: ByteReader,
  file: Heading,
): Promise<void> {
  const objectKey = objects ? `blobs/${randomUUID()}` : null
  const [row] = await db.sql.query<{ id: number }>(
    `WITH place AS MATERIALIZED (${placeSql})
     INSERT INTO blob (user_id, hash, bytes, complete, snapshot_id, object_key)
     SELECT user_id, $2, $3, false, id, $4 FROM place RETURNING id`,
    [snapshotId, Buffer.from(file.sha256, 'hex'), file.size, objectKey],
  )
  const id = row?.id ?? 0
  const chunks = takeChunks(reader, file)
  try {
    if (!row) for await (const _chunk of chunks);
    else if (objects && objectKey !== null) await objects.put(objectKey, chunks)
    else await writeChunks(db, id, chunks)
    const kept = await db.sql.query(
      'UPDATE blob SET complete = true WHERE id = $1 AND snapshot_id IS NOT NULL RETURNING 1',
      [id],
    )
    if (row && kept.length === 0) await db.sql.query(abandonSql, [id, objectKey])
  } catch (error) {
    await db.sql.query(abandonSql, [id, objectKey]).catch(() => undefined)
    if (brokenConstraint(error) !== 'blob_user_hash_key') throw error // another upload sent the same file
  }
}

/**
 * Leaves a blob alone that is complete after all, because the answer of the database was lost: its row decides once no
 * other statement holds it. The row may be removed already, with its object, and the object may have been stored only
 * afterwards.
 */
export const abandonSql = `
WITH abandoned AS (
  UPDATE blob SET snapshot_id = CASE WHEN complete THEN snapshot_id END WHERE id = $1 RETURNING complete
)
INSERT INTO removed_object (key) SELECT $2
WHERE $2::text IS NOT NULL AND NOT EXISTS (SELECT FROM abandoned WHERE complete)
ON CONFLICT (key) DO UPDATE SET remove_at = excluded.remove_at`

/** Yields the content of a file in chunks. Throws InvalidInput at its end if it differs from the list. */
async function* takeChunks(reader: ByteReader, file: Heading): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  for (let start = 0; start < file.size; start += chunkBytes) {
    const bytes = Math.min(chunkBytes, file.size - start)
    const chunk = await reader.take(bytes)
    if (chunk.length < bytes) throw cutOff(file)
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest('hex') !== file.sha256) throw changed(file)
}

async function writeChunks(db: Db, blobId: number, chunks: AsyncIterable<Buffer>): Promise<void> {
  const writer = new ChunkWriter(db, blobId)
  try {
    for await (const chunk of chunks) await writer.add(chunk)
  } finally {
    await writer.end()
  }
}

/**
 * Stores the chunks of one blob, several per statement, while the next ones arrive. These statements do not wait for
 * the disk; only the statement that completes the blob does, which also makes the earlier ones durable.
 */
class ChunkWriter {
  readonly #db: Db
  readonly #blobId: number
  #start = 0
  #batch: Buffer[] = []
  #bytes = 0
  #written: Promise<unknown> = Promise.resolve()
  /** Position in a group of chunks that are stored uncompressed, because an earlier one did not become shorter. */
  #unpacked = 0

  constructor(db: Db, blobId: number) {
    this.#db = db
    this.#blobId = blobId
  }

  async add(chunk: Buffer): Promise<void> {
    const data = this.#unpacked > 0 ? chunk : await pack(chunk)
    this.#unpacked = data === chunk ? (this.#unpacked + 1) % packedOnce : 0
    this.#batch.push(data)
    this.#bytes += data.length
    if (this.#bytes >= batchBytesMax || this.#batch.length >= batchBlobsMax) await this.#flush()
  }

  async end(): Promise<void> {
    await this.#flush()
    await this.#written
  }

  /** Waits for the previous batch. */
  async #flush(): Promise<void> {
    const batch = this.#batch
    this.#batch = []
    this.#bytes = 0
    await this.#written
    if (batch.length === 0) return
    const values = [this.#blobId, this.#start, Buffer.concat(batch), batch.map(({ length }) => length)]
    this.#start += batch.length * chunkBytes
    this.#written = this.#db.transaction((sql) => sql.query(storeChunksSql, values, 'store_chunks'), relaxed)
    this.#written.catch(() => undefined) // the next flush throws it
  }
}

/** After a chunk that did not become shorter, only one in this many chunks is compressed. */
const packedOnce = 8

const storeChunksSql = `
INSERT INTO blob_chunk (blob_id, start_offset, data)
SELECT $1, $2::bigint + (n - 1) * ${chunkBytes},
  substring($3::bytea FROM (sum(length) OVER (ORDER BY n) - length)::int + 1 FOR length)
FROM unnest($4::int[]) WITH ORDINALITY AS p(length, n)`

interface ChunkRow {
  hash: string
  start: number
  data: Buffer
}

const fileChunksPerRead = 8

/** Yields the content of a file from `first` on, the beginning of a chunk. */
export async function* readBlob(
  sql: Sql,
  userId: string,
  { sha256, size }: Pick<ListedFile, 'sha256' | 'size'>,
  { objects, first = 0 }: { objects: ObjectStore | undefined; first?: number },
): AsyncGenerator<Uint8Array> {
  const objectKey = size > chunkBytes ? await readObjectKey(sql, userId, sha256) : null
  if (objectKey !== null) {
    if (!objects) throw new Error(`The blob ${sha256} is in an object store, and files.s3 is not set`)
    return yield* objects.get(objectKey, first)
  }
  for (let from = first; from < size; ) {
    const rows = await readChunks(sql, userId, { hashes: [sha256], from, chunks: fileChunksPerRead })
    if (rows[0]?.start !== from) throw new Error(`The blob ${sha256} has no bytes at ${from}`)
    for (const { start, data } of rows) {
      const chunk = await unpack(data, Math.min(chunkBytes, size - start))
      yield chunk
      from += chunk.length
    }
  }
}

async function readObjectKey(sql: Sql, userId: string, sha256: string): Promise<string | null> {
  const [row] = await sql.query<{ key: string | null }>(
    'SELECT object_key AS key FROM blob WHERE user_id = $1 AND complete AND hash = $2',
    [userId, Buffer.from(sha256, 'hex')],
  )
  return row?.key ?? null
}

/** Reads the contents of files of one chunk, by hash. */
export async function readSmallBlobs(
  sql: Sql,
  userId: string,
  files: readonly ListedFile[],
): Promise<ReadonlyMap<string, Buffer>> {
  const sizes = new Map(files.map(({ sha256, size }) => [sha256, size]))
  const rows = await readChunks(sql, userId, { hashes: [...sizes.keys()], from: 0, chunks: sizes.size })
  return new Map(
    await Promise.all(rows.map(async ({ hash, data }) => [hash, await unpack(data, sizes.get(hash) ?? 0)] as const)),
  )
}

const readChunks = (
  sql: Sql,
  userId: string,
  { hashes, from, chunks }: { hashes: readonly string[]; from: number; chunks: number },
) =>
  sql.query<ChunkRow>(
    `SELECT encode(b.hash, 'hex') AS hash, c.start_offset AS start, c.data
     FROM unnest($2::text[]) AS w(hash)
     JOIN blob b ON b.user_id = $1 AND b.complete AND b.hash = decode(w.hash, 'hex')
     JOIN blob_chunk c ON c.blob_id = b.id AND c.start_offset >= $3
     ORDER BY b.id, c.start_offset LIMIT $4`,
    [userId, hashes, from, chunks],
    'blob_chunks',
  )
