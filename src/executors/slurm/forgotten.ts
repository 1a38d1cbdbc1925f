import { readdir, readlink, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import { unlessCode, unlessMissing } from '../backend/file-errors.ts'
import type { Handle } from '../executor.ts'
import type { Layout } from './layout.ts'
import type { Queue } from './squeue.ts'
import type { SlurmJob } from './squeue-output.ts'
import { isJobAlive } from './state-tables.ts'

/**
 * Runs that were forgotten, until Slurm shows no living job of them: a job can write the record of its own end and go
 * on. Each is a link in the folder of the server, whose text is the account, so the next server knows them too.
 */
export interface Forgotten {
  add(handle: Handle, uid: number): Promise<void>
  /** Of those that this server has added or read. */
  has(handle: Handle): boolean
  /** Runs that were forgotten long ago, and of which Slurm has a job that goes on. */
  outlived(): Promise<readonly Handle[]>
}

/** The end of the name of such a link. */
export const forgottenEnd = '.over'
/** A job of Slurm is over sooner than this after the end of its run, unless the record of that end was of its command. */
const outlivedMs = 20_000

export function createForgotten({ own }: Pick<Layout, 'own'>, queue: Queue, clock: Clock): Forgotten {
  const pathOf = (handle: Handle) => join(own, handle + forgottenEnd)
  /** When each was forgotten, or read by this server. */
  const known = new Map<Handle, number>()

  async function readThoseOfOthers(): Promise<void> {
    const uids: number[] = []
    for (const name of (await unlessMissing(readdir(own))) ?? []) {
      const handle = name.slice(0, -forgottenEnd.length)
      if (!name.endsWith(forgottenEnd) || known.has(handle)) continue
      known.set(handle, clock.monotonicMs())
      uids.push(Number(await unlessMissing(readlink(pathOf(handle)))))
    }
    if (uids.length > 0) await queue.look(uids)
  }

  return {
    async add(handle, uid) {
      known.set(handle, clock.monotonicMs())
      await unlessCode('EEXIST', symlink(String(uid), pathOf(handle)))
    },
    has: (handle) => known.has(handle),
    async outlived() {
      await readThoseOfOthers()
      const { byRun, beganMs = 0 } = queue.last ?? {}
      const outlived: Handle[] = []
      for (const [handle, sinceMs] of known) {
        if (beganMs - sinceMs <= outlivedMs) continue
        const alive = byRun?.get(handle)?.filter(({ state }) => isJobAlive(state)) ?? []
        if (alive.some(goesOn)) outlived.push(handle)
        if (alive.length > 0) continue
        known.delete(handle)
        await rm(pathOf(handle), { force: true })
      }
      return outlived
    },
  }
}

const goesOn = ({ state }: SlurmJob): boolean => state !== 'COMPLETING'
