import { randomUUID } from 'node:crypto'
import { readdir, readlink, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { nullIfMissing, nullOnCode } from '../backend/file-errors.ts'
import { removeFolder, type UnpackOptions, unpackSnapshot } from '../backend/snapshot-files.ts'
import { makeReachableFolder } from './run-files.ts'

/**
 * The copy of a snapshot in which a run works. Each start creates its own copy, below the directory of the run or, for
 * another account, in a folder to which a link in that directory points.
 */

const prefix = 'snapshot-'

interface CopyOptions extends UnpackOptions {
  /** The directory of the run. */
  directory: string
}

/** Returns the folder of the copied files. */
export async function copySnapshot(archive: () => AsyncIterable<Uint8Array>, options: CopyOptions): Promise<string> {
  const own = join(options.directory, `${prefix}${randomUUID()}`)
  const folder = options.account ? join(await makeReachableFolder(own), 'files') : own
  await unpackSnapshot(archive, folder, options)
  return folder
}

export async function removeSnapshotCopies(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => [])
  for (const name of names.filter((each) => each.startsWith(prefix))) {
    const own = join(directory, name)
    const parent = await nullOnCode('EINVAL', readlink(own))
    await removeFolder(parent === null ? own : join(parent, 'files'))
    if (parent === null) continue
    await nullIfMissing(rmdir(parent))
    await unlink(own)
  }
}
