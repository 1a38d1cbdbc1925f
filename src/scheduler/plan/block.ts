import type { Reason } from '../../domain/reason.ts'
import { isForGpus } from './classes.ts'
import { consider, waitingForPreemption } from './consider.ts'
import { backfillEviction, drainHoldFor, holdId } from './drains.ts'
import { close, park } from './findings.ts'
import { holdsAgainst, holdsPassed } from './holds.ts'
import type { QueuedJob } from './lane-window.ts'
import type { Eviction, Hold, JobClass } from './model.ts'
import { lots } from './order.ts'
import { evictionFor } from './preemption.ts'
import { allows, rationOf } from './rations.ts'
import type { Round } from './round.ts'

/** Jobs of a class that are tried beside a hold in one round; those behind them wait for the next, which follows at once. */
const backfillsMax = 100

interface Blocked {
  kind: 'part' | 'capacity'
  reason: Reason
}

/**
 * What follows when no nodes are found for a head: victims are evicted for it, or nodes are drained for it, or its class
 * waits behind it. Jobs of a capacity reservation have nodes of their own and block no other job, and neither do
 * interactive ones.
 */
export function block(round: Round, job: QueuedJob, { kind, reason }: Blocked): void {
  const { state, ledger, decisions } = round
  const { window, entry } = job
  if (kind === 'capacity' && !round.isRehearsal && preemptFor(round, job)) {
    park(state, window, { lot: lots.capacity, reason: waitingForPreemption })
    return
  }
  if (window.class === 'INTERACTIVE' || window.lane.reservationId !== null) {
    park(state, window, { lot: lots.capacity, reason })
    return
  }
  // The next round may evict victims for it.
  if (round.evicting.has(window.class) && state.holds.get(entry.jobId)?.kind !== 'PREEMPTION') {
    closeClass(round, job, { jobClass: window.class, kind, reason })
    return
  }
  const ration = rationOf(state, window)
  const own = state.holds.get(entry.jobId)
  // Limits may leave it none of these devices any more: it gets other nodes.
  if (own?.kind === 'DRAIN' && !round.isRehearsal && !allows(state, ration, own.placements))
    ledger.dropHold(decisions, entry.jobId)
  const head = { lane: window.lane, entry, class: window.class, ration }
  const drain = kind === 'capacity' && !round.isRehearsal ? drainHoldFor(state, head) : null
  if (drain) {
    for (const hold of holdsPassed(state, head)) if (hold.class === drain.class) ledger.dropHold(decisions, hold.jobId)
    ledger.drain(decisions, window.lane, drain)
  }
  if (drain || isBeside(round, job)) {
    park(state, window, { lot: lots.capacity, reason })
    return
  }
  closeClass(round, job, { jobClass: window.class, kind, reason })
}

/** Jobs behind a head of a lower level that are asked for in one round. */
const claimsMax = 20

/**
 * Under PRIORITY runs are evicted by levels as they were given: a head that only its waiting put first may not evict them,
 * and does not keep a job of a higher level from that.
 */
export function claimPastAgedHeads(round: Round): void {
  const { state } = round
  if (!state.settings.preemptLowerPriority || state.machines.preemptable === 0) return
  for (const window of state.order.outranking().slice(0, claimsMax)) {
    const { head } = window
    if (!head || round.evicting.has(window.class)) continue
    const job = { window, entry: head }
    round.decisions.considered++
    if (consider(state, job).kind === 'capacity' && preemptFor(round, job))
      park(state, window, { lot: lots.capacity, reason: waitingForPreemption })
  }
}

/** Jobs beside a hold are left to the next round. */
export const goesOn = ({ backfills }: Round): boolean => [...backfills.values()].some((tries) => tries > backfillsMax)

function closeClass(
  round: Round,
  { window, entry }: QueuedJob,
  { jobClass, kind, reason }: Blocked & { jobClass: JobClass },
): void {
  const { state, evicting, backfills, isRehearsal } = round
  close(state, jobClass, {
    lane: window,
    jobId: entry.jobId,
    reason,
    consideredMs: state.nowMs,
    forCapacity: kind === 'capacity',
    forThisRound: isRehearsal || evicting.has(jobClass) || backfills.has(jobClass),
  })
}

/** Chooses victims and asks them to leave; false: none were found. */
function preemptFor(round: Round, { window, entry }: QueuedJob): boolean {
  const { state, ledger, decisions, evicting } = round
  const { lane } = window
  if (state.machines.preemptable === 0) return false
  const own = state.holds.get(entry.jobId)
  if (own ? own.kind !== 'DRAIN' : evicting.has(window.class) || hasDrainOfAnother(round, { window, entry }, true))
    return false
  const claim = { lane, entry, class: window.class, ration: rationOf(state, window) }
  const plan = (own && backfillEviction(state, claim)) ?? evictionFor(state, claim)
  if (!plan) return false
  const eviction: Eviction = {
    hold: {
      id: holdId(entry.jobId),
      jobId: entry.jobId,
      kind: 'PREEMPTION',
      class: window.class,
      placements: plan.placements,
      sinceMs: state.nowMs,
      expectedMs: null,
    },
    claimant: { jobId: entry.jobId, account: lane.account },
    victims: plan.victims,
  }
  ledger.evict(decisions, lane, eviction)
  if (window.class !== 'INTERACTIVE') evicting.add(window.class)
  return true
}

/** Behind a job that has nodes drained for it, other jobs of its class may use only what it leaves them. */
function isBeside(round: Round, { window, entry }: QueuedJob): boolean {
  if (round.state.holds.get(entry.jobId)?.kind === 'DRAIN') return true
  if (!hasDrainOfAnother(round, { window, entry })) return false
  const tries = (round.backfills.get(window.class) ?? 0) + 1
  round.backfills.set(window.class, tries)
  return tries <= backfillsMax
}

function hasDrainOfAnother({ state }: Round, { window, entry }: QueuedJob, evicts = false): boolean {
  const reaches = ({ kind, class: other }: Hold) =>
    kind === 'DRAIN' &&
    (other === window.class || (state.settings.policy === 'PRIORITY' && isForGpus(other) === isForGpus(window.class)))
  return holdsAgainst(state, { lane: window.lane, entry }, evicts).some(reaches)
}
