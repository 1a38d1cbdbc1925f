import type { ReadableStream } from 'node:stream/web'
import { createTarPacker } from 'modern-tar'
import type { Sql } from '../../platform/tx.ts'
import { chunkBytes, readBlob, readSmallBlobs, readSnapshotEntries } from './blobs.ts'
import { isFile, type SnapshotEntry } from './file-list.ts'
import { snapshotNotFound } from './snapshots.ts'

type Packer = ReturnType<typeof createTarPacker>['controller']

/** Entries whose contents are read with one statement. */
const batchBytesMax = 1024 * 1024
const batchEntriesMax = 250

/** The files of a complete snapshot as a tar, read while it is sent. `mtime`: of all its files. */
export async function* readArchive(sql: Sql, snapshotId: string, mtime: Date): AsyncGenerator<Uint8Array> {
  const [row] = await sql.query<{ userId: string }>(
    'SELECT user_id AS "userId" FROM snapshot WHERE id = $1 AND completed_at IS NOT NULL',
    [snapshotId],
  )
  if (!row) throw snapshotNotFound(snapshotId)
  const entries = await readSnapshotEntries(sql, { snapshotId, userId: row.userId })
  const { readable, controller } = createTarPacker()
  void addAll({ sql, userId: row.userId, packer: controller, mtime }, entries).catch((error) => controller.error(error))
  yield* readable as ReadableStream<Uint8Array>
}

interface Adding {
  sql: Sql
  userId: string
  packer: Packer
  mtime: Date
}

async function addAll(adding: Adding, entries: readonly SnapshotEntry[]): Promise<void> {
  for (const batch of divide(entries)) {
    const small = batch.filter(isFile).filter(({ size }) => size > 0 && size <= chunkBytes)
    const contents = await readSmallBlobs(adding.sql, adding.userId, small)
    for (const each of batch) await addEntry(adding, each, contents)
  }
  adding.packer.finalize()
}

/** Batches of neighbours; a large file counts as a chunk. */
function* divide(entries: readonly SnapshotEntry[]): Generator<SnapshotEntry[]> {
  let batch: SnapshotEntry[] = []
  let bytes = 0
  for (const each of entries) {
    batch.push(each)
    bytes += isFile(each) ? Math.min(each.size, chunkBytes) : 0
    if (bytes < batchBytesMax && batch.length < batchEntriesMax) continue
    yield batch
    batch = []
    bytes = 0
  }
  yield batch
}

async function addEntry(
  { sql, userId, packer, mtime }: Adding,
  each: SnapshotEntry,
  contents: ReadonlyMap<string, Buffer>,
): Promise<void> {
  const name = each.path
  if (!isFile(each)) {
    await packer.add({ name, size: 0, type: 'symlink', linkname: each.link, mtime }).close()
    return
  }
  const file = packer.add({ name, size: each.size, mode: each.mode, mtime }).getWriter()
  if (each.size > chunkBytes) for await (const chunk of readBlob(sql, userId, each)) await file.write(chunk)
  else if (each.size > 0) await file.write(contents.get(each.sha256) ?? missing(each.sha256))
  await file.close()
}

const missing = (sha256: string): never => {
  throw new Error(`The blob ${sha256} is missing`)
}
