import type { Lane } from '../../domain/lanes.ts'
import type { QueuedJob } from './lane-window.ts'
import type { CommitTimes } from './leader-store.ts'
import { makeRun } from './machines.ts'
import type { Decisions, Eviction, Hold, Start } from './model.ts'
import { toLeaf } from './share-tree.ts'
import type { PoolState } from './state.ts'

/**
 * Applies decisions to the state, so that the next decision builds on them, and undoes them. `undo` restores the state
 * and must come before the next changes; findings about lanes stay. After a commit, `lose` undoes the decisions about
 * jobs that another transaction moved, and `confirm` sets the start times of the others.
 */
export class Ledger {
  private readonly state: PoolState
  private readonly inverses = new WeakMap<Decisions, (() => void)[]>()
  private readonly turns = new WeakMap<Start, () => void>()

  constructor(state: PoolState) {
    this.state = state
  }

  start(decisions: Decisions, { window, entry }: QueuedJob, given: Omit<Start, 'lane' | 'entry'>): void {
    this.take(decisions, { window, entry })
    if (this.state.holds.has(entry.jobId)) this.dropHold(decisions, entry.jobId)
    const start = { lane: window.lane, entry, ...given }
    const takeBack = this.state.startRun(makeRun(start, this.state.nowMs))
    this.turns.set(start, takeBack)
    this.inverted(decisions, () => {
      this.state.endRun(entry.runId)
      takeBack()
    })
    decisions.starts.push(start)
  }

  refuse(decisions: Decisions, job: QueuedJob, info: string): void {
    this.take(decisions, job)
    decisions.refused.push({ entry: job.entry, info })
  }

  evict(decisions: Decisions, lane: Lane, eviction: Eviction): void {
    const { state } = this
    const { hold, victims } = eviction
    for (const { running } of victims) {
      state.replaceRun(running, { ...running, leaving: true })
      this.inverted(decisions, () => state.replaceRun(state.running.get(running.runId), running))
    }
    const before = state.preemptions
    const claimantJobId = hold.jobId
    const of = { atMs: state.nowMs, claimantJobId, claimant: toLeaf(lane) }
    const more = victims.map(({ running: { jobId, lane: victim }, tier }) => {
      return { ...of, victimJobId: jobId, victim: toLeaf(victim), tier }
    })
    state.preemptions = [...before, ...more]
    this.inverted(decisions, () => {
      state.preemptions = before
    })
    this.hold(decisions, lane, hold)
    decisions.evictions.push(eviction)
  }

  dropHold(decisions: Decisions, jobId: string): void {
    const lane = this.state.machines.owners.get(jobId)
    const hold = this.state.dropHold(jobId)
    if (!hold) return
    decisions.dropped.push(jobId)
    this.inverted(decisions, () => this.state.putHold(hold, lane))
  }

  undo(decisions: Decisions): void {
    for (const inverse of this.inverses.get(decisions)?.toReversed() ?? []) inverse()
    this.inverses.delete(decisions)
  }

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

  confirm(sinceMs: CommitTimes, { starts }: Decisions): void {
    for (const { entry } of starts) {
      const run = this.state.running.get(entry.runId)
      const atMs = sinceMs.get(entry.jobId)
      if (run && atMs !== undefined) this.state.replaceRun(run, { ...run, sinceMs: atMs })
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
    state.order.freed([])
    this.inverted(decisions, () => (before ? state.putHold(before, lane) : state.dropHold(hold.jobId)))
  }

  private inverted(decisions: Decisions, inverse: () => void): void {
    const inverses = this.inverses.get(decisions) ?? []
    inverses.push(inverse)
    this.inverses.set(decisions, inverses)
  }
}
