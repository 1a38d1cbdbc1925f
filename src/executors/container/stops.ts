import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Which runs were asked to end, and when KILL is due: one file each, for a server that starts again must know both. Times are
 * seconds since the machine started, which no clock that is set changes; a container does not outlive its machine.
 */
export interface Stops {
  /** The earlier KILL counts. Answers when it is due. */
  record(runId: string, killUp: number): Promise<number>
  /** null: nobody asked. */
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
