import { basename } from 'node:path/posix'
import type { Domain } from '../../domain/domain.ts'
import {
  packFilesOfJob,
  readFileContent,
  readFilesOfJob,
  readStoredFile,
  type StoredFile,
} from '../../domain/outputs/stored-files.ts'
import { readArchive, readSnapshotId } from '../../domain/snapshots/archive.ts'
import { encodeStreams } from '../../logs/batch.ts'
import { hashText, openRawLog } from '../../logs/download.ts'
import { type LogPage, readLogInOrder } from '../../logs/read.ts'
import type { RequestContext } from '../rows/context.ts'
import type {
  ArtifactTarget,
  DownloadTarget,
  FilesTarget,
  LogTarget,
  SnapshotDownload,
} from '../rows/download-target.ts'

/** A file that is generated from stored objects while it is sent. */
export interface DownloadFile {
  name: string
  type: string
  /** Size of the file; null: unknown until it is generated, so ranges are not supported. */
  bytes: number | null
  /** Identifies the content (ETag); null: the content differs from one download to the next. */
  tag: string | null
  read(from: number): AsyncGenerator<Uint8Array, void, void>
}

/** null: the object does not exist, the viewer may not see it, or its content is stored elsewhere. */
export function openFile(context: RequestContext, target: DownloadTarget): Promise<DownloadFile | null> {
  if (target.kind === 'log') return openLogFile(context, target)
  if (target.kind === 'files') return openFilesOfJob(context, target)
  return target.kind === 'artifact' ? openArtifactFile(context, target) : openSnapshotFile(context, target)
}

/** Only runs of the job itself read its snapshot. */
async function openSnapshotFile(
  { viewer, domain }: RequestContext,
  { jobId }: SnapshotDownload,
): Promise<DownloadFile | null> {
  const isOwn = viewer.run?.jobId === jobId
  const snapshotId = isOwn ? await readSnapshotId(domain.db.sql, jobId) : null
  if (snapshotId === null) return null
  const mtime = new Date(domain.time.nowMs())
  const read = () => readArchive(domain.db.sql, snapshotId, { mtime, objects: domain.objects })
  return makeTar(jobId, read)
}

async function openLogFile({ load, domain }: RequestContext, target: LogTarget): Promise<DownloadFile | null> {
  const { jobId, run, streams, format } = target
  if (!(await load.job.load(jobId))) return null
  const { sql } = domain.db
  const name = run === null ? jobId : `${jobId}-run-${run}`
  if (format === 'RAW') {
    const { bytes, tag, read } = await openRawLog(sql, { jobId, run, codes: encodeStreams(streams) })
    return { name: `${name}.log`, type: 'application/octet-stream', bytes, tag, read }
  }
  const formatPage = format === 'PLAIN' ? formatPlain : formatJsonLines
  return {
    name: `${name}.${format === 'PLAIN' ? 'txt' : 'jsonl'}`,
    type: format === 'PLAIN' ? 'text/plain; charset=utf-8' : 'application/jsonl; charset=utf-8',
    bytes: null,
    tag: null,
    async *read() {
      for await (const page of readLogInOrder(sql, { jobId, run: run ?? undefined, streams })) {
        const text = formatPage(page)
        if (text !== '') yield Buffer.from(text)
      }
    },
  }
}

/** Colours, movements of the cursor, titles and links of terminals. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of them
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g

const formatPlain = ({ text }: LogPage) => text.replace(escapes, '')

/** Formats each line of the log as a line of JSON. A long line is divided; all parts but the last are `truncated`. */
function formatJsonLines({ lines, gaps }: LogPage): string {
  const shownLines = lines.map(({ run, number, at, stream, text, truncated }) => ({
    run,
    line: number,
    at,
    stream,
    text,
    ...(truncated && { truncated }),
  }))
  const shownGaps = gaps.map(({ run, startOffset, endOffset, reason }) => ({
    run,
    gap: reason,
    startOffset,
    endOffset,
  }))
  return [...shownGaps, ...shownLines].map((each) => `${JSON.stringify(each)}\n`).join('')
}

/**
 * Types that an artifact keeps. A browser would run others, such as a script or a page, if a page of this server linked to
 * them: the console's `script-src 'self'` allows it.
 */
const harmlessTypes: readonly string[] = [
  'text/plain',
  'text/csv',
  'application/json',
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
]

function toHarmlessType(mediaType: string): string {
  const type = mediaType.replace(/ *;.*$/s, '').toLowerCase()
  return harmlessTypes.includes(type) ? type : 'application/octet-stream'
}

async function openArtifactFile(
  { load, domain }: RequestContext,
  { artifactId }: ArtifactTarget,
): Promise<DownloadFile | null> {
  const artifact = await load.artifact.load(artifactId)
  if (!artifact || !(await load.job.load(artifact.jobId))) return null
  if (artifact.snapshotId !== null) return openStoredFile(await readStoredFile(domain.db.sql, artifact.id), domain)
  if (artifact.body === null) return null
  const body = Buffer.from(artifact.body)
  return {
    name: artifact.name,
    type: toHarmlessType(artifact.mediaType),
    bytes: body.length,
    tag: hashText(artifact.id),
    async *read(from) {
      yield body.subarray(from)
    },
  }
}

const openStoredFile = (file: StoredFile, domain: Domain): DownloadFile => ({
  name: basename(file.path),
  type: toHarmlessType(file.mediaType),
  bytes: file.size,
  tag: file.sha256,
  read: (from) => readFileContent(domain, file, from),
})

async function openFilesOfJob(
  { load, domain }: RequestContext,
  { jobId, after }: FilesTarget,
): Promise<DownloadFile | null> {
  const { sql } = domain.db
  if (!(await load.job.load(jobId))) return null
  const first = await readFilesOfJob(sql, jobId)
  if (first.length === 0) return null
  return makeTar(jobId, () => packFilesOfJob(domain, jobId, { first, after }))
}

const makeTar = (jobId: string, read: DownloadFile['read']): DownloadFile => ({
  name: `${jobId}.tar`,
  type: 'application/x-tar',
  bytes: null,
  tag: null,
  read,
})
