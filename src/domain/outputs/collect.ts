import { createHash } from 'node:crypto'
import type { Domain } from '../domain.ts'
import { InvalidInput } from '../errors.ts'
import { storePack } from '../snapshots/blobs.ts'
import type { ListedFile } from '../snapshots/file-list.ts'
import { announceFiles, pickFiles, storeList } from '../snapshots/snapshots.ts'
import { attachOutputs, type OutputOrder, readOutputOrder } from './attach.ts'
import type { FoundOutput, OutputSource } from './found.ts'
import { createPick, type OutputLimits, Skipped } from './selection.ts'

/**
 * Stores the output files of an ended run as a snapshot of its user, to which artifacts of the run point. The files are
 * read twice: first for their sizes and hashes, so that limits are checked and known contents are not stored again, and
 * then for the missing contents. Each step can be repeated: an interrupted collection starts again, and finds the
 * contents that it stored. A file that changes between the two reads is skipped, and reported by name.
 */

const triesMax = 3
/** Each round stores another list. */
const changedMax = 5
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
      const stored = await storeUnchanged(domain, order, { found, skipped, source, limits })
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
  attachOutputs(domain, order, { snapshotId: null, files: [], skipped: `all, because ${why}` })

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

interface Stored {
  snapshotId: string | null
  files: readonly ListedFile[]
}

/** Repeats the storing without changed files, until no file changes. */
async function storeUnchanged(domain: Domain, order: OutputOrder, storing: Storing): Promise<Stored> {
  const changed = new Set<string>()
  for (let tries = 0; ; tries++) {
    const found = storing.found.filter(({ path }) => !changed.has(path))
    const stored = await storeFiles(domain, order, { ...storing, found })
    if (!('changed' in stored)) return stored
    if (tries >= changedMax)
      throw InvalidInput.at('outputs', `more than ${changedMax} files changed while they were read`)
    for (const path of stored.changed) {
      changed.add(path)
      storing.skipped.add(path, 'changed while it was read')
    }
  }
}

/** Returns the paths of files that changed during the storing; then nothing refers to the files yet. */
async function storeFiles(
  domain: Domain,
  { userId }: OutputOrder,
  { found, skipped, source, limits }: Storing,
): Promise<Stored | { changed: readonly string[] }> {
  const announced = await announceFiles(domain, { userId, files: found, userBytesMax: limits.userBytesMax })
  const { snapshot, files, text, tooMany } = announced
  const owner = { snapshotId: snapshot?.id ?? '', userId }
  const missing = !snapshot || snapshot.isComplete ? [] : await storeList(domain, owner, toStream(text))
  if (missing.length > 0) {
    const packing: Packing = {
      left: new Map(pickFiles(files, missing).map((file) => [file.path, file])),
      current: null,
    }
    try {
      await storePack(domain, owner, packFiles(source, packing))
    } catch (error) {
      const { left, current } = packing
      const changed = current === null ? [...left.keys()] : [current]
      if (!(error instanceof InvalidInput) || changed.length === 0) throw error
      return { changed }
    }
  }
  for (const { path, size } of tooMany)
    skipped.add(path, `has ${size} bytes and does not fit into files.userBytesMax, which is ${limits.userBytesMax}`)
  return { snapshotId: snapshot?.id ?? null, files }
}

async function* toStream(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

interface Packing {
  /** Files that were not read completely. */
  left: Map<string, ListedFile>
  /** Path of the file that is being read. */
  current: string | null
}

/** The reader of the pack checks the hash of each file before it reads the next one. */
async function* packFiles(source: OutputSource, packing: Packing): AsyncGenerator<Uint8Array> {
  const { left } = packing
  const isSame = ({ path, type, size }: FoundOutput) =>
    type === 'FILE' && left.has(path) && (size === null || size === left.get(path)?.size)
  for await (const one of source(isSame)) {
    const file = 'unread' in one ? undefined : left.get(one.path)
    if ('unread' in one || !file) continue
    packing.current = file.path
    yield Buffer.from(`${file.sha256} ${file.size}\n`)
    let size = 0
    for await (const piece of one.content) {
      size += piece.length
      if (size > file.size) break
      yield piece
    }
    if (size !== file.size)
      throw InvalidInput.at('outputs', `${JSON.stringify(file.path)} has another size than before`)
    left.delete(file.path)
    packing.current = null
  }
}
