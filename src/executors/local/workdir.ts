import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { nullIfMissing } from '../backend/file-errors.ts'
import type { Workdir } from '../backend/outputs.ts'
import type { RunFiles } from './spool.ts'

/** Records the working directory of a run with output files, in the directory of the run. */

const workdirFile = ({ directory }: RunFiles) => join(directory, 'workdir.json')

/** Each start records it again, because it may create another copy of the snapshot. */
export const recordWorkdir = (files: RunFiles, { cwd, account }: Workdir): Promise<void> =>
  writeFile(workdirFile(files), JSON.stringify({ cwd, account: account && { uid: account.uid, gid: account.gid } }), {
    mode: 0o600,
  })

export async function readWorkdir(files: RunFiles): Promise<Workdir | null> {
  const text = await nullIfMissing(readFile(workdirFile(files), 'utf8'))
  return text === null ? null : (JSON.parse(text) as Workdir)
}
