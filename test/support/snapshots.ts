import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { createTarDecoder } from 'modern-tar'
import type { Viewer } from '../../src/domain/access.ts'
import type { Domain } from '../../src/domain/domain.ts'
import { type ArchiveTarget, readArchive } from '../../src/domain/snapshots/archive.ts'
import { storePack } from '../../src/domain/snapshots/blobs.ts'
import { createSnapshot, storeList } from '../../src/domain/snapshots/snapshots.ts'
import type { Sql } from '../../src/platform/tx.ts'

export type Content = string | Buffer | { link: string } | { mode: number; content: string }

export const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')

const isLink = (content: Content): content is { link: string } => typeof content === 'object' && 'link' in content

export function toContent(content: Content): Buffer {
  if (isLink(content)) return Buffer.alloc(0)
  return Buffer.from(typeof content === 'object' && 'mode' in content ? content.content : content)
}

/** Makes the list of files that a client sends. */
export function makeFileList(files: Readonly<Record<string, Content>>, git: object | null = null) {
  const entries = Object.entries(files).map(([path, content]) => {
    if (isLink(content)) return { path, link: content.link }
    const mode = typeof content === 'object' && 'mode' in content ? content.mode : 0o644
    const bytes = toContent(content)
    return { path, mode, size: bytes.length, sha256: sha256(bytes) }
  })
  const bytes = Object.values(files).reduce((sum, content) => sum + toContent(content).length, 0)
  return listOfEntries(entries, { git, bytes })
}

export function listOfEntries(
  entries: readonly object[],
  { git = null, bytes = 0 }: { git?: object | null; bytes?: number },
) {
  const text = [{ git }, ...entries].map((line) => `${JSON.stringify(line)}\n`).join('')
  return { text, announced: { hash: sha256(text), files: entries.length, bytes } }
}

export const makeBlob = (content: string | Buffer) =>
  Buffer.concat([Buffer.from(`${sha256(content)} ${Buffer.byteLength(content)}\n`), Buffer.from(content)])

/** Divides a body into pieces of odd sizes. */
export async function* makeBody(...parts: readonly (string | Buffer)[]): AsyncGenerator<Buffer> {
  const whole = Buffer.concat(parts.map((part) => Buffer.from(part)))
  for (let at = 0; at < whole.length; at += 70_001) yield whole.subarray(at, at + 70_001)
}

export const limits = { bytesMax: 2 ** 30, filesMax: 50_000, userBytesMax: 20 * 2 ** 30 }

/** Stores a snapshot with its missing blobs. Returns its id and the hashes of the sent blobs. */
export async function storeSnapshot(
  domain: Domain,
  viewer: Viewer,
  files: Readonly<Record<string, Content>>,
  git: object | null = null,
): Promise<{ id: string; sent: string[] }> {
  const list = makeFileList(files, git)
  const { id, isComplete } = await createSnapshot(domain, viewer, list.announced, limits)
  if (isComplete) return { id, sent: [] }
  const owner = { snapshotId: id, userId: viewer.userId }
  const missing = await storeList(domain, owner, makeBody(list.text))
  const contents = Object.values(files).map(toContent)
  const blobs = missing.map((hash) => makeBlob(contents.find((content) => sha256(content) === hash) ?? ''))
  if (missing.length > 0) await storePack(domain, owner, makeBody(...blobs))
  return { id, sent: missing }
}

interface TarEntry {
  header: { name: string; type?: string; linkname?: string; mode: number; uid: number; gid: number }
  body: AsyncIterable<Uint8Array>
}

export async function readEntries(
  sql: Sql,
  id: string,
  target?: ArchiveTarget,
): Promise<(TarEntry['header'] & { sha256: string })[]> {
  const archive = readArchive(sql, id, { mtime: new Date(), target })
  const tar = Readable.toWeb(Readable.from(archive)) as ReadableStream<Uint8Array>
  const entries = tar.pipeThrough(createTarDecoder() as never) as unknown as AsyncIterable<TarEntry>
  const found: (TarEntry['header'] & { sha256: string })[] = []
  for await (const { header, body } of entries) {
    const parts: Uint8Array[] = []
    for await (const part of body) parts.push(part)
    found.push({ ...header, sha256: sha256(Buffer.concat(parts)) })
  }
  return found
}

export async function readFiles(sql: Sql, id: string): Promise<Record<string, unknown>> {
  const entries = (await readEntries(sql, id)).filter(({ type }) => type !== 'directory')
  return Object.fromEntries(
    entries.map(({ name, type, linkname, mode, sha256: hash }) => [
      name,
      type === 'symlink' ? { link: linkname } : `${mode.toString(8)} ${hash}`,
    ]),
  )
}

/** Replaces `query` in the transactions of the domain. */
export function withQuery(
  domain: Domain,
  query: (inner: Sql, ...statement: Parameters<Sql['query']>) => Promise<unknown[]>,
): Domain {
  const transaction = (work: (inner: Sql) => Promise<unknown>) =>
    domain.db.transaction((inner) => work({ query: (...statement) => query(inner, ...statement) as never }))
  return { ...domain, db: Object.create(domain.db, { transaction: { value: transaction } }) as Domain['db'] }
}

export const countBlobs = async (sql: Sql, userId: string) =>
  (await sql.query<{ count: number }>('SELECT count(*) AS count FROM blob WHERE user_id = $1', [userId]))[0]?.count
