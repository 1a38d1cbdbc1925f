import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Time } from '../../platform/clock.ts'
import { unlessMissing } from '../backend/file-errors.ts'
import type { Layout } from './layout.ts'

/**
 * Requested stops and when KILL is due: a file for each run, in a directory of the server, so that the next leader knows
 * both, on whatever machine it is. Moments are of the database, which all of them share.
 */

export interface StopRecords {
  /** The earlier KILL counts. Returns the time that is left until it. */
  record(runId: string, graceMs: number): Promise<number>
  /** Time until KILL is due; null: no stop was requested. */
  read(runId: string): Promise<number | null>
  forget(runId: string): Promise<void>
  list(): Promise<readonly string[]>
}

interface Stop {
  dueMs: number
  graceMs: number
}

export function createStopRecords({ own }: Layout, time: Time): StopRecords {
  const pathOf = (runId: string) => join(own, `${runId}.stop`)
  let writes = 0

  async function find(runId: string): Promise<Stop | null> {
    const text = await unlessMissing(readFile(pathOf(runId), 'utf8'))
    return text === null ? null : JSON.parse(text)
  }

  /** A clock that was set back does not make a grace longer than it was. */
  const leftOf = ({ dueMs, graceMs }: Stop) => Math.min(graceMs, Math.max(0, dueMs - time.nowMs()))

  return {
    async record(runId, graceMs) {
      const asked = { dueMs: time.nowMs() + graceMs, graceMs }
      const earlier = await find(runId)
      if (earlier && leftOf(earlier) <= graceMs) return leftOf(earlier)
      const fresh = join(own, `${runId}.${process.pid}.${writes++}`)
      await writeFile(fresh, JSON.stringify(asked), { mode: 0o600 })
      await rename(fresh, pathOf(runId))
      return graceMs
    },
    async read(runId) {
      const found = await find(runId)
      return found && leftOf(found)
    },
    forget: (runId) => rm(pathOf(runId), { force: true }),
    list: async () =>
      (await readdir(own)).flatMap((name) => (name.endsWith('.stop') ? name.slice(0, -'.stop'.length) : [])),
  }
}
