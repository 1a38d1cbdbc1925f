import { chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Account } from '../accounts/account.ts'
import type { Handle, RunSpec } from '../executor.ts'
import { buildNodeFile } from '../process/launchers.ts'

/**
 * A file of a run on this machine. In the container its path is `target`, and the environment variable `variable`
 * contains that path.
 */
export interface RunFile {
  source: string
  target: string
  variable: string
  text: string
}

const kinds = [
  {
    suffix: 'closure',
    target: '/run/berth-closure.json',
    variable: 'BERTH_CLOSURE',
    textOf: ({ closure }: RunSpec) => closure,
  },
  { suffix: 'nodes', target: '/run/berth-nodes', variable: 'PSIJ_NODEFILE', textOf: buildNodeFile },
] as const

const pathOf = (directory: string, handle: Handle, suffix: string) => join(resolve(directory), `${handle}.${suffix}`)

export const listFilesOfRun = (directory: string, handle: Handle, run: RunSpec): RunFile[] =>
  kinds.flatMap(({ suffix, target, variable, textOf }) => {
    const text = textOf(run)
    return text === null ? [] : [{ source: pathOf(directory, handle, suffix), target, variable, text }]
  })

/**
 * Writes the files to a directory that other accounts cannot enter. If the image chooses the user, every user of the
 * container may read them.
 */
export async function writeRunFiles(files: readonly RunFile[], account: Account | null): Promise<void> {
  for (const { source, text } of files) {
    await mkdir(dirname(source), { recursive: true, mode: 0o700 })
    await writeFile(source, text, { mode: account ? 0o600 : 0o644 })
    if (account) await chown(source, account.uid, account.gid)
  }
}

export async function listRunFiles(directory: string): Promise<Handle[]> {
  const names = await readdir(directory)
  return kinds.flatMap(({ suffix }) =>
    names.flatMap((name) => (name.endsWith(`.${suffix}`) ? name.slice(0, -suffix.length - 1) : [])),
  )
}

export async function removeRunFiles(directory: string, handle: Handle): Promise<void> {
  for (const { suffix } of kinds) await rm(pathOf(directory, handle, suffix), { force: true })
}
