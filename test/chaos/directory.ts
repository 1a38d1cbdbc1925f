import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new directory for one piece of work. It is removed afterwards. */
export async function withDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'berth-chaos-'))
  await chmod(directory, 0o711) // under root the database runs as another account
  await work(directory).finally(() => rm(directory, { recursive: true, force: true }))
}
