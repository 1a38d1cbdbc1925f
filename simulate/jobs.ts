import type { Lane } from '../src/domain/lanes.ts'
import type { Placement } from '../src/domain/machines/placement.ts'
import { type FinalState, isFinal, type JobState, mayMove, type StateReason } from '../src/domain/state.ts'
import type { Tier } from '../src/scheduler/plan/model.ts'
import type { SeenJob } from './actions.ts'

/** Jobs and runs as rows of the tables. Their moves follow the table of moves of the product (domain/state.ts). */
export interface SimulatedRun {
  id: string
  number: number
  state: JobState
  placements: readonly Placement[]
  sinceMs: number
  /** Position among runs that started at the same time. */
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
  /** Jobs that must end before this job may start. */
  after: readonly string[]
  runSeconds: number
  maxRunTimeSeconds: number
  run: SimulatedRun
  /** Final states of the jobs on which this job depends. */
  ended: JobState[]
  /** Runs that count as attempts to start it. */
  startFailures: number
  /** true: the gates of its queue entry are open. */
  open: boolean
}

export interface SimulatedMove {
  to: JobState
  reason: StateReason | null
  runEnds?: FinalState
}

/** Throws for an illegal move, as the product does. */
export function moveJob(job: SimulatedJob, { to, reason, runEnds }: SimulatedMove, nextRunId: () => string): void {
  if (!mayMove(job.state, to, reason)) throw new Error(`Illegal move ${job.state} → ${to} for ${reason} (${job.id})`)
  const { run } = job
  const again = to === 'QUEUED' && job.state !== 'BLOCKED'
  run.state = again ? (runEnds ?? 'INTERRUPTED') : to
  if (again || isFinal(to)) run.placements = []
  job.state = to
  if (!again) return
  job.ended.push(run.state)
  if (reason === 'START_FAILED') job.startFailures += 1
  job.run = createRun(nextRunId(), run.number + 1)
}

export const createRun = (id: string, number: number): SimulatedRun => ({
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

export const toSeenJob = ({ id, state, run }: SimulatedJob): SeenJob => ({
  id,
  state,
  run: run.number,
  leaves: run.leaves,
  endsMs: run.endsMs,
})
