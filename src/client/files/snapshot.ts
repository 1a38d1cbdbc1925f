import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Connection } from '../connection/connection.ts'
import { RequestFailed } from '../connection/failure.ts'
import { withAttempts } from '../connection/retry.ts'
import { sleepFor } from '../connection/sleep.ts'
import { CreateSnapshotDocument, type CreateSnapshotMutation, SnapshotLimitsDocument } from '../generated/graphql.ts'
import { type HashedEntry, type HashedFile, hashFiles, isHashed, packFiles } from './contents.ts'
import {
  type FolderEntry,
  type FolderOptions,
  FolderRefused,
  type GitFacts,
  ignoreFile,
  isLink,
  listFolder,
  readGitFacts,
  toFile,
} from './folder.ts'
import { HashCache } from './hash-cache.ts'

/** Uploads a folder as a snapshot, in the form that docs/files.md describes. */

export interface UploadOptions extends FolderOptions {
  /** Folder for the hash cache, so that unchanged files are not read again; default: no cache. */
  cacheFolder?: string | undefined
  /** Called while files are read and uploaded. */
  onProgress?: ((progress: UploadProgress) => void) | undefined
  signal?: AbortSignal | undefined
}

export interface UploadProgress {
  step: 'READING' | 'SENDING'
  bytes: number
  totalBytes: number
}

export interface UploadedSnapshot {
  /** Value for `spec.snapshot`. */
  id: string
  /** SHA-256 of the list of files. */
  hash: string
  files: number
  bytes: number
  /** null: the folder is in no git tree. */
  git: GitFacts | null
  /** Number of files whose contents the server did not have. */
  newFiles: number
  /** Total size of these files in bytes. */
  sentBytes: number
}

const attempts = 5

/**
 * Uploads the files of a folder that the server lacks, and returns the snapshot, whose id is the value of
 * `spec.snapshot`. An interrupted upload resumes after the files that were received. Throws FolderRefused or
 * RequestFailed.
 */
export async function uploadSnapshot(
  connection: Connection,
  folder: string,
  options: UploadOptions = {},
): Promise<UploadedSnapshot> {
  const { signal, cacheFolder, onProgress = () => undefined } = options
  const cache = cacheFolder === undefined ? null : await HashCache.open(cacheFolder, folder)
  const [{ serverInfo }, found] = await Promise.all([
    connection.request(SnapshotLimitsDocument, {}, { attempts, signal }),
    listFolder(folder, options),
  ])
  checkLimits(found, serverInfo)
  const totalBytes = sumSizes(found)
  const onRead = countProgress('READING', totalBytes, onProgress)
  const [entries, git] = await Promise.all([hashFiles(folder, found, { cache, onRead }), readGitFacts(folder)])
  await cache?.save()
  const sending = sendEntries(connection, { folder, entries, git, totalBytes, onProgress, signal })
  const sent = await sending.catch(async (error) => {
    if (error instanceof FolderRefused) await cache?.remove()
    throw error
  })
  return { files: entries.length, bytes: totalBytes, git, ...sent }
}

/** Uploads one file from within a run. Returns the snapshot for `publishArtifact`. */
export async function uploadFile(
  connection: Connection,
  folder: string,
  path: string,
  { onProgress = () => undefined, signal }: Pick<UploadOptions, 'onProgress' | 'signal'> = {},
): Promise<string> {
  const file = toFile(path, await stat(join(folder, path), { bigint: true }))
  const { size } = file
  const onRead = countProgress('READING', size, onProgress)
  const entries = await hashFiles(folder, [file], { cache: null, onRead })
  const sent = await sendEntries(connection, { folder, entries, git: null, totalBytes: size, onProgress, signal })
  return sent.id
}

interface Sendable extends Pick<Sending, 'folder' | 'onProgress' | 'signal'> {
  entries: readonly HashedEntry[]
  git: GitFacts | null
  totalBytes: number
}

async function sendEntries(
  connection: Connection,
  { folder, entries, git, totalBytes, onProgress, signal }: Sendable,
): Promise<Pick<UploadedSnapshot, 'id' | 'hash' | 'newFiles' | 'sentBytes'>> {
  const { text, hash } = hashList(git, entries)
  const list = { hash, text, entries, totalBytes }
  const sent = { newFiles: 0, sentBytes: 0 }
  const send = () => sendSnapshot(connection, { folder, list, sent, onProgress, signal })
  const again = (outcome: { result: unknown } | { error: unknown }) =>
    'error' in outcome && outcome.error instanceof RequestFailed && outcome.error.retryable
      ? outcome.error.retryAfterMs
      : null
  const id = await withAttempts(send, { attempts, again, sleep: sleepFor, signal })
  return { id, hash, ...sent }
}

