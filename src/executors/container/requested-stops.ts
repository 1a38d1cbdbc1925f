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

  async function readWritten(runId: string): Promise<number | null> {
    try {
      return Number(await readFile(pathOf(runId), 'utf8'))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
  }

  return {
    read: async (runId) => unwritten.get(runId) ?? readWritten(runId),
    async record(runId, killUp) {
      // A record that cannot be read does not prevent the stop either.
      const known = Math.min(killUp, unwritten.get(runId) ?? Number.POSITIVE_INFINITY)
      unwritten.set(runId, known)
      const due = Math.min(known, (await readWritten(runId)) ?? Number.POSITIVE_INFINITY)
      unwritten.set(runId, due)
      const fresh = `${pathOf(runId)}.${process.pid}`
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
