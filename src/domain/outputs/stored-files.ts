import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { packEntries } from '../snapshots/archive.ts'
import { chunkBytes, readBlob } from '../snapshots/blobs.ts'
import type { ListedFile } from '../snapshots/file-list.ts'

/** Reads the files among the artifacts of jobs. The caller checks that the viewer may see the job. */

export interface StoredFile {
  path: string
  mediaType: string
  size: number
  sha256: string
  /** Owner of the content. */
  userId: string
}

const columns = `a.name AS path, a.media_type AS "mediaType", a.size_bytes AS size, encode(a.sha256, 'hex') AS sha256,
  s.user_id AS "userId"`

export async function readStoredFile(sql: Sql, artifactId: string): Promise<StoredFile> {
  const [file] = await sql.query<StoredFile>(
    `SELECT ${columns} FROM artifact a JOIN snapshot s ON s.id = a.snapshot_id WHERE a.id = $1`,
    [artifactId],
    'stored_file',
  )
  if (!file) throw new Error(`The artifact ${artifactId} has no file`)
  return file
}

export const filesPerPage = 10_000

/** Reads the newest file of each name, one page at a time, ordered by the bytes of the names. */
export const readFilesOfJob = (sql: Sql, jobId: string, after = ''): Promise<StoredFile[]> =>
  sql.query<StoredFile>(
    `SELECT DISTINCT ON (a.name COLLATE "C") ${columns} FROM artifact a JOIN snapshot s ON s.id = a.snapshot_id
     WHERE a.job_id = $1 AND a.name COLLATE "C" > $2 ORDER BY a.name COLLATE "C", a.seq DESC LIMIT ${filesPerPage}`,
    [jobId, after],
    'files_of_job',
  )

export async function* readFileContent(
  { db, objects }: Domain,
  { userId, ...file }: StoredFile,
  from: number,
): AsyncGenerator<Buffer, void, void> {
  const first = from - (from % chunkBytes)
  let left = from - first
  for await (const piece of readBlob(db.sql, userId, file, { objects, first })) {
    yield Buffer.from(piece).subarray(left)
    left = 0
  }
}

const fileMode = 0o644

/** Packs the files of a job whose names follow `after`; all belong to one user. `first`: the first page. */
export async function* packFilesOfJob(
  { db, objects, time }: Domain,
  jobId: string,
  { first, after = '' }: { first: readonly StoredFile[]; after?: string | undefined },
): AsyncGenerator<Buffer, void, void> {
  const mtime = new Date(time.nowMs())
  const entries = listEntries(db.sql, jobId, { first, after: Buffer.from(after) })
  for await (const piece of packEntries(db.sql, first[0]?.userId ?? '', entries, { mtime, objects }))
    yield Buffer.from(piece)
}

/** Skips a name below another file, which was a folder in another run. */
async function* listEntries(
  sql: Sql,
  jobId: string,
  { first, after }: { first: readonly StoredFile[]; after: Buffer },
): AsyncGenerator<ListedFile> {
  /** Earlier files, which may be parents of later names. */
  let above: string[] = []
  for (let page = first; page.length > 0; page = await readFilesOfJob(sql, jobId, page.at(-1)?.path)) {
    for (const file of page) {
      const { path } = file
      above = above.filter((name) => path.startsWith(name) && path.charAt(name.length) <= '/')
      if (above.some((name) => path.charAt(name.length) === '/')) continue
      above.push(path)
      if (Buffer.compare(Buffer.from(path), after) > 0) yield { ...file, mode: fileMode }
    }
  }
}
