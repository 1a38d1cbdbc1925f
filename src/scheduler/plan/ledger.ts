import type { Lane } from '../../domain/lanes.ts'
import type { QueuedJob } from './lane-window.ts'
import { runOf } from './machines.ts'
import type { Decisions, Eviction, Hold, Start } from './model.ts'
import type { PoolState } from './state.ts'

/**
 * Decisions and their undoing. A decision changes the state as soon as it is entered, so the next one is made with what
 * it leaves; the way back is kept until the decisions are forgotten.
 *
 * `undo` takes all of them back in reverse order and restores the state; findings about lanes are not decisions and
 * stay. It must come before anything else is heard. `lose` takes back the decisions about jobs that another transaction
 * moved, after the rest was committed.
 */
export class Ledger {
  private readonly state: PoolState
  private readonly inverses = new WeakMap<Decisions, (() => void)[]>()
  /** How the accounts of starts get their turns back. */
  private readonly turns = new WeakMap<Start, () => void>()

  constructor(state: PoolState) {
    this.state = state
  }

  /** Starts the job. */
  start(decisions: Decisions, { window, entry }: QueuedJob, given: Omit<Start, 'lane' | 'entry'>): void {
    this.take(decisions, { window, entry })
    if (this.state.holds.has(entry.jobId)) this.dropHold(decisions, entry.jobId)
    const start = { lane: window.lane, entry, ...given }
    const takeBack = this.state.startRun(runOf(start, this.state.nowMs))
    this.turns.set(start, takeBack)
    this.inverted(decisions, () => {
      this.state.endRun(entry.runId)
      takeBack()
    })
    decisions.starts.push(start)
  }

  /** Ends the job before it began. */
  refuse(decisions: Decisions, job: QueuedJob, info: string): void {
    this.take(decisions, job)
    decisions.refused.push({ entry: job.entry, info })
  }

  /** Asks the victims to leave and holds what they use for the claimant. */
  evict(decisions: Decisions, lane: Lane, eviction: Eviction): void {
    const { state } = this
    const { hold, victims } = eviction
    for (const { running } of victims) {
      state.replaceRun(running, { ...running, leaving: true })
      this.inverted(decisions, () => state.replaceRun(state.running.get(running.runId), running))
    }
    const before = state.preemptions
    const claimantJobId = hold.jobId
    const of = { atMs: state.nowMs, claimantJobId, claimant: lane.account }
    const more = victims.map(({ running, tier }) => ({
      ...of,
      victimJobId: running.jobId,
      victim: running.lane.account,
      tier,
    }))
    state.preemptions = [...before, ...more]
    this.inverted(decisions, () => {
      state.preemptions = before
    })
    this.hold(decisions, lane, hold)
    decisions.evictions.push(eviction)
  }

  /** Drains nodes for a head. */
  drain(decisions: Decisions, lane: Lane, hold: Hold): void {
    this.hold(decisions, lane, hold)
    decisions.holds.put.push(hold)
  }

  dropHold(decisions: Decisions, jobId: string): void {
    const lane = this.state.machines.ownerOf(jobId)
    const hold = this.state.dropHold(jobId)
    if (!hold) return
    decisions.holds.put = decisions.holds.put.filter((put) => put.jobId !== jobId)
    decisions.holds.drop.push(jobId)
    this.inverted(decisions, () => this.state.putHold(hold, lane))
  }

  /** Takes back decisions of which none was committed. */
  undo(decisions: Decisions): void {
    for (const inverse of this.inverses.get(decisions)?.toReversed() ?? []) inverse()
    this.inverses.delete(decisions)
  }

  /** Takes back decisions about jobs that another transaction moved first. */
  lose(jobIds: readonly string[], { starts }: Decisions): void {
    const lost = new Set(jobIds)
    for (const jobId of lost) this.state.dropHold(jobId)
    for (const start of starts) {
      const { entry, lane } = start
      if (!lost.has(entry.jobId)) continue
      this.state.endRun(entry.runId)
      this.turns.get(start)?.()
      this.state.lanes.get(lane.id)?.lose(entry.jobId)
      this.state.reorder(lane.id)
    }
  }

  private take(decisions: Decisions, { window, entry }: QueuedJob): void {
    const { state } = this
    window.take(entry)
    state.order.put(window, state.nowMs)
    this.inverted(decisions, () => {
      window.putBack(entry)
      state.order.put(window, state.nowMs)
    })
  }

  private hold(decisions: Decisions, lane: Lane, hold: Hold): void {
    const { state } = this
    const before = state.holds.get(hold.jobId)
    state.putHold(hold, lane)
    if (before) state.order.freed([])
    // Beside drained nodes, jobs of the class are tried in another way.
    state.order.closures.clear()
    state.order.hasMoved = true
    this.inverted(decisions, () => (before ? state.putHold(before, lane) : state.dropHold(hold.jobId)))
  }

  private inverted(decisions: Decisions, inverse: () => void): void {
    const inverses = this.inverses.get(decisions) ?? []
    inverses.push(inverse)
    this.inverses.set(decisions, inverses)
  }
}
