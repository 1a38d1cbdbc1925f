import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where the files of a run are. All but the node file are in the spool, which nobody but the server may enter. */
export interface RunFiles {
  directory: string
  journal: string
  stdout: string
  stderr: string
  /** One for all runs: their shims append the run's id when it is over. */
  ended: string
  /** Read by the job, so outside of the spool. */
  nodeFile: string
}

/** null: no run of ours is called so. Names become paths only here. */
export function filesOf(spoolDir: string, runId: string): RunFiles | null {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(runId)) return null
  const directory = join(spoolDir, 'runs', runId)
  return {
    directory,
    journal: join(directory, 'journal'),
    stdout: join(directory, 'stdout'),
    stderr: join(directory, 'stderr'),
    ended: endedList(spoolDir),
    nodeFile: join(tmpdir(), `berth-${runId}.nodes`),
  }
}

export const endedList = (spoolDir: string) => join(spoolDir, 'ended')

export async function removeFiles(files: RunFiles): Promise<void> {
  await rm(files.directory, { recursive: true, force: true })
  await rm(files.nodeFile, { force: true })
}
