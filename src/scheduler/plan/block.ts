import type { Reason } from '../../domain/reason.ts'
import { planBackfillEviction } from './backfill-evictions.ts'
import { waitingForPreemption } from './consider.ts'
import { parkForCapacity } from './findings.ts'
import { computeUsable } from './holds.ts'
import type { QueuedJob } from './lane-window.ts'
import type { PlannedStart } from './model.ts'
import { mayPlan, planStart } from './planned-starts.ts'
import { type EvictionPlan, planPreemption } from './preemption.ts'
import { computeRation, unlimited } from './rations.ts'
import type { Round } from './round.ts'
import type { PoolState } from './state.ts'

/** Handles the head of a lane that does not fit: evicts victims for it, or plans its start. */
export function blockJob(round: Round, job: QueuedJob, reason: Reason): void {
  const { state } = round
  const { window } = job
  if (state.order.isBeforePlan(window)) {
    state.order.replan()
    return
  }
  if (!round.isRehearsal && evictForJob(round, job)) {
    parkForCapacity(state, window, { reason: waitingForPreemption, alone: true })
    return
  }
  const plan = planStartOf(state, job)
  if (plan) state.order.plan(window, plan)
  parkForCapacity(state, window, { reason, alone: plan !== null })
}

/** Plans the start of the job; null: no plan is possible, or under FAIR_SHARE the account holds more than its share. */
function planStartOf(state: PoolState, { window, entry }: QueuedJob): PlannedStart | null {
  const { lane } = window
  if (lane.interactive || !mayPlan(state, lane.shape)) return null
  if (state.settings.policy === 'FAIR_SHARE' && state.isOverShare(window.path)) return null
  return planStart(state, { lane, entry, ration: computeRation(state, window) })
}

/** Chooses runs to evict for a job that does not fit; null: no eviction is possible. */
export function planEviction(state: PoolState, { window, entry }: QueuedJob): EvictionPlan | null {
  if (state.machines.preemptable === 0 || state.holds.has(entry.jobId)) return null
  const claim = { lane: window.lane, entry, ration: computeRation(state, window) }
  return planBackfillEviction(state, claim) ?? planPreemption(state, claim)
}

/** Evicts runs for the job. At most one job of a round evicts runs, because an eviction changes the shares. */
function evictForJob(round: Round, { window, entry }: QueuedJob): boolean {
  const { state, ledger, decisions } = round
  if (decisions.evictions.length > 0 || state.machines.preemptable === 0 || !state.order.searches.take(entry))
    return false
  const plan = planEviction(state, { window, entry })
  if (!plan) return false
  const { jobId } = entry
  const claim = { lane: window.lane, entry, ration: unlimited }
  const backfilledOn = computeUsable(state, claim, { evicts: true }).backfilled(plan.placements)
  ledger.evict(decisions, window.lane, {
    hold: { id: holdId(jobId), jobId, placements: plan.placements, sinceMs: state.nowMs, backfilledOn },
    claimant: { jobId, account: window.lane.account },
    victims: plan.victims,
  })
  return true
}

const holdId = (jobId: string): string => `hold_${jobId.slice(jobId.indexOf('_') + 1)}`