export function hashList(git: GitFacts | null, entries: readonly HashedEntry[]): { text: string; hash: string } {
  const text = [{ git }, ...entries].map((line) => `${JSON.stringify(line)}\n`).join('')
  return { text, hash: createHash('sha256').update(text).digest('hex') }
}

function countProgress(
  step: UploadProgress['step'],
  totalBytes: number,
  onProgress: (progress: UploadProgress) => void,
): (bytes: number) => void {
  let bytes = 0
  return (more) => {
    bytes += more
    onProgress({ step, bytes, totalBytes })
  }
}

interface Limits {
  maxSnapshotBytes: number | null
  maxSnapshotFiles: number | null
}

const largestShown = 10

function checkLimits(found: readonly FolderEntry[], { maxSnapshotBytes, maxSnapshotFiles }: Limits): void {
  if (found.length === 0)
    throw new FolderRefused('the folder has no files', { details: [], remedy: `check ${ignoreFile} and --exclude` })
  const bytes = sumSizes(found)
  const isLarge = bytes > (maxSnapshotBytes ?? Number.POSITIVE_INFINITY)
  if (!isLarge && found.length <= (maxSnapshotFiles ?? Number.POSITIVE_INFINITY)) return
  const largest = found
    .filter((each) => !isLink(each))
    .toSorted((a, b) => sizeOf(b) - sizeOf(a))
    .slice(0, largestShown)
  throw new FolderRefused(
    isLarge
      ? `the files have ${inMegabytes(bytes)}, and a snapshot has at most ${inMegabytes(maxSnapshotBytes ?? 0)}`
      : `the folder has ${found.length} files, and a snapshot has at most ${maxSnapshotFiles}`,
    {
      details: largest.map((each) => `${inMegabytes(sizeOf(each)).padStart(12)}  ${toPattern(each.path)}`),
      remedy: `add what the job does not need to ${ignoreFile}; above are lines for the largest files`,
    },
  )
}

const inMegabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
/** A line of `.berthignore` that matches only this file. */
const toPattern = (path: string) => `/${path.replace(/[*?[\]\\]/g, '\\$&')}`
const sizeOf = (entry: FolderEntry) => (isLink(entry) ? 0 : entry.size)
const sumSizes = (found: readonly FolderEntry[]) => found.reduce((sum, each) => sum + sizeOf(each), 0)

interface Sending {
  folder: string
  list: { hash: string; text: string; entries: readonly HashedEntry[]; totalBytes: number }
  sent: { newFiles: number; sentBytes: number }
  onProgress: (progress: UploadProgress) => void
  signal: AbortSignal | undefined
}

/** Returns the id of the snapshot. */
async function sendSnapshot(connection: Connection, sending: Sending): Promise<string> {
  const { folder, list, sent, onProgress, signal } = sending
  const input = { hash: list.hash, files: list.entries.length, bytes: list.totalBytes }
  const { createSnapshot } = await connection.request(CreateSnapshotDocument, { input }, { signal })
  const { snapshot, uploadUrl } = expectCreated(createSnapshot)
  if (uploadUrl === null) return snapshot.id
  const answer = await connection.upload(uploadUrl, [Buffer.from(list.text)], { signal })
  if (answer.uploadUrl === null) return snapshot.id
  const files = findFiles(list.entries, answer.missing)
  const totalBytes = files.reduce((sum, { size }) => sum + size, 0)
  const onSent = countProgress('SENDING', totalBytes, onProgress)
  await connection.upload(answer.uploadUrl, packFiles(folder, files, onSent), { signal })
  sent.newFiles += files.length
  sent.sentBytes += totalBytes
  return snapshot.id
}

function expectCreated(created: CreateSnapshotMutation['createSnapshot']) {
  if (created.__typename === 'CreateSnapshotSuccess') return created
  throw new RequestFailed(created.code, created.message)
}

function findFiles(entries: readonly HashedEntry[], hashes: readonly string[]): HashedFile[] {
  const byHash = new Map(entries.filter(isHashed).map((file) => [file.sha256, file]))
  return hashes.flatMap((hash) => byHash.get(hash) ?? [])
}
