import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type Slurm, SlurmAway } from './commands.ts'
import { parseQueue, queueFormat, type SlurmJob } from './squeue-output.ts'

/** What Slurm knew at a moment: the jobs of each run, the oldest first. */
export interface QueueSnapshot {
  /** When it was asked, on the monotonic clock. */
  beganMs: number
  byRun: ReadonlyMap<string, readonly SlurmJob[]>
}

export interface Queue {
  /** Asked after this call. null: Slurm does not answer, so nothing is known. */
  look(uids: Iterable<number>): Promise<QueueSnapshot | null>
  /** The last answer. */
  readonly last: QueueSnapshot | null
}

const answerMsMax = 15_000
/** A controller that did not answer is left alone for this long. */
const awayMs = 2_000

/** Asks once for all that want to know: who comes during a question waits for the next one. */
export function createQueue(slurm: Slurm, clock: Clock, log: Log): Queue {
  const users = new Set<number>([process.getuid?.() ?? 0])
  let last: QueueSnapshot | null = null
  let asking: Promise<unknown> = Promise.resolve()
  let next: Promise<QueueSnapshot | null> | null = null
  let awaySinceMs: number | null = null

  async function ask(): Promise<QueueSnapshot | null> {
    const beganMs = clock.monotonicMs()
    if (awaySinceMs !== null && beganMs - awaySinceMs < awayMs) return null
    const args = ['--noheader', '--states=all', `--user=${[...users].join(',')}`, `--Format=${queueFormat}`]
    try {
      const jobs = parseQueue(await slurm({ command: 'squeue', args, timeoutMs: answerMsMax }))
      awaySinceMs = null
      last = { beganMs, byRun: Map.groupBy(jobs.toSorted(byAge), ({ runId }) => runId) }
      return last
    } catch (err) {
      if (!(err instanceof SlurmAway)) throw err
      awaySinceMs = clock.monotonicMs()
      log.warn({ err }, 'Slurm does not answer; nothing is concluded about its runs')
      return null
    }
  }

  return {
    get last() {
      return last
    },
    look(uids) {
      for (const uid of uids) users.add(uid)
      next ??= asking.then(() => {
        const asked = ask()
        next = null
        asking = asked.catch(() => undefined)
        return asked
      })
      return next
    },
  }
}

const byAge = (one: SlurmJob, other: SlurmJob) => Number(one.id) - Number(other.id)
