import { randomUUID } from 'node:crypto'
import { chmod, chown, link as hardLink, mkdir, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Account } from '../accounts/account.ts'

/**
 * Files that a job reads. Each is in the directory of the run. Another account cannot enter that, so its file is in a
 * directory of its own with a name that cannot be guessed, which only the server may change; `link` in the directory of
 * the run leads to it.
 */

/** A file that every account can read. */
export async function writeNodeFile(link: string, text: string, account: Account | null): Promise<string> {
  const path = account ? join(await reachable(link), 'nodes') : link
  await writeWhole(path, text, 0o444)
  return path
}

/** A file that only the account of the job can read. */
export async function writeSecretFile(link: string, text: string, account: Account | null): Promise<string> {
  const path = account ? join(await reachable(link), basename(link)) : link
  await writeWhole(path, text, 0o600)
  if (account) await chown(path, account.uid, account.gid)
  return path
}

export async function removeLinked(link: string): Promise<void> {
  const directory = await readlink(link).catch(() => null)
  if (directory !== null) await rm(directory, { recursive: true, force: true })
}

/** Made once per run, for any number of starts and servers. */
async function reachable(link: string): Promise<string> {
  await unlessThere(symlink(join(tmpdir(), `berth-${randomUUID()}`), link))
  const directory = await readlink(link)
  await unlessThere(mkdir(directory, { mode: 0o700 }))
  await chmod(directory, 0o755)
  return directory
}

/** A file that is there stays, because the job may have begun. It appears whole, also if this process is killed. */
async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const draft = `${path}.${randomUUID()}`
  try {
    await writeFile(draft, text, { flag: 'wx', mode })
    await unlessThere(hardLink(draft, path))
  } finally {
    await rm(draft, { force: true })
  }
}

async function unlessThere(making: Promise<unknown>): Promise<void> {
  await making.catch((error) => {
    if (error.code !== 'EEXIST') throw error
  })
}
