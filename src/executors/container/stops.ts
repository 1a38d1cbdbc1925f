import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Requested stops and when KILL is due: one file per run, so that a server that starts again knows both. Times are
 * seconds since the machine started, which setting a clock does not change; a container does not outlive its machine.
 */

export interface Stops {
  /** The earlier KILL counts. Returns when it is due. */
  record(runId: string, killUp: number): Promise<number>
  /** null: no stop was requested. */
  read(runId: string): Promise<number | null>
  forget(runId: string): Promise<void>
  list(): Promise<readonly string[]>
}

export async function openStops(directory: string): Promise<Stops> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const pathOf = (runId: string) => join(directory, runId)

  async function read(runId: string): Promise<number | null> {
    try {
      return Number(await readFile(pathOf(runId), 'utf8'))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
  }

  return {
    read,
    async record(runId, killUp) {
      const due = Math.min(killUp, (await read(runId)) ?? Number.POSITIVE_INFINITY)
      const fresh = `${pathOf(runId)}.${process.pid}`
      await writeFile(fresh, String(due), { mode: 0o600 })
      await rename(fresh, pathOf(runId))
      return due
    },
    forget: (runId) => rm(pathOf(runId), { force: true }),
    list: async () => (await readdir(directory)).filter((name) => !name.includes('.')),
  }
}
