import { constants } from 'node:fs'
import { access, lstat, mkdir, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { nullIfMissing, nullOnCode } from '../backend/file-errors.ts'

/** Name of a symbolic link in the server's directory, whose text is the name of the cluster (one-cluster.ts). */
export const clusterLink = 'cluster'

/** The shared directory cannot be used now. Files in it may exist although they are not visible. */
export class SharedDirTrouble extends Error {
  override name = 'SharedDirTrouble'
}

const readable = constants.R_OK | constants.X_OK

/**
 * The directories of a pool in `sharedDir`. The operator creates `sharedDir`, and the server creates its content once.
 * `sharedDir` may be a mount point, which also exists while its file system is not mounted. So the server creates
 * nothing while the pool has runs, and a new pool refuses an empty mount point.
 *
 * Another account could replace files that runs execute. So the directories must belong to the server, and no other
 * account may write in them or replace them.
 */
export class Layout {
  readonly runs: string
  readonly own: string
  readonly #sharedDir: string
  readonly #pool: string
  readonly #hasRuns: () => Promise<boolean>
  #isMade = false

  /** `hasRuns`: whether the directories must contain files of earlier runs. */
  constructor(sharedDir: string, pool: string, hasRuns: () => Promise<boolean>) {
    this.runs = join(sharedDir, pool, 'runs')
    this.own = join(sharedDir, pool, 'server')
    this.#sharedDir = sharedDir
    this.#pool = pool
    this.#hasRuns = hasRuns
  }

  checkReadable(): Promise<void> {
    return this.#check(readable)
  }

  checkWritable(): Promise<void> {
    return this.#check(readable | constants.W_OK)
  }

  /** Converts an error of the file system to SharedDirTrouble; returns other errors unchanged. */
  explainError(cause: unknown): unknown {
    const { code, syscall } = cause as NodeJS.ErrnoException
    if (code === undefined || syscall === undefined || syscall.startsWith('spawn')) return cause
    return this.#trouble(`${words[code] ?? otherWords} (${code})`, { cause })
  }

  async #check(mode: number): Promise<void> {
    const folders = [dirname(this.own), this.runs, this.own]
    try {
      await this.#checkSharedDir()
      if (!this.#isMade) {
        if (!(await nullIfMissing(lstat(this.own)))) await this.#checkUnused()
        for (const path of folders) {
          await nullOnCode('EEXIST', mkdir(path, { mode: path === this.own ? 0o700 : 0o711 }))
          await this.#checkOwn(path)
        }
      }
      this.#isMade = true
      for (const path of folders) await this.#checkOwn(path)
      for (const path of [this.runs, this.own]) await access(path, mode)
    } catch (error) {
      throw this.explainError(error)
    }
  }

  async #checkOwn(path: string): Promise<void> {
    const found = await lstat(path)
    const refuse = (why: string) => this.#trouble(why, {}, path)
    if (!found.isDirectory()) throw refuse(`is a link or a file, not a folder of the server: ${removeWords}`)
    if (found.uid !== serverUid)
      throw refuse(`belongs to uid ${found.uid}, not to uid ${serverUid} of the server: ${removeWords}`)
    if (isOpen(found.mode)) throw refuse(`can be changed by other accounts: ${removeWords}, or chmod go-w`)
  }

  /** Refuses `sharedDir` if an account other than the server's and root may replace it or its content. */
  async #checkSharedDir(): Promise<void> {
    const { uid, mode } = await stat(this.#sharedDir)
    if (uid !== serverUid && uid !== 0)
      throw this.#trouble(`belongs to uid ${uid}: chown it to uid ${serverUid} of the server`)
    if (isOpen(mode) && !isSticky(mode)) throw this.#trouble('can be changed by other accounts: chmod 755, or 1777')
    for (let above = dirname(await realpath(this.#sharedDir)); ; above = dirname(above)) {
      const { mode } = await stat(above)
      if ((mode & 0o002) !== 0 && !isSticky(mode))
        throw this.#trouble(`is in ${above}, in which every account can replace it: chmod o-w or +t ${above}`)
      if (above === dirname(above)) return
    }
  }

  async #checkUnused(): Promise<void> {
    if (await isMountPoint(this.#sharedDir)) throw this.#trouble(mountPointWords)
    if (await this.#hasRuns())
      throw this.#trouble(
        `has no folder ${this.#pool}/server, but the pool has runs: mount the file system that has it; if it is lost for good, make that folder`,
      )
  }

  #trouble(why: string, options: ErrorOptions = {}, path = this.#sharedDir): SharedDirTrouble {
    return new SharedDirTrouble(`sharedDir of pool ${this.#pool}: ${path} ${why}`, options)
  }
}

const serverUid = process.getuid?.() ?? 0
const isOpen = (mode: number) => (mode & 0o022) !== 0
const isSticky = (mode: number) => (mode & 0o1000) !== 0

const mountPointWords =
  'is a mount point, which is an empty folder without its file system: make a folder in it, and set sharedDir to that'
const removeWords = 'another account may have made it; look into it, remove it, and the server makes it again'
const rights =
  'may not be changed by the account of the server: let it write there; over NFS a server that is root needs no_root_squash'
const words: Readonly<Record<string, string>> = {
  ENOENT:
    'or a folder in it does not exist: mount the file system that the cluster and this machine share, and make the folder in it',
  ENOTDIR: 'is not a folder: name one that the cluster and this machine share',
  EROFS: 'is read-only on this machine: mount it for reading and writing',
  EACCES: rights,
  EPERM: rights,
  ENOSPC: 'is full: make room there',
  EDQUOT: 'is full for the account of the server: make room there, or raise its quota',
}
const otherWords = 'does not work: look at its file system, and mount it again'

/** true: a whole file system is mounted at this path; false on systems other than Linux. */
async function isMountPoint(path: string): Promise<boolean> {
  const real = await realpath(path)
  const mounts = await nullIfMissing(readFile('/proc/self/mountinfo', 'utf8'))
  return mounts !== null && isWholeMount(mounts, real)
}

/**
 * true for a file system or a btrfs subvolume, false for a bind mount of a directory. If mounts are stacked, the
 * topmost counts.
 */
export function isWholeMount(mounts: string, path: string): boolean {
  const fields = mounts.split('\n').map((line) => line.split(' ').map(unescaped))
  const mount = fields.findLast(([, , , , place]) => place === path)
  const root = mount?.[3]
  return root === '/' || (root !== undefined && mount?.at(-1)?.split(',').includes(`subvol=${root}`) === true)
}

/** Decodes a path in the table of mounts, which writes a space as \040. */
const unescaped = (text: string) =>
  text.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))
