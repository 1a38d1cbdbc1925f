import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chown, lstat, mkdir, readdir, readlink, rmdir, statfs, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Account, switchToAccount, switchToOwner } from '../accounts/account.ts'
import { readErrorCode, unlessCode, unlessMissing } from '../backend/file-errors.ts'
import { StartFailed } from '../executor.ts'
import { systemPath } from '../process/search-path.ts'
import { makeReachableFolder } from './run-files.ts'

/**
 * The copy of a snapshot in which a run works, unpacked by `tar` under the account of the job. Each start makes a copy of
 * its own, below the directory of the run or, for another account, in a folder to which a link there points.
 */

const prefix = 'snapshot-'
const messageCharactersMax = 300
const printedCharactersMax = 16_384
/** A copy that ended for want of space leaves less. */
const roomBytesMin = 1024 * 1024
const roomFilesMin = 16

export interface CopyOptions {
  /** The directory of the run. */
  directory: string
  account: Account | null
  environment: Readonly<Record<string, string | undefined>>
  /** Ends the copying. */
  signal: AbortSignal | undefined
}

/** Returns the folder with the files. */
export async function copySnapshot(
  archive: () => AsyncIterable<Uint8Array>,
  { directory, account, environment, signal }: CopyOptions,
): Promise<string> {
  const own = join(directory, `${prefix}${randomUUID()}`)
  const folder = account ? join(await makeReachableFolder(own), 'files') : own
  await mkdir(folder, { mode: 0o700 })
  if (account) await chown(folder, account.uid, account.gid)
  const tar = ['tar', '-x', '-p', '--no-same-owner', '-f', '-']
  const [file = '', ...args] = [...switchToAccount(account), ...tar]
  // The account enters the folder itself: the server must not enter a directory of another account.
  const child = spawn(file, [...args, '-C', folder], {
    cwd: '/',
    env: { PATH: environment['PATH'], LC_ALL: 'C' },
    stdio: ['pipe', 'ignore', 'pipe'],
    ...(signal && { signal }),
  })
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  const printed: string[] = []
  // A child that could not be started may have no streams.
  const sending = child.pid === undefined ? ended : sendArchive(archive(), child, printed)
  const [sent, code] = await Promise.allSettled([sending, ended])
  if (code.status === 'fulfilled' && code.value === 0 && sent.status === 'fulfilled') return folder
  const cause = code.status === 'rejected' ? code.reason : sent.status === 'rejected' ? sent.reason : undefined
  throw await describeFailure(printed.join(''), cause, folder)
}

async function sendArchive(
  archive: AsyncIterable<Uint8Array>,
  { stdin, stderr }: ChildProcessByStdio<Writable, null, Readable>,
  printed: string[],
): Promise<void> {
  let left = printedCharactersMax
  stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.push(text.slice(0, left))
    left = Math.max(0, left - text.length)
  })
  await pipeline(Readable.from(archive), stdin)
}

/** Ends of lines of tar, behind a path of any form; the second is of a file that fits in part. */
const noSpace = /: (Cannot [^\n]*: No space left on device|Wrote only \d+ of \d+ bytes)\n/

async function describeFailure(printed: string, cause: unknown, folder: string): Promise<unknown> {
  if (noSpace.test(printed) && (await isFull(folder)))
    return new StartFailed('NODE_TROUBLE', 'no space is left for a copy of the snapshot', { cause })
  const message = printed.slice(0, messageCharactersMax).trim()
  if (message === '' && cause !== undefined && readErrorCode(cause) !== 'ENOENT') return cause
  const why = message === '' ? 'the machine has no tar' : message
  return new StartFailed('START_FAILED', `The snapshot could not be unpacked: ${why}`, { cause })
}

/** Asks the file system, because the messages of tar contain paths that a user chose. */
async function isFull(folder: string): Promise<boolean> {
  const { bavail, bsize, files, ffree } = await statfs(folder)
  return bavail * bsize < roomBytesMin || (files > 0 && ffree < roomFilesMin)
}

/** Removes all copies of the run. */
export async function removeSnapshotCopies(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => [])
  for (const name of names.filter((each) => each.startsWith(prefix))) {
    const own = join(directory, name)
    const parent = await unlessCode('EINVAL', readlink(own))
    await removeCopy(parent === null ? own : join(parent, 'files'))
    if (parent === null) continue
    await unlessMissing(rmdir(parent))
    await unlink(own)
  }
}

/**
 * The account that owns the folder empties it: a process of that account may replace a folder with a link meanwhile, and
 * would lead the server to files of others. A job may have made folders that its account cannot change, such as the cache of a package
 * manager.
 */
async function removeCopy(folder: string): Promise<void> {
  const owner = await unlessMissing(lstat(folder))
  if (!owner) return
  const toOwner = owner.uid === process.getuid?.() ? [] : switchToOwner(owner)
  // `rm` always fails for another account, because that account may not remove the folder itself.
  await runBare([...toOwner, 'rm', '-rf', '--', folder])
  if (
    (await unlessCode(
      'ENOTEMPTY',
      unlessMissing(rmdir(folder)).then(() => true),
    )) === true
  )
    return
  await runBare([...toOwner, 'chmod', '-R', 'u+rwX', '--', folder])
  await runBare([...toOwner, 'rm', '-rf', '--', folder])
  await unlessMissing(rmdir(folder))
}

/** Runs a command to its end, without the environment of the server. */
async function runBare([file = '', ...args]: readonly string[]): Promise<void> {
  const child = spawn(file, args, { cwd: '/', env: { PATH: systemPath, LC_ALL: 'C' }, stdio: 'ignore' })
  await new Promise<void>((resolve, reject) => child.once('error', reject).once('exit', () => resolve()))
}
