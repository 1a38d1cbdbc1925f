import { constants } from 'node:fs'
import { access, lstat, mkdir, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unlessMissing } from '../backend/file-errors.ts'
import { isPlaceOfMount } from './mounts.ts'

/**
 * The folders of a pool in `sharedDir`. The operator makes `sharedDir`; the server makes what is in it, once. So a file
 * system that is not mounted shows as a folder that is missing, and the server does not make one of that name on its
 * own disk, where the cluster sees nothing of it, and where runs would look as if their directories had been removed.
 * `sharedDir` may be there without its file system: it is the place of a mount or of a bind. So nothing is made while
 * the pool has runs, and a pool does not begin in the place of a mount. Where its folders are, the file system is.
 *
 * Another account of the cluster that controls one of these folders could replace the files of a run, which then executes
 * them as its own account. So the folders must belong to the server, and no other account may write in or replace them.
 */

export interface Layout {
  runs: string
  /** Of the server alone. */
  own: string
  /** Throws SharedDirTrouble if the folders cannot be read. */
  demand(): Promise<void>
  /** The same if they cannot be read and written. */
  demandWritable(): Promise<void>
  /** What an error of the file system means; another error is returned as it is. */
  blame(error: unknown): unknown
}

/** In the folder of the server: a link whose text is the name of the cluster (one-cluster.ts). */
export const clusterName = 'cluster'

/** The shared folder cannot be used now. What is not seen in it may be there. */
export class SharedDirTrouble extends Error {
  override name = 'SharedDirTrouble'
}

/** `hasRuns`: whether something of an earlier run of the pool has to be in its folders. */
export function createLayout(sharedDir: string, pool: string, hasRuns: () => Promise<boolean>): Layout {
  const base = join(sharedDir, pool)
  const [runs, own] = [join(base, 'runs'), join(base, 'server')]
  let isMade = false

  const blame = (cause: unknown) => {
    const { code, syscall } = cause as NodeJS.ErrnoException
    if (code === undefined || syscall === undefined || syscall.startsWith('spawn')) return cause
    return new SharedDirTrouble(`sharedDir of pool ${pool}: ${sharedDir} ${words[code] ?? otherWords} (${code})`, {
      cause,
    })
  }

  async function demandMode(mode: number): Promise<void> {
    try {
      await demandSafe(sharedDir)
      if (!isMade) {
        if (!(await unlessMissing(lstat(own)))) await demandUnused()
        for (const path of [base, runs, own]) {
          await make(path, path === own ? 0o700 : 0o711)
          await demandOwn(path)
        }
      }
      isMade = true
      for (const path of [base, runs, own]) await demandOwn(path)
      for (const path of [runs, own]) await access(path, mode)
    } catch (error) {
      throw blame(error)
    }
  }

  const refuse = (words: string, path = sharedDir) =>
    new SharedDirTrouble(`sharedDir of pool ${pool}: ${path} ${words}`)

  async function demandOwn(path: string): Promise<void> {
    const found = await lstat(path)
    if (!found.isDirectory()) throw refuse(`is a link or a file, not a folder of the server: ${removeWords}`, path)
    if (found.uid !== serverUid)
      throw refuse(`belongs to uid ${found.uid}, not to uid ${serverUid} of the server: ${removeWords}`, path)
    if (isOpen(found.mode)) throw refuse(`can be changed by other accounts: ${removeWords}, or chmod go-w`, path)
  }

  /** No account but the server and root can replace the folder, or what the server makes in it. */
  async function demandSafe(path: string): Promise<void> {
    const { uid, mode } = await stat(path)
    if (uid !== serverUid && uid !== 0)
      throw refuse(`belongs to uid ${uid}: chown it to uid ${serverUid} of the server`)
    if (isOpen(mode) && !isSticky(mode)) throw refuse('can be changed by other accounts: chmod 755, or 1777')
    for (let above = dirname(await realpath(path)); ; above = dirname(above)) {
      const { mode } = await stat(above)
      if ((mode & 0o002) !== 0 && !isSticky(mode))
        throw refuse(`is in ${above}, in which every account can replace it: chmod o-w or +t ${above}`)
      if (above === dirname(above)) return
    }
  }

  async function demandUnused(): Promise<void> {
    if (await isPlaceOfMount(sharedDir)) throw refuse(mountPointWords)
    if (await hasRuns())
      throw refuse(
        `has no folder ${pool}/server, but the pool has runs: mount the file system that has it; if it is lost for good, make that folder`,
      )
  }

  const readable = constants.R_OK | constants.X_OK
  return {
    runs,
    own,
    demand: () => demandMode(readable),
    demandWritable: () => demandMode(readable | constants.W_OK),
    blame,
  }
}

const serverUid = process.getuid?.() ?? 0
const isOpen = (mode: number) => (mode & 0o022) !== 0
const isSticky = (mode: number) => (mode & 0o1000) !== 0

async function make(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

const mountPointWords =
  'is where a file system is mounted, and an empty folder while it is not: make a folder in it, and name that as sharedDir'
const removeWords = 'another account may have made it; look into it, remove it, and the server makes it again'
const rights =
  'may not be changed by the account of the server: let it write there; over NFS a server that is root needs no_root_squash'
const words: Readonly<Record<string, string>> = {
  ENOENT:
    'is not there, or not with its contents: mount the file system that the cluster and this machine share, and make the folder in it',
  ENOTDIR: 'is not a folder: name one that the cluster and this machine share',
  EROFS: 'is read-only on this machine: mount it for reading and writing',
  EACCES: rights,
  EPERM: rights,
  ENOSPC: 'is full: make room there',
  EDQUOT: 'is full for the account of the server: make room there, or raise its quota',
}
const otherWords = 'does not work: look at its file system, and mount it again'
