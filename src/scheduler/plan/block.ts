import type { Reason } from '../../domain/reason.ts'
import { type ClassOrBand, isForGpus } from './classes.ts'
import { waitingForPreemption } from './consider.ts'
import { backfillEviction, drainHoldFor, holdId } from './drains.ts'
import type { Turn } from './lanes.ts'
import type { Eviction, JobClass } from './model.ts'
import { lots } from './order.ts'
import type { Pass } from './passing.ts'
import { evictionFor } from './preemption.ts'
import { allows, rationOf } from './rations.ts'

/** Jobs of a class that are tried beside a hold in one pass; those behind them wait for the next, which follows at once. */
const backfillsMax = 100

interface Blocked {
  kind: 'part' | 'capacity'
  reason: Reason
}

/**
 * A head that finds no room: others leave for it, or nodes are drained for it, or its class waits behind it. Jobs of a
 * capacity reservation have nodes of their own and keep nobody waiting, and neither do interactive ones.
 */
export function block(pass: Pass, turn: Turn, { kind, reason }: Blocked): void {
  const { state, decisions } = pass
  const { window, entry } = turn
  if (kind === 'capacity' && !pass.isRehearsal && makeRoom(pass, turn)) {
    state.park(window, lots.capacity, waitingForPreemption)
    return
  }
  if (window.class === 'INTERACTIVE' || window.lane.reservationId !== null) {
    state.park(window, lots.capacity, reason)
    return
  }
  // The next pass may tell somebody to leave for it.
  if (pass.evicting.has(window.class) && state.holds.get(entry.jobId)?.kind !== 'PREEMPTION') {
    close(pass, turn, { jobClass: window.class, kind, reason })
    return
  }
  const ration = rationOf(state, window)
  const own = state.holds.get(entry.jobId)
  // Nodes are not kept for a job that may not have their devices any more; it gets others.
  if (own?.kind === 'DRAIN' && !pass.isRehearsal && !allows(state, ration, own.placements))
    state.dropHold(decisions, entry.jobId)
  const head = { lane: window.lane, entry, class: window.class, ration }
  const drain = kind === 'capacity' && !pass.isRehearsal ? drainHoldFor(state, head) : null
  if (drain) state.drain(decisions, window.lane, drain)
  if (drain || isBeside(pass, turn)) {
    state.park(window, lots.capacity, reason)
    return
  }
  close(pass, turn, { jobClass: window.class, kind, reason })
}

/** Jobs beside a hold are left to the next pass. */
export const goesOn = ({ backfills }: Pass): boolean => [...backfills.values()].some((tries) => tries > backfillsMax)

function close(
  pass: Pass,
  { window, entry }: Turn,
  { jobClass, kind, reason }: Blocked & { jobClass: JobClass },
): void {
  const { state, evicting, backfills, isRehearsal } = pass
  state.close(jobClass, {
    lane: window,
    jobId: entry.jobId,
    reason,
    consideredMs: state.nowMs,
    forRoom: kind === 'capacity',
    forThisPass: isRehearsal || evicting.has(jobClass) || backfills.has(jobClass),
  })
}

/** Whether somebody was told to leave for it. */
function makeRoom(pass: Pass, { window, entry }: Turn): boolean {
  const { state, decisions, evicting } = pass
  const { lane } = window
  if (state.machines.preemptable === 0) return false
  const own = state.holds.get(entry.jobId)
  if (own ? own.kind !== 'DRAIN' : evicting.has(window.class) || holderBefore(pass, window.class, entry.jobId))
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
  state.evict(decisions, lane, eviction)
  if (window.class !== 'INTERACTIVE') evicting.add(window.class)
  return true
}

/** Behind a job that has nodes drained for it, others of its class may only use what it leaves them. */
function isBeside(pass: Pass, { window, entry }: Turn): boolean {
  if (pass.state.holds.get(entry.jobId)?.kind === 'DRAIN') return true
  if (!holderBefore(pass, window.class, entry.jobId)) return false
  const tries = (pass.backfills.get(window.class) ?? 0) + 1
  pass.backfills.set(window.class, tries)
  return tries <= backfillsMax
}

function holderBefore({ state }: Pass, ofClass: ClassOrBand, jobId: string): boolean {
  const reaches = (other: ClassOrBand) =>
    other === ofClass || (state.settings.policy === 'PRIORITY' && isForGpus(other) === isForGpus(ofClass))
  return [...state.holds.values()].some((hold) => hold.kind === 'DRAIN' && hold.jobId !== jobId && reaches(hold.class))
}
