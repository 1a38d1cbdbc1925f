import { createHash } from 'node:crypto'
import type { Domain } from '../domain.ts'
import { InvalidInput } from '../errors.ts'
import { storePack } from '../snapshots/blobs.ts'
import type { ListedFile } from '../snapshots/file-list.ts'
import { announceFiles, storeList } from '../snapshots/snapshots.ts'
import { attachOutputs, type OutputOrder, readOutputOrder } from './attach.ts'
import type { OutputSource } from './found.ts'
import { createPick, type OutputLimits, Skipped } from './selection.ts'

/**
 * Stores the output files of a run that is over as a snapshot of its user, to which artifacts of the run point. The files
 * are read twice: for their hashes, so that sizes are counted and known contents found before anything is stored, and
 * then for the missing contents. Each step can be repeated: a collection that was cut off begins again, and finds the
 * contents that it stored.
 */

const triesMax = 3
const fileMode = 0o644

export async function collectOutputs(
  domain: Domain,
  runId: string,
  source: OutputSource,
  limits: OutputLimits,
): Promise<void> {
  const order = await readOutputOrder(domain.db.sql, runId)
  if (!order) return
  for (let tries = 1; ; tries++) {
    const skipped = new Skipped()
    try {
      const found = await hashFiles(source, createPick(order.patterns, limits, skipped), skipped)
      const stored = await storeFiles(domain, order, { found, skipped, source, limits })
      return await attachOutputs(domain, order, { ...stored, skipped: skipped.text })
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error
      if (tries < triesMax) continue
      return await giveUpOutputs(domain, order, error.message)
    }
  }
}

/** Ends the collection without files. */
export const giveUpOutputs = (domain: Domain, order: OutputOrder, why: string): Promise<void> =>
  attachOutputs(domain, order, { snapshotId: null, files: [], skipped: why })

async function hashFiles(
  source: OutputSource,
  pick: Parameters<OutputSource>[0],
  skipped: Skipped,
): Promise<ListedFile[]> {
  const files = new Map<string, ListedFile>()
  for await (const one of source(pick)) {
    if ('unread' in one) {
      skipped.say(one.unread)
      continue
    }
    const hash = createHash('sha256')
    let size = 0
    for await (const piece of one.content) {
      hash.update(piece)
      size += piece.length
    }
    files.set(one.path, { path: one.path, mode: fileMode, size, sha256: hash.digest('hex') })
  }
  return [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

interface Storing {
  found: readonly ListedFile[]
  skipped: Skipped
  source: OutputSource
  limits: OutputLimits
}

/** Throws InvalidInput if a file changed meanwhile. */
async function storeFiles(
  domain: Domain,
  { userId }: OutputOrder,
  { found, skipped, source, limits }: Storing,
): Promise<{ snapshotId: string | null; files: readonly ListedFile[] }> {
  const announced = await announceFiles(domain, { userId, files: found, userBytesMax: limits.userBytesMax })
  const { snapshot, files, text, tooMany } = announced
  for (const { path, size } of tooMany)
    skipped.add(path, `has ${size} bytes and does not fit into files.userBytesMax, which is ${limits.userBytesMax}`)
  if (!snapshot) return { snapshotId: null, files }
  const owner = { snapshotId: snapshot.id, userId }
  const missing = snapshot.isComplete ? [] : await storeList(domain, owner, toStream(text))
  if (missing.length > 0) await storePack(domain, owner, packFiles(source, findFiles(files, missing)))
  return { snapshotId: snapshot.id, files }
}

async function* toStream(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/** One file for each hash, by its path. */
function findFiles(files: readonly ListedFile[], hashes: readonly string[]): ReadonlyMap<string, ListedFile> {
  const left = new Set(hashes)
  return new Map(files.filter(({ sha256 }) => left.delete(sha256)).map((file) => [file.path, file]))
}

async function* packFiles(source: OutputSource, files: ReadonlyMap<string, ListedFile>): AsyncGenerator<Uint8Array> {
  for await (const one of source(({ path, type }) => type === 'FILE' && files.has(path))) {
    const file = 'unread' in one ? undefined : files.get(one.path)
    if ('unread' in one || !file) continue
    yield Buffer.from(`${file.sha256} ${file.size}\n`)
    yield* one.content
  }
}
