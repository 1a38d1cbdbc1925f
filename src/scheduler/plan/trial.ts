import { makeReason, type Reason } from '../../domain/reason.ts'
import { planEviction } from './block.ts'
import { considerJob, waitingForPreemption } from './consider.ts'
import { LaneWindow } from './lane-window.ts'
import type { LaneState, Verdict, Waiting } from './model.ts'
import { rehearsePass } from './plan.ts'
import type { Planned } from './round.ts'
import type { PoolState } from './state.ts'

export interface Candidate extends Omit<LaneState, 'waiting' | 'first'> {
  entry: Waiting
}

const startsMax = 1_000

/**
 * Predicts the outcome for a job at its position: starts the jobs before it, considers it, and undoes everything. A job
 * that would only be handed to the backend early counts as waiting.
 */
export function tryOut({ state, ledger }: Planned, { entry, ...of }: Candidate): Verdict {
  const window = new LaneWindow(of)
  window.load(1, [entry])
  const decisions = rehearsePass({ state, ledger }, { startsMax, before: window })
  const { needs, starts } = decisions
  const isBeyond = needs.length > 0 || starts.length === startsMax
  const verdict = isBeyond ? waits(makeMoreAheadReason(starts.length)) : decideVerdict(state, window, entry)
  ledger.undo(decisions)
  // Drops findings about other jobs, which are valid only in the round that was undone.
  state.order.freed([])
  return verdict
}

/** The reason if more jobs are ahead than are tried. */
const makeMoreAheadReason = (starts: number) =>
  makeReason('NO_CAPACITY', `More than ${starts} jobs that can start are ahead`)

function decideVerdict(state: PoolState, window: LaneWindow, entry: Waiting): Verdict {
  const outcome = considerJob(state, { window, entry }, { early: false })
  switch (outcome.kind) {
    case 'start':
      return { start: outcome.start }
    case 'capacity':
      return { ...waits(outcome.reason), preempts: listVictims(state, window, entry) }
    case 'limited':
    case 'waiting':
    case 'unsatisfiable':
      return waits(outcome.reason)
    case 'claiming':
      return waits(waitingForPreemption)
    case 'refused':
      return { start: null, reason: makeReason('INTERACTIVE_QUOTA', outcome.info), becomes: 'FAILED' }
    default:
      return outcome satisfies never
  }
}

function listVictims(state: PoolState, window: LaneWindow, entry: Waiting): string[] {
  const plan = planEviction(state, { window, entry })
  return plan?.victims.map(({ running }) => running.jobId) ?? []
}

const waits = (reason: Reason): Verdict & { start: null } => ({ start: null, reason, becomes: 'QUEUED' })
