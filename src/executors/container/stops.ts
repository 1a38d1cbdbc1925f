import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Requested stops and when KILL is due: one file per run, so that a server that starts again knows both. Times are
 * seconds since the machine started, which setting a clock does not change; a container does not outlive its machine.
 * A stop that cannot be recorded counts in this process all the same.
 */

export interface Stops {
  /** The earlier KILL counts. */
  record(runId: string, killUp: number): Promise<void>
  /** null: no stop was requested. */
  read(runId: string): Promise<number | null>
  forget(runId: string): Promise<void>
  list(): Promise<readonly string[]>
}

export async function openStops(directory: string): Promise<Stops> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const pathOf = (runId: string) => join(directory, runId)
  /** Those that could not be written. */
  const unwritten = new Map<string, number>()

  async function read(runId: string): Promise<number | null> {
    const due = unwritten.get(runId)
    if (due !== undefined) return due
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
      unwritten.set(runId, due)
      await writeFile(fresh, String(due), { mode: 0o600 })
      await rename(fresh, pathOf(runId))
      unwritten.delete(runId)
    },
    async forget(runId) {
      unwritten.delete(runId)
      await rm(pathOf(runId), { force: true })
    },
    list: async () => (await readdir(directory)).filter((name) => !name.includes('.')),
  }
}
