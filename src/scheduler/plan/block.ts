import type { Reason } from '../../domain/reason.ts'
import { isForGpus } from './classes.ts'
import { considerJob, waitingForPreemption } from './consider.ts'
import { backfillEviction, drainHoldFor, holdId } from './drains.ts'
import { explainWait, parkLane } from './findings.ts'
import { holdsAgainst, holdsPassed } from './holds.ts'
import type { QueuedJob } from './lane-window.ts'
import type { Eviction, Hold, JobClass } from './model.ts'
import { lots } from './order.ts'
import { type EvictionPlan, evictionFor } from './preemption.ts'
import { allows, computeRation } from './rations.ts'
import type { Round } from './round.ts'

/** Maximum jobs of a class that one round tries to start beside a hold. */
const backfillsMax = 100

interface Blocked {
  kind: 'part' | 'capacity'
  reason: Reason
}

/** Handles the head of a lane that does not fit: evicts victims for it, drains nodes for it, or closes its class. */
export function blockJob(round: Round, job: QueuedJob, { kind, reason }: Blocked): void {
  const { state, ledger, decisions } = round
  const { window, entry } = job
  if (kind === 'capacity' && !round.isRehearsal && preemptFor(round, job)) {
    parkLane(state, window, { lot: lots.capacity, reason: waitingForPreemption })
    return
  }
  if (window.class === 'INTERACTIVE' || window.lane.reservationId !== null) {
    parkLane(state, window, { lot: lots.capacity, reason })
    return
  }
  // The next round may evict victims for it.
  if (round.evicting.has(window.class) && state.holds.get(entry.jobId)?.kind !== 'PREEMPTION') {
    closeClass(round, job, { jobClass: window.class, kind, reason })
    return
  }
  const ration = computeRation(state, window)
  const own = state.holds.get(entry.jobId)
  // Limits may have changed and now forbid the devices of the hold.
  if (own?.kind === 'DRAIN' && !round.isRehearsal && !allows(state, ration, own.placements))
    ledger.dropHold(decisions, entry.jobId)
  const head = { lane: window.lane, entry, class: window.class, ration }
  const drain = kind === 'capacity' && !round.isRehearsal ? drainHoldFor(state, head) : null
  if (drain) {
    for (const hold of holdsPassed(state, head)) if (hold.class === drain.class) ledger.dropHold(decisions, hold.jobId)
    ledger.drain(decisions, window.lane, drain)
  }
  if (drain || isBeside(round, job)) {
    parkLane(state, window, { lot: lots.capacity, reason })
    return
  }
  closeClass(round, job, { jobClass: window.class, kind, reason })
}

/** Maximum jobs for which one round tries to evict runs here. */
const claimsMax = 20

/**
 * Under PRIORITY, lets jobs of a higher configured priority evict runs although a head that was raised by waiting is
 * before them and closes their class.
 */
export function evictForOutrankingJobs(round: Round): void {
  const { state } = round
  if (!state.settings.preemptLowerPriority || state.machines.preemptable === 0) return
  for (const window of state.order.outranking().slice(0, claimsMax)) {
    const { head } = window
    if (!head || round.evicting.has(window.class)) continue
    const job = { window, entry: head }
    round.decisions.considered++
    if (considerJob(state, job).kind === 'capacity' && preemptFor(round, job))
      parkLane(state, window, { lot: lots.capacity, reason: waitingForPreemption })
  }
}

export const hasUntriedBackfills = ({ backfills }: Round): boolean =>
  [...backfills.values()].some((tries) => tries > backfillsMax)

function closeClass(
  round: Round,
  { window, entry }: QueuedJob,
  { jobClass, kind, reason }: Blocked & { jobClass: JobClass },
): void {
  const { state, evicting, backfills, isRehearsal } = round
  state.order.closures.set(jobClass, {
    lane: window,
    jobId: entry.jobId,
    reason,
    consideredMs: state.nowMs,
    forCapacity: kind === 'capacity',
    forThisRound: isRehearsal || evicting.has(jobClass) || backfills.has(jobClass),
  })
  explainWait(state, window, null)
}

/** The runs to evict for a job that does not fit; null: none. `evicting`: classes that evict runs in this round. */
export function planEviction(
  { state, evicting }: Pick<Round, 'state' | 'evicting'>,
  { window, entry }: QueuedJob,
): EvictionPlan | null {
  if (state.machines.preemptable === 0) return null
  const own = state.holds.get(entry.jobId)
  if (own ? own.kind !== 'DRAIN' : evicting.has(window.class) || hasDrainOfAnother({ state }, { window, entry }, true))
    return null
  const claim = { lane: window.lane, entry, class: window.class, ration: computeRation(state, window) }
  return (own && backfillEviction(state, claim)) ?? evictionFor(state, claim)
}

function preemptFor(round: Round, { window, entry }: QueuedJob): boolean {
  const { state, ledger, decisions, evicting } = round
  const { lane } = window
  const plan = planEviction(round, { window, entry })
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

/** true: the job may run beside the drain hold of its class, on nodes that are not drained. */
function isBeside(round: Round, { window, entry }: QueuedJob): boolean {
  if (round.state.holds.get(entry.jobId)?.kind === 'DRAIN') return true
  if (!hasDrainOfAnother(round, { window, entry })) return false
  const tries = (round.backfills.get(window.class) ?? 0) + 1
  round.backfills.set(window.class, tries)
  return tries <= backfillsMax
}

function hasDrainOfAnother({ state }: Pick<Round, 'state'>, { window, entry }: QueuedJob, evicts = false): boolean {
  const reaches = ({ kind, class: other }: Hold) =>
    kind === 'DRAIN' &&
    (other === window.class || (state.settings.policy === 'PRIORITY' && isForGpus(other) === isForGpus(window.class)))
  return holdsAgainst(state, { lane: window.lane, entry }, evicts).some(reaches)
}
