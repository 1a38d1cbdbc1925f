import { spawn } from 'node:child_process'
import { chown, lstat, mkdir, rmdir, statfs } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Account, switchToAccount, switchToOwner } from '../accounts/account.ts'
import { StartFailed } from '../executor.ts'
import { systemPath } from '../process/search-path.ts'
import { nullIfMissing, nullOnCode, readErrorCode } from './file-errors.ts'

/** Unpacks the files of a snapshot by `tar` under the account of the job, and removes a folder of that account. */

const messageCharactersMax = 300
const printedCharactersMax = 16_384
/** If less space or fewer files are left, a copy failed because the disk is full. */
const roomBytesMin = 1024 * 1024
const roomFilesMin = 16

export interface UnpackOptions {
  account: Account | null
  environment: Readonly<Record<string, string | undefined>>
  /** Ends the unpacking. */
  signal: AbortSignal | undefined
}

/** Creates the folder, whose parent only the server may change, and unpacks the files into it. */
export async function unpackSnapshot(
  archive: () => AsyncIterable<Uint8Array>,
  folder: string,
  { account, environment, signal }: UnpackOptions,
): Promise<void> {
  await mkdir(folder, { mode: 0o700 })
  if (account) await chown(folder, account.uid, account.gid)
  const tar = ['tar', '-x', '-p', '--no-same-owner', '-f', '-']
  const [file = '', ...args] = [...switchToAccount(account), ...tar]
  const child = spawn(file, args, {
    // The account may be unable to reach the folder by its path.
    cwd: folder,
    env: { PATH: environment['PATH'], LC_ALL: 'C' },
    stdio: ['pipe', 'ignore', 'pipe'],
    ...(signal && { signal }),
  })
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  let printed = ''
  // A child that could not be started may have no streams.
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    printed = (printed + text).slice(0, printedCharactersMax)
  })
  const sending = child.pid === undefined ? ended : pipeline(Readable.from(archive()), child.stdin)
  const [sent, code] = await Promise.allSettled([sending, ended])
  if (code.status === 'fulfilled' && code.value === 0 && sent.status === 'fulfilled') return
  const cause = code.status === 'rejected' ? code.reason : sent.status === 'rejected' ? sent.reason : undefined
  throw await describeFailure(printed, cause, folder)
}

/** Ends of tar's messages about a full disk, after any path. The second is about a file that fits only in part. */
const noSpace = /: (Cannot [^\n]*: No space left on device|Wrote only \d+ of \d+ bytes)\n/

async function describeFailure(printed: string, cause: unknown, folder: string): Promise<unknown> {
  if (noSpace.test(printed) && (await isFull(folder)))
    return new StartFailed('NODE_TROUBLE', 'no space is left for a copy of the snapshot', { cause })
  const message = printed.slice(0, messageCharactersMax).trim()
  if (message === '' && cause !== undefined && readErrorCode(cause) !== 'ENOENT') return cause
  const why = message === '' ? 'the machine has no tar' : message
  return new StartFailed('START_FAILED', `The snapshot could not be unpacked: ${why}`, { cause })
}

/** Queries the file system, because messages of tar contain paths that a user chose. */
async function isFull(folder: string): Promise<boolean> {
  const { bavail, bsize, files, ffree } = await statfs(folder)
  return bavail * bsize < roomBytesMin || (files > 0 && ffree < roomFilesMin)
}

/**
 * Removes a folder by a process of the account that owns it. A process of that account may replace a subfolder by a
 * link meanwhile, which would lead the server to files of others. A job may have created folders that its account
 * cannot change, such as the cache of a package manager.
 */
export async function removeFolder(folder: string): Promise<void> {
  const owner = await nullIfMissing(lstat(folder))
  if (!owner) return
  const toOwner = switchToOwner(owner)
  // `rm` always fails for another account, because that account may not remove the folder itself.
  await runBare([...toOwner, 'rm', '-rf', '--', folder])
  const removing = nullIfMissing(rmdir(folder)).then(() => true)
  if (await nullOnCode('ENOTEMPTY', removing)) return
  await runBare([...toOwner, 'chmod', '-R', 'u+rwX', '--', folder])
  await runBare([...toOwner, 'rm', '-rf', '--', folder])
  await nullIfMissing(rmdir(folder))
}

/** Runs a command to its end, without the environment of the server. */
async function runBare([file = '', ...args]: readonly string[]): Promise<void> {
  const child = spawn(file, args, { cwd: '/', env: { PATH: systemPath, LC_ALL: 'C' }, stdio: 'ignore' })
  await new Promise<void>((resolve, reject) => child.once('error', reject).once('exit', () => resolve()))
}
