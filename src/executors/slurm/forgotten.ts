import { readdir, readlink, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import { nullIfMissing, nullOnCode } from '../backend/file-errors.ts'
import type { Handle } from '../executor.ts'
import type { Layout } from './layout.ts'
import type { Queue } from './squeue.ts'
import { isJobAlive } from './state-tables.ts'

export const forgottenSuffix = '.over'
/** The Slurm job ends within this time after its run, unless the job wrote the record of its end itself. */
const runningMsMax = 20_000

/**
 * Remembers forgotten runs until Slurm reports that none of their jobs is alive, because a job can write the record of
 * its end and continue. For the next server, a symbolic link per run contains its account.
 */
export class ForgottenRuns {
  readonly #own: string
  readonly #queue: Pick<Queue, 'read' | 'last'>
  readonly #clock: Clock
  readonly #sinceMs = new Map<Handle, number>()

  constructor({ own }: Pick<Layout, 'own'>, queue: Pick<Queue, 'read' | 'last'>, clock: Clock) {
    this.#own = own
    this.#queue = queue
    this.#clock = clock
  }

  async add(handle: Handle, uid: number): Promise<void> {
    this.#sinceMs.set(handle, this.#clock.monotonicMs())
    await nullOnCode('EEXIST', symlink(String(uid), this.#path(handle)))
  }

  has(handle: Handle): boolean {
    return this.#sinceMs.has(handle)
  }

  /** Lists runs that were forgotten long ago but still have a running job in Slurm. */
  async listRunning(): Promise<readonly Handle[]> {
    await this.#readLinks()
    const { byRun, beganMs = 0 } = this.#queue.last ?? {}
    const running: Handle[] = []
    for (const [handle, sinceMs] of this.#sinceMs) {
      if (beganMs - sinceMs <= runningMsMax) continue
      const alive = byRun?.get(handle)?.filter(({ state }) => isJobAlive(state)) ?? []
      if (alive.some(({ state }) => state !== 'COMPLETING')) running.push(handle)
      if (alive.length > 0) continue
      this.#sinceMs.delete(handle)
      await rm(this.#path(handle), { force: true })
    }
    return running
  }

  async #readLinks(): Promise<void> {
    const uids: number[] = []
    for (const name of (await nullIfMissing(readdir(this.#own))) ?? []) {
      const handle = name.slice(0, -forgottenSuffix.length)
      if (!name.endsWith(forgottenSuffix) || this.#sinceMs.has(handle)) continue
      this.#sinceMs.set(handle, this.#clock.monotonicMs())
      uids.push(Number(await nullIfMissing(readlink(this.#path(handle)))))
    }
    if (uids.length > 0) await this.#queue.read(uids)
  }

  #path(handle: Handle): string {
    return join(this.#own, handle + forgottenSuffix)
  }
}
