import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { BackendUnreachable } from '../backend/unreachable.ts'
import type { Slurm } from './commands.ts'
import { parseQueue, queueFormat, type SlurmJob } from './squeue-output.ts'

export interface QueueSnapshot {
  /** Start of the query, on the monotonic clock. */
  beganMs: number
  /** The jobs of each run, the oldest first. */
  byRun: ReadonlyMap<string, readonly SlurmJob[]>
}

const answerMsMax = 15_000
/** Pause before the next query after the controller was unreachable. */
const pauseMs = 2_000

/** Queries the queue of Slurm once for all callers: calls that come during a query share the next one. */
export class Queue {
  last: QueueSnapshot | null = null
  readonly #slurm: Slurm
  readonly #clock: Clock
  readonly #log: Log
  readonly #users = new Set<number>([process.getuid?.() ?? 0])
  #present: Promise<unknown> = Promise.resolve()
  #next: Promise<QueueSnapshot | null> | null = null
  #unreachableMs: number | null = null

  constructor(slurm: Slurm, clock: Clock, log: Log) {
    this.#slurm = slurm
    this.#clock = clock
    this.#log = log
  }

  /**
   * Returns the result of a query that begins after this call and includes the jobs of these users. null: Slurm is
   * unreachable.
   */
  read(uids: Iterable<number>): Promise<QueueSnapshot | null> {
    for (const uid of uids) this.#users.add(uid)
    this.#next ??= this.#present.then(() => {
      const query = this.#query()
      this.#next = null
      this.#present = query.catch(() => undefined)
      return query
    })
    return this.#next
  }

  async #query(): Promise<QueueSnapshot | null> {
    const beganMs = this.#clock.monotonicMs()
    if (this.#unreachableMs !== null && beganMs - this.#unreachableMs < pauseMs) return null
    const args = ['--noheader', '--states=all', `--user=${[...this.#users].join(',')}`, `--Format=${queueFormat}`]
    try {
      const jobs = parseQueue(await this.#slurm({ command: 'squeue', args, timeoutMs: answerMsMax }))
      this.#unreachableMs = null
      this.last = { beganMs, byRun: Map.groupBy(jobs.toSorted(byAge), ({ runId }) => runId) }
      return this.last
    } catch (err) {
      if (!(err instanceof BackendUnreachable)) throw err
      this.#unreachableMs = this.#clock.monotonicMs()
      this.#log.warn({ err }, 'Slurm is unreachable; its runs keep their state')
      return null
    }
  }
}

const byAge = (one: SlurmJob, other: SlurmJob) => Number(one.id) - Number(other.id)
