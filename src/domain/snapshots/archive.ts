import { dirname, join } from 'node:path/posix'
import type { ReadableStream } from 'node:stream/web'
import { createTarPacker } from 'modern-tar'
import type { ObjectStore } from '../../platform/object-store.ts'
import type { Sql } from '../../platform/tx.ts'
import { chunkBytes, readBlob, readSmallBlobs } from './blobs.ts'
import { isFile, type SnapshotEntry } from './file-list.ts'
import { readSnapshotEntries, snapshotNotFound } from './snapshots.ts'

type Entries = Iterable<SnapshotEntry> | AsyncIterable<SnapshotEntry>
type Packer = ReturnType<typeof createTarPacker>['controller']

/** Maximum size and number of the entries whose contents one statement reads. */
const batchBytesMax = 1024 * 1024
const batchEntriesMax = 250
const folderMode = 0o755

/** Owner and location of the files of an archive. Without it, the reader of the archive decides. */
export interface ArchiveTarget {
  /** A relative path. The archive contains this folder as well. */
  folder: string
  uid: number
  gid: number
}

/** null: the job has no snapshot. */
export async function readSnapshotId(sql: Sql, jobId: string): Promise<string | null> {
  const [row] = await sql.query<{ id: string | null }>('SELECT snapshot_id AS id FROM job WHERE id = $1', [jobId])
  return row?.id ?? null
}

/** Packs the files and folders of a complete snapshot as a tar while it is sent. `mtime`: time of all files. */
export async function* readArchive(
  sql: Sql,
  snapshotId: string,
  { mtime, target, objects }: { mtime: Date; target?: ArchiveTarget | undefined; objects?: ObjectStore | undefined },
): AsyncGenerator<Uint8Array> {
  const [row] = await sql.query<{ userId: string }>(
    'SELECT user_id AS "userId" FROM snapshot WHERE id = $1 AND completed_at IS NOT NULL',
    [snapshotId],
  )
  if (!row) throw snapshotNotFound(snapshotId)
  yield* packEntries(sql, row.userId, await readSnapshotEntries(sql, { snapshotId, userId: row.userId }), {
    mtime,
    target,
    objects,
  })
}

/** Packs files of one user as a tar while it is sent. */
export async function* packEntries(
  sql: Sql,
  userId: string,
  entries: Entries,
  { mtime, target, objects }: { mtime: Date; target?: ArchiveTarget | undefined; objects?: ObjectStore | undefined },
): AsyncGenerator<Uint8Array> {
  const { readable, controller } = createTarPacker()
  const { folder = '', ...owner } = target ?? {}
  const adding = {
    sql,
    objects,
    userId,
    packer: controller,
    folder,
    shared: { mtime, ...owner },
    made: new Set<string>(),
  }
  void addAll(adding, entries).catch((error) => controller.error(error))
  yield* readable as ReadableStream<Uint8Array>
}

interface Adding {
  sql: Sql
  objects: ObjectStore | undefined
  userId: string
  packer: Packer
  /** Prefix of all paths; '': none. */
  folder: string
  /** Header fields that all entries share. */
  shared: { mtime: Date; uid?: number; gid?: number }
  /** Folders that the archive already contains. */
  made: Set<string>
}

async function addAll(adding: Adding, entries: Entries): Promise<void> {
  for await (const batch of divide(entries)) {
    const small = batch.filter(isFile).filter(({ size }) => size > 0 && size <= chunkBytes)
    const contents = await readSmallBlobs(adding.sql, adding.userId, small)
    for (const each of batch) await addEntry(adding, each, contents)
  }
  adding.packer.finalize()
}

/** Divides entries into batches, in order. A large file counts as one chunk. */
async function* divide(entries: Entries): AsyncGenerator<SnapshotEntry[]> {
  let batch: SnapshotEntry[] = []
  let bytes = 0
  for await (const each of entries) {
    batch.push(each)
    bytes += isFile(each) ? Math.min(each.size, chunkBytes) : 0
    if (bytes < batchBytesMax && batch.length < batchEntriesMax) continue
    yield batch
    batch = []
    bytes = 0
  }
  yield batch
}

async function addEntry(adding: Adding, each: SnapshotEntry, contents: ReadonlyMap<string, Buffer>): Promise<void> {
  const { sql, objects, userId, packer, shared } = adding
  const name = join(adding.folder, each.path)
  await addFolder(adding, dirname(name))
  if (!isFile(each)) {
    await packer.add({ ...shared, name, size: 0, type: 'symlink', linkname: each.link }).close()
    return
  }
  const file = packer.add({ ...shared, name, size: each.size, mode: each.mode }).getWriter()
  if (each.size > chunkBytes)
    for await (const chunk of readBlob(sql, userId, each, { objects })) await file.write(chunk)
  else if (each.size > 0) await file.write(contents.get(each.sha256) ?? missing(each.sha256))
  await file.close()
}

/** Adds the folder, because otherwise it would belong to the account that unpacks the archive. */
async function addFolder(adding: Adding, path: string): Promise<void> {
  if (path === '.' || adding.made.has(path)) return
  adding.made.add(path)
  await addFolder(adding, dirname(path))
  await adding.packer.add({ ...adding.shared, name: `${path}/`, size: 0, type: 'directory', mode: folderMode }).close()
}

const missing = (sha256: string): never => {
  throw new Error(`The blob ${sha256} is missing`)
}
