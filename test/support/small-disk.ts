import { execFile } from 'node:child_process'
import { chmod, mkdtemp, open, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A file system in memory that a test can fill completely. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string
  fill(): Promise<void>
  /** Frees the space that `fill` took. */
  free(): Promise<void>
}

/** null: it cannot be mounted, because this requires root and is not possible in every container. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk | null> {
  const path = await mkdtemp(join(tmpdir(), 'berth-small-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'berth-small-disk', path])
  } catch {
    await rmdir(path)
    return null
  }
  await chmod(path, 0o711) // Under root the database runs as another account.
  const ballast = join(path, 'ballast')
  return {
    path,
    fill: () => fillUp(ballast),
    free: () => rm(ballast, { force: true }),
    async [Symbol.asyncDispose]() {
      await run('umount', ['--lazy', path])
      await rmdir(path)
    },
  }
}

async function fillUp(path: string): Promise<void> {
  const file = await open(path, 'a')
  try {
    const block = Buffer.alloc(65_536)
    for (;;) await file.write(block)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    await file.close()
  }
}
