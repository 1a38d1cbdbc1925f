import { makeReason } from '../../domain/reason.ts'
import { blockJob, evictForOutrankingJobs, hasUntriedBackfills } from './block.ts'
import { considerJob, type JobOutcome, waitingForPreemption } from './consider.ts'
import { parkLane, parkOnLimit } from './findings.ts'
import { holdsPassed, isVoid } from './holds.ts'
import type { LaneWindow, QueuedJob } from './lane-window.ts'
import type { Decisions, Start } from './model.ts'
import { lots } from './order.ts'
import { newRound, type Planned, type Round } from './round.ts'
import { lookAgainMs, soonest } from './timing.ts'

/**
 * Makes the decisions of one round: starts the first job in order that can start, until none is left or `startsMax`
 * jobs started. The round ends early at a lane whose next entries must be read (`needs`), since one of them may come
 * first. Findings last, so a round without changes considers no job.
 */
export function planPass(planned: Planned, { startsMax }: { startsMax: number }): Decisions {
  const round = newRound(planned, false)
  const { state } = round
  state.age()
  state.order.reopen()
  dropOverHolds(round)
  for (const job of state.takeOwnersDue()) settle(round, job, considerJob(state, job))
  return run(round, { startsMax, before: null })
}

/**
 * Plans the jobs before a lane like `planPass`, but without evictions, drains and refusals. The caller undoes the
 * decisions.
 */
export function rehearse(
  planned: Planned,
  { startsMax, before }: { startsMax: number; before: LaneWindow },
): Decisions {
  return run(newRound(planned, true), { startsMax, before })
}

function run(round: Round, { startsMax, before }: { startsMax: number; before: LaneWindow | null }): Decisions {
  const { state, decisions } = round
  while (decisions.starts.length < startsMax && state.order.dry.size === 0) {
    const window = state.order.next()
    if (!window?.head || (before && state.order.isBefore(before, window))) break
    decisions.considered++
    const job = { window, entry: window.head }
    settle(round, job, considerJob(state, job))
  }
  if (!round.isRehearsal && state.order.dry.size === 0) evictForOutrankingJobs(round)
  decisions.needs = state.order.needs
  state.lookAgainMs = lookAgainMs(state)
  const tickMs = state.lanes.size > 0 ? state.machines.accounts.nextTickMs : null
  decisions.nextMs = hasUntriedBackfills(round) ? state.nowMs : soonest([state.order.nextMs, state.lookAgainMs, tickMs])
  return decisions
}

function settle(round: Round, job: QueuedJob, outcome: JobOutcome): void {
  const { state, ledger, decisions } = round
  const { window } = job
  switch (outcome.kind) {
    case 'start':
      start(round, job, outcome.start)
      return
    case 'claiming':
      parkLane(state, window, { lot: lots.capacity, reason: waitingForPreemption })
      return
    case 'refused':
      if (round.isRehearsal)
        parkLane(state, window, { lot: lots.capacity, reason: makeReason('INTERACTIVE_QUOTA', outcome.info) })
      else ledger.refuse(decisions, job, outcome.info)
      return
    case 'limited':
      if (!giveUpHold(round, job)) parkOnLimit(state, window, outcome)
      return
    case 'unsatisfiable':
      if (!giveUpHold(round, job)) parkLane(state, window, { lot: lots.unsatisfiable, reason: outcome.reason })
      return
    case 'waiting':
      if (!giveUpHold(round, job)) parkLane(state, window, { lot: lots.capacity, reason: outcome.reason })
      return
    case 'part':
    case 'capacity':
      blockJob(round, job, outcome)
      return
    default:
      outcome satisfies never
  }
}

/** Under PRIORITY a job may start on nodes that are drained for jobs behind it; those jobs get other nodes. */
function start({ state, ledger, decisions }: Round, job: QueuedJob, given: Omit<Start, 'lane' | 'entry'>): void {
  const on = new Set(given.placements.map(({ nodeId }) => nodeId))
  const evicted = state.holds.get(job.entry.jobId)?.kind === 'PREEMPTION'
  const passed = holdsPassed(state, { lane: job.window.lane, entry: job.entry }, evicted)
  ledger.start(decisions, job, given)
  for (const { jobId, placements } of passed)
    if (placements.some(({ nodeId }) => on.has(nodeId))) ledger.dropHold(decisions, jobId)
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

function dropOverHolds({ state, ledger, decisions }: Round): void {
  const over = new Set(state.overHolds)
  for (const [jobId, hold] of state.holds)
    if (hold.kind === 'PREEMPTION' && isVoid(state, hold, state.machines.owners.get(jobId))) over.add(jobId)
  for (const jobId of over) ledger.dropHold(decisions, jobId)
}
