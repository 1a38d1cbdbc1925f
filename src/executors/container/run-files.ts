import { chown, mkdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Account } from '../account.ts'
import type { Handle, RunSpec } from '../executor.ts'

/** The file of a run's closure on this machine, and where its container sees it. */
export interface ClosureMount {
  source: string
  target: string
}

const target = '/run/berth-closure.json'
const pathOf = (directory: string, handle: Handle) => join(resolve(directory), `${handle}.closure`)

/**
 * Writes it before the container is made. Its folder belongs to the server; in the container only the account of the job reads the
 * file, or, where the image chooses the user, whatever runs there, which is the job.
 */
export async function writeClosure(
  directory: string,
  handle: Handle,
  { run, account }: { run: RunSpec; account: Account | null },
): Promise<ClosureMount | null> {
  if (run.closure === null) return null
  const source = pathOf(directory, handle)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await writeFile(source, run.closure, { mode: account ? 0o600 : 0o644 })
  if (account) await chown(source, account.uid, account.gid)
  return { source, target }
}

export const removeClosure = (directory: string, handle: Handle) => rm(pathOf(directory, handle), { force: true })
