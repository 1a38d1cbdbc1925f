import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Calls `work` with a new directory, and removes the directory afterwards. */
export async function withDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'berth-chaos-'))
  await chmod(directory, 0o711) // under root the database runs as another account
  await work(directory).finally(() => rm(directory, { recursive: true, force: true }))
}
