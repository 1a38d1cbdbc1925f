import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type FolderEntry, type FolderFile, FolderRefused, isLink } from './folder.ts'
import type { HashCache } from './hash-cache.ts'
import { inParallel } from './in-parallel.ts'

/** Reads and hashes the files of a folder, in pieces. */

export interface HashedFile {
  path: string
  mode: number
  size: number
  sha256: string
}

export type HashedEntry = HashedFile | { path: string; link: string }

export const isHashed = (entry: HashedEntry): entry is HashedFile => 'sha256' in entry

const pieceBytes = 256 * 1024

/** A piece is valid until the next one is read, because all pieces share one buffer. */
async function* readPieces(folder: string, { path, size }: { path: string; size: number }): AsyncGenerator<Buffer> {
  const file = await open(join(folder, path), constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => {
    throw changedWhileRead(path)
  })
  try {
    // Larger by one byte than the file, to notice that it has grown.
    const buffer = Buffer.allocUnsafe(Math.min(pieceBytes, size + 1))
    let left = size
    for (;;) {
      const { bytesRead } = await file.read(buffer)
      if (bytesRead > left || (bytesRead === 0 && left > 0)) throw changedWhileRead(path)
      if (bytesRead === 0) return
      left -= bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

/** Hashes the files in order, and reads those that are not in the cache. Calls `onRead` with the size of each piece. */
export const hashFiles = (
  folder: string,
  entries: readonly FolderEntry[],
  { cache, onRead }: { cache: HashCache | null; onRead: (bytes: number) => void },
): Promise<HashedEntry[]> =>
  inParallel(entries, async (entry) => {
    if (isLink(entry)) return entry
    const { path, mode, size } = entry
    const known = cache?.find(entry)
    if (known !== undefined) onRead(size)
    const sha256 = known ?? (await hashFile(folder, entry, onRead))
    if (known === undefined) cache?.add(entry, sha256)
    return { path, mode, size, sha256 }
  })

async function hashFile(folder: string, file: FolderFile, onRead: (bytes: number) => void): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of readPieces(folder, file)) {
    hash.update(piece)
    onRead(piece.length)
  }
  return hash.digest('hex')
}

/**
 * Yields the blobs of these files, each after a line with its hash and size. Throws FolderRefused if a file has
 * changed.
 */
export async function* packFiles(
  folder: string,
  files: readonly HashedFile[],
  onSent: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for (const file of files) {
    const { path, size, sha256 } = file
    yield Buffer.from(`${sha256} ${size}\n`)
    const hash = createHash('sha256')
    for await (const piece of readPieces(folder, file)) {
      hash.update(piece)
      yield Buffer.from(piece)
      onSent(piece.length)
    }
    if (hash.digest('hex') !== sha256) throw changedWhileRead(path)
  }
}

const changedWhileRead = (path: string) =>
  new FolderRefused(`changed while it was read: ${path}`, {
    details: [],
    remedy: 'submit again when it no longer changes, or name it in .berthignore',
  })
