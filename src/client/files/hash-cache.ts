import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, realpath, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FolderFile } from './folder.ts'

/**
 * Hashes of files that were read before, so that a file is read again only if its path, size, inode or times of change
 * differ. The cache file has a record for each file: the beginning of a hash of these properties, and the SHA-256 of
 * the content. The SHA-256 of all records is at its end.
 */

const keyBytes = 16
const hashBytes = 32
const recordBytes = keyBytes + hashBytes
/**
 * A change may keep the time of change: the clock of a file system has steps of up to two seconds, the clock of a file
 * server may differ, and writes to a mapped file update the time only when the system stores the file, about every 30
 * seconds.
 */
const settledMs = 60_000
const unusedMsMax = 30 * 86_400_000
const ending = '.hashes'

export class HashCache {
  readonly #path: string
  readonly #known: ReadonlyMap<string, Buffer>
  readonly #found = new Map<string, Buffer>()
  readonly #beganMs = Date.now()

  private constructor(path: string, known: ReadonlyMap<string, Buffer>) {
    this.#path = path
    this.#known = known
  }

  /**
   * Opens the cache of a folder in `cacheFolder`. A damaged cache counts as empty. Must be called before the files are
   * listed.
   */
  static async open(cacheFolder: string, folder: string): Promise<HashCache> {
    const name = digest(await realpath(folder)).toString('hex')
    const path = join(cacheFolder, `${name.slice(0, 2 * keyBytes)}${ending}`)
    const file = await readFile(path).catch(() => Buffer.alloc(0))
    return new HashCache(path, readRecords(file))
  }

  /** undefined: the file must be read. */
  find(file: FolderFile): string | undefined {
    const key = keyOf(file)
    const hash = this.#known.get(key)
    if (hash) this.#found.set(key, hash)
    return hash?.toString('hex')
  }

  add(file: FolderFile, sha256: string): void {
    if (file.changedMs < this.#beganMs - settledMs) this.#found.set(keyOf(file), Buffer.from(sha256, 'hex'))
  }

  /**
   * Stores the records that were found or added since the cache was opened. A folder that is not writable has no cache.
   */
  async save(): Promise<void> {
    const isSame = this.#found.size === this.#known.size && this.#found.keys().every((key) => this.#known.has(key))
    try {
      if (isSame) return await utimes(this.#path, new Date(), new Date())
      const folder = dirname(this.#path)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const temporary = `${this.#path}.${process.pid}`
      await writeFile(temporary, writeRecords(this.#found), { mode: 0o600 })
      await rename(temporary, this.#path)
      await removeUnused(folder)
    } catch {
      // Without the cache, the next submission reads the files again.
    }
  }

  async remove(): Promise<void> {
    await rm(this.#path, { force: true }).catch(() => undefined)
  }
}

const digest = (content: string | Buffer) => createHash('sha256').update(content).digest()
const keyOf = ({ path, stamp }: FolderFile) => digest(`${path}\0${stamp}`).subarray(0, keyBytes).toString('latin1')

function readRecords(file: Buffer): Map<string, Buffer> {
  const records = file.subarray(0, Math.max(0, file.length - hashBytes))
  const known = new Map<string, Buffer>()
  if (!digest(records).equals(file.subarray(records.length))) return known
  for (let at = 0; at + recordBytes <= records.length; at += recordBytes) {
    const key = records.toString('latin1', at, at + keyBytes)
    known.set(key, records.subarray(at + keyBytes, at + recordBytes))
  }
  return known
}

function writeRecords(found: ReadonlyMap<string, Buffer>): Buffer {
  const records = Buffer.concat([...found].flatMap(([key, hash]) => [Buffer.from(key, 'latin1'), hash]))
  return Buffer.concat([records, digest(records)])
}

async function removeUnused(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.includes(ending)) continue
    const path = join(folder, name)
    const { mtimeMs } = await stat(path)
    if (mtimeMs < Date.now() - unusedMsMax) await rm(path, { force: true })
  }
}
