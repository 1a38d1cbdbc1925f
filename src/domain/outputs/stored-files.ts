import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { packEntries } from '../snapshots/archive.ts'
import { chunkBytes, readBlob } from '../snapshots/blobs.ts'

/** Reads the files among the artifacts of jobs. The caller checks that the viewer may see the job. */

export interface StoredFile {
  path: string
  mediaType: string
  size: number
  sha256: string
  /** The user who owns its content. */
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

/** The newest file of each name, in the order of the names. */
export const readFilesOfJob = (sql: Sql, jobId: string): Promise<StoredFile[]> =>
  sql.query<StoredFile>(
    `SELECT DISTINCT ON (a.name) ${columns} FROM artifact a JOIN snapshot s ON s.id = a.snapshot_id
     WHERE a.job_id = $1 ORDER BY a.name, a.seq DESC`,
    [jobId],
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

/** All files of a job belong to one user. A name that is below another file is left out: it was a folder in another run. */
export async function* packStoredFiles(
  { db, objects, time }: Domain,
  files: readonly StoredFile[],
): AsyncGenerator<Buffer, void, void> {
  const names = new Set(files.map(({ path }) => path))
  const entries = files.filter(({ path }) => !isBelow(path, names)).map((file) => ({ ...file, mode: fileMode }))
  const mtime = new Date(time.nowMs())
  for await (const piece of packEntries(db.sql, files[0]?.userId ?? '', entries, { mtime, objects }))
    yield Buffer.from(piece)
}

function isBelow(path: string, names: ReadonlySet<string>): boolean {
  for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1))
    if (names.has(path.slice(0, end))) return true
  return false
}
