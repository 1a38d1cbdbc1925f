import { randomUUID } from 'node:crypto'
import { chmod, chown, mkdir, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { processCountOf } from '../../domain/spec.ts'
import type { Account } from '../account.ts'
import type { RunSpec } from '../executor.ts'

/**
 * Files that a job reads. Each is in the directory of the run. Another account cannot enter that, so its file is in a
 * directory of its own with a name that cannot be guessed, which only the server may change; `link` in the directory of
 * the run leads to it.
 */

/** The file named by PSIJ_NODEFILE: the name of its node for each process of the run, one per line. */
export async function writeNodeFile(link: string, run: RunSpec, account: Account | null): Promise<string> {
  const path = account ? join(await reachable(link), 'nodes') : link
  await unlessThere(writeFile(path, textOf(run), { flag: 'wx', mode: 0o444 }))
  return path
}

/** A file that only the account of the job can read. */
export async function writeSecretFile(link: string, text: string, account: Account | null): Promise<string> {
  const path = account ? join(await reachable(link), basename(link)) : link
  await unlessThere(writeFile(path, text, { flag: 'wx', mode: 0o600 }))
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

function textOf(run: RunSpec): string {
  const nodes = run.nodes.length > 0 ? run.nodes : ['localhost']
  const processes = processCountOf(run.spec.resources)
  const perNode = run.spec.resources.processesPerNode ?? Math.ceil(processes / nodes.length)
  return Array.from({ length: processes }, (_, rank) => `${nodes[Math.floor(rank / perNode) % nodes.length]}\n`).join(
    '',
  )
}

async function unlessThere(making: Promise<unknown>): Promise<void> {
  await making.catch((error) => {
    if (error.code !== 'EEXIST') throw error
  })
}
