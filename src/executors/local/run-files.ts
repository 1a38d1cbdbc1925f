import { randomUUID } from 'node:crypto'
import { chmod, chown, link as hardLink, mkdir, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Account } from '../accounts/account.ts'

/**
 * Files that a job reads, in the directory of its run. If the job has another account, the files are in a separate
 * directory with an unguessable name, which only the server may change; `link` in the directory of the run points
 * there.
 */

export async function writeNodeFile(link: string, text: string, account: Account | null): Promise<string> {
  const path = account ? join(await makeReachableFolder(link), 'nodes') : link
  await writeOnce(path, text, 0o444)
  return path
}

export async function writeSecretFile(link: string, text: string, account: Account | null): Promise<string> {
  const path = account ? join(await makeReachableFolder(link), basename(link)) : link
  await writeOnce(path, text, 0o600)
  if (account) await chown(path, account.uid, account.gid)
  return path
}

export async function removeLinkTarget(link: string): Promise<void> {
  const directory = await readlink(link).catch(() => null)
  if (directory !== null) await rm(directory, { recursive: true, force: true })
}

export async function makeReachableFolder(link: string): Promise<string> {
  await ignoreExisting(symlink(join(tmpdir(), `berth-${randomUUID()}`), link))
  const directory = await readlink(link)
  await ignoreExisting(mkdir(directory, { mode: 0o700 }))
  await chmod(directory, 0o755)
  return directory
}

/**
 * Writes a file atomically: even if this process is killed, the file is whole or missing. Keeps an existing file,
 * because the job may already use it.
 */
async function writeOnce(path: string, text: string, mode: number): Promise<void> {
  const draft = `${path}.${randomUUID()}`
  try {
    await writeFile(draft, text, { flag: 'wx', mode })
    await ignoreExisting(hardLink(draft, path))
  } finally {
    await rm(draft, { force: true })
  }
}

async function ignoreExisting(making: Promise<unknown>): Promise<void> {
  await making.catch((error) => {
    if (error.code !== 'EEXIST') throw error
  })
}
