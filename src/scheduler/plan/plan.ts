import { findLimitReached } from '../../domain/limits/limit-reached.ts'
import { makeReason } from '../../domain/reason.ts'
import { blockJob } from './block.ts'
import { considerJob, type JobOutcome, mayStartNow, waitingForPreemption } from './consider.ts'
import { isAlone, parkForCapacity, parkLane, parkOnLimit } from './findings.ts'
import { isVoid } from './holds.ts'
import type { LaneWindow, QueuedJob } from './lane-window.ts'
import type { Decisions } from './model.ts'
import { lots } from './order.ts'
import { mayPlan } from './planned-starts.ts'
import { createRound, type Planned, type Round } from './round.ts'
import type { PoolState } from './state.ts'
import { findNextChangeMs, findSoonest } from './timing.ts'

/**
 * Makes the decisions of one round: starts the first job in order that can start, until none is left or `startsMax`
 * jobs started. The round ends early at a lane whose next entries must be read (`needs`), since one of them may come
 * first. Findings last, so a round without changes considers no job.
 */
export function planPass(planned: Planned, { startsMax }: { startsMax: number }): Decisions {
  const round = createRound(planned, false)
  const { state } = round
  state.age()
  state.order.reopen(state.nowMs)
  dropEndedHolds(round)
  for (const job of state.takeOwnersDue()) settle(round, job, considerJob(state, job))
  return run(round, { startsMax, before: null })
}

/**
 * Plans the jobs before a lane like `planPass`, but without evictions and refusals. The caller undoes the decisions, and
 * then calls `freed`.
 */
export function rehearsePass(
  planned: Planned,
  { startsMax, before }: { startsMax: number; before: LaneWindow },
): Decisions {
  planned.state.order.replan()
  return run(createRound(planned, true), { startsMax, before })
}

function run(round: Round, { startsMax, before }: { startsMax: number; before: LaneWindow | null }): Decisions {
  const { state, decisions } = round
  while (decisions.starts.length < startsMax && state.order.toRefill.size === 0) {
    const window = state.order.next()
    if (!window?.head || (before && state.order.isBefore(before, window))) break
    if (parkIfKnownToWait(state, window)) continue
    decisions.considered++
    const job = { window, entry: window.head }
    settle(round, job, considerJob(state, job))
  }
  if (!state.order.next()) state.order.settle()
  decisions.needs = state.order.needs
  state.lookAgainMs = findNextChangeMs(state)
  const tickMs = state.lanes.size > 0 ? state.machines.accounts.nextTickMs : null
  decisions.nextMs = findSoonest([state.order.nextMs, state.order.searches.nextMs, state.lookAgainMs, tickMs])
  return decisions
}

/** Parks a lane without considering its head if a lane of the same kind does not fit, or if nothing changed for the lane. */
function parkIfKnownToWait(state: PoolState, window: LaneWindow): boolean {
  if (state.order.isWoken(window)) {
    if (mayStartNow(state, window)) return false
    state.order.park(window, lots.alike(window))
    return true
  }
  const isOther = state.holds.has(window.head?.jobId ?? '') || findLimitReached(state.ceilings, window.counted)
  const alike = isOther || isAlone(state, window) ? undefined : state.order.findBlockedAlike(window)
  if (!alike?.reason || mayPlan(state, window.lane.shape)) return false
  parkLane(state, window, { lot: lots.alike(window), reason: alike.reason })
  return true
}

function settle(round: Round, job: QueuedJob, outcome: JobOutcome): void {
  const { state, ledger, decisions } = round
  const { window } = job
  switch (outcome.kind) {
    case 'start':
      ledger.start(decisions, job, outcome.start)
      return
    case 'claiming':
      parkForCapacity(state, window, { reason: waitingForPreemption, alone: true })
      return
    case 'refused':
      if (round.isRehearsal)
        parkForCapacity(state, window, { reason: makeReason('INTERACTIVE_QUOTA', outcome.info), alone: true })
      else ledger.refuse(decisions, job, outcome.info)
      return
    case 'limited':
      if (!giveUpHold(round, job)) parkOnLimit(state, window, outcome)
      return
    case 'unsatisfiable':
      if (!giveUpHold(round, job)) parkLane(state, window, { lot: lots.unsatisfiable, reason: outcome.reason })
      return
    case 'waiting':
      if (!giveUpHold(round, job)) parkForCapacity(state, window, { reason: outcome.reason, alone: false })
      return
    case 'capacity':
      blockJob(round, job, outcome.reason)
      return
    default:
      outcome satisfies never
  }
}

/**
 * Drops the hold of a job that cannot start now; its victims are spared if they were not signalled yet. true: a hold
 * was dropped, and the job is considered again, since it may fit elsewhere.
 */
function giveUpHold({ state, ledger, decisions }: Round, { entry: { jobId } }: QueuedJob): boolean {
  // The next round drops a hold that this round created.
  if (decisions.evictions.some(({ claimant }) => claimant.jobId === jobId)) return false
  if (!state.holds.has(jobId)) return false
  ledger.dropHold(decisions, jobId)
  return true
}

function dropEndedHolds({ state, ledger, decisions }: Round): void {
  const over = new Set(state.endedHolds)
  for (const [jobId, hold] of state.holds) if (isVoid(state, hold, state.machines.owners.get(jobId))) over.add(jobId)
  for (const jobId of over) ledger.dropHold(decisions, jobId)
}
