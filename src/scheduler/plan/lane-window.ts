import type { Lane } from '../../domain/lanes.ts'
import type { Counted } from '../../domain/limits/limit-reached.ts'
import type { Reason } from '../../domain/reason.ts'
import type { LaneState, Waiting } from './model.ts'
import { getSharePath } from './share-tree.ts'

/**
 * The first entries of a lane. The other entries stay in the database and are read when these have started
 * (`needsRefill`). A change of an entry may arrive after a read that already included it:
 *
 * - `whole`: the last read returned all entries of the lane. - otherwise `total` counts changes: each JOINED and LEFT
 * comes once, and repetitions are recognised. The JOINED of an entry from a read was counted before the read or arrives
 * later. - `unseen`: an entry that was submitted and started in one transaction, and whose JOINED has not arrived. -
 * `taken`: an entry that this leader started, and whose LEFT has not arrived. A late JOINED must not add it again.
 */

/** Limit of a read of entries. A read that returns fewer entries has returned the whole lane. */
export const windowSize = 32

const keptMax = 4 * windowSize

/** Compares entries by the part of their order that does not change with time. */
export const compareEntries = (a: Waiting, b: Waiting): number => b.bid - a.bid || a.sequence - b.sequence

export interface QueuedJob {
  window: LaneWindow
  entry: Waiting
}

export class LaneWindow {
  readonly lane: Lane
  readonly counted: Counted
  readonly path: readonly string[]
  /** Lanes of the same kind fit on the same nodes, apart from limits. */
  readonly kind: string
  /** Priority of the lane's head, raised by waiting time. */
  effective: number
  dueMs: number | null = null
  reason: Reason | null = null
  consideredMs = 0
  private entries: Waiting[] = []
  private readonly read = new Set<string>()
  private readonly unseen = new Set<string>()
  private readonly taken = new Map<string, string>()
  private total = 0
  private whole = true

  constructor({ lane, userName, team }: Omit<LaneState, 'waiting' | 'first'>) {
    this.lane = lane
    const { userId, teamId, queue, project, shape } = lane
    const { gpu, copies, exclusive } = shape
    this.counted = { userId, userName, teamId, team, queue, project, gpu: gpu * copies, exclusive }
    this.path = getSharePath(lane)
    const { interactive, preemptable, restartable, reservationId, runSeconds } = lane
    this.kind = JSON.stringify([shape, interactive, preemptable, restartable, reservationId, runSeconds, lane.priority])
    this.effective = lane.priority
  }

  get head(): Waiting | undefined {
    return this.entries[0]
  }

  get waiting(): number {
    if (this.whole) return this.entries.length
    const taken = [...this.taken.keys()].filter((jobId) => !this.unseen.has(jobId)).length
    return Math.max(this.total - taken, this.entries.length)
  }

  get copy(): LaneState {
    const { userName, team } = this.counted
    return { lane: this.lane, userName, team, waiting: this.waiting, first: [...this.entries] }
  }

  /** true: the database has more entries, which must be read now. */
  get needsRefill(): boolean {
    return this.entries.length === 0 && !this.whole
  }

  get isOver(): boolean {
    return this.entries.length === 0 && this.whole && this.taken.size === 0
  }

  load(waiting: number, first: readonly Waiting[]): void {
    this.entries = first.toSorted(compareEntries)
    this.total = waiting
    this.whole = waiting <= first.length
  }

  /** `first`: entries from a read that began after all applied changes. */
  refill(first: readonly Waiting[]): void {
    this.whole = first.length < windowSize
    this.entries = first.filter((entry) => this.taken.get(entry.jobId) !== entry.runId).toSorted(compareEntries)
    for (const jobId of this.read) if (!this.taken.has(jobId)) this.read.delete(jobId)
    for (const { jobId } of this.entries) this.read.add(jobId)
    this.count()
  }

  join(entry: Waiting): void {
    const { jobId, runId } = entry
    const known = this.entries.find((other) => other.jobId === jobId)
    const isTaken = this.taken.get(jobId) === runId
    const isFirst = [this.read.delete(jobId), this.unseen.delete(jobId)].includes(true)
    if ((isTaken || known?.runId === runId) && !isFirst) return
    this.total++
    if (known) this.entries.splice(this.entries.indexOf(known), 1)
    if (!isTaken && (this.whole || known || this.isInside(entry))) this.insert(entry)
    this.count()
  }

  leave(jobId: string): void {
    const at = this.entries.findIndex((entry) => entry.jobId === jobId)
    if (at >= 0) this.entries.splice(at, 1)
    this.taken.delete(jobId)
    this.read.delete(jobId)
    if (!this.unseen.delete(jobId)) this.total--
    this.count()
  }

  find(jobId: string): Waiting | undefined {
    return this.entries.find((entry) => entry.jobId === jobId)
  }

  take(entry: Waiting): void {
    const at = this.entries.findIndex(({ jobId }) => jobId === entry.jobId)
    if (at < 0) throw new Error(`The job ${entry.jobId} does not wait in the lane ${this.lane.id}`)
    this.entries.splice(at, 1)
    this.taken.set(entry.jobId, entry.runId)
  }

  takeUnseen({ jobId, runId }: Waiting): void {
    this.taken.set(jobId, runId)
    this.unseen.add(jobId)
  }

  hasTaken({ jobId, runId }: Waiting): boolean {
    return this.taken.get(jobId) === runId
  }

  putBack(entry: Waiting): void {
    this.taken.delete(entry.jobId)
    this.insert(entry)
  }

  /** Removes a job that another transaction moved, before the change about this arrives. */
  lose(jobId: string): void {
    this.taken.delete(jobId)
    this.count()
  }

  private isInside(entry: Waiting): boolean {
    const last = this.entries.at(-1)
    return last !== undefined && compareEntries(entry, last) < 0
  }

  private insert(entry: Waiting): void {
    let at = this.entries.length
    while (at > 0 && compareEntries(entry, this.entries[at - 1] ?? entry) < 0) at--
    this.entries.splice(at, 0, entry)
    if (this.entries.length <= keptMax) return
    this.count()
    this.entries.pop()
    this.whole = false
  }

  private count(): void {
    if (this.whole) this.total = this.entries.length + this.taken.size
  }
}

export const compareHeads = (a: LaneWindow, b: LaneWindow): number =>
  a.head && b.head ? compareEntries(a.head, b.head) : 0
