import type { Lane } from '../src/domain/lanes.ts'
import type { Placement } from '../src/domain/machines/placement.ts'
import { type FinalState, isFinal, type JobState, mayMove, type StateReason } from '../src/domain/state.ts'
import type { Tier } from '../src/scheduler/plan/model.ts'
import type { SeenJob } from './actions.ts'

/** Jobs and runs as rows of the tables, moved by the product's table of moves. */
export interface SimulatedRun {
  id: string
  number: number
  state: JobState
  placements: readonly Placement[]
  sinceMs: number
  /** Place among runs that started at the same moment. */
  place: number
  startedMs: number | null
  endsMs: number | null
  leaves: SeenJob['leaves']
  wonTier: Tier | null
  backfilledOn: string | null
}

export interface SimulatedJob {
  id: string
  lane: Lane
  bid: number
  sequence: number
  turn: number
  state: JobState
  eligibleMs: number
  /** Jobs that must end before it may start. */
  after: readonly string[]
  runSeconds: number
  maxRunTimeSeconds: number
  run: SimulatedRun
  /** How the jobs that it depends on ended. */
  ended: JobState[]
  /** Runs that count as attempts to start it. */
  startFailures: number
  /** Whether its queue entry is open. */
  open: boolean
}

export interface SimulatedMove {
  to: JobState
  reason: StateReason | null
  runEnds?: FinalState
}

/** Throws for a move that the table of moves does not have, as the product does. */
export function moveJob(job: SimulatedJob, { to, reason, runEnds }: SimulatedMove, nextRunId: () => string): void {
  if (!mayMove(job.state, to, reason)) throw new Error(`No move ${job.state} → ${to} for ${reason} (${job.id})`)
  const { run } = job
  const again = to === 'QUEUED' && job.state !== 'BLOCKED'
  run.state = again ? (runEnds ?? 'INTERRUPTED') : to
  if (again || isFinal(to)) run.placements = []
  job.state = to
  if (!again) return
  job.ended.push(run.state)
  if (reason === 'START_FAILED') job.startFailures += 1
  job.run = newRun(nextRunId(), run.number + 1)
}

export const newRun = (id: string, number: number): SimulatedRun => ({
  id,
  number,
  state: 'QUEUED',
  placements: [],
  sinceMs: 0,
  place: 0,
  startedMs: null,
  endsMs: null,
  leaves: null,
  wonTier: null,
  backfilledOn: null,
})

export const seenOf = ({ id, state, run }: SimulatedJob): SeenJob => ({
  id,
  state,
  run: run.number,
  leaves: run.leaves,
  endsMs: run.endsMs,
})
