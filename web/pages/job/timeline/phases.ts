import type { JobState } from '../../../generated/graphql.ts'

/** A part of the life of a job. */
export interface Phase {
  state: JobState
  run: number
  fromMs: number
  /** The end; null: the phase continues. */
  toMs: number | null
}

interface RunTimes {
  number: number
  createdAt: string
  scheduledAt: string | null
  startedAt: string | null
  finishedAt: string | null
}

interface JobTimes {
  createdAt: string
  queuedAt: string | null
  finishedAt: string | null
}

/** Lists the phases of all runs, in order and without gaps. Before the first run a job may wait for an approval. */
export function listPhases(job: JobTimes, runs: readonly RunTimes[]): readonly Phase[] {
  return runs.flatMap((run, i) => {
    const { scheduledAt, startedAt } = run
    const end = run.finishedAt ?? runs[i + 1]?.createdAt ?? job.finishedAt
    const isFirst = run.number === 1
    return [
      ...makePhase('BLOCKED', run, isFirst ? job.createdAt : null, job.queuedAt ?? end),
      ...makePhase('QUEUED', run, isFirst ? job.queuedAt : run.createdAt, scheduledAt ?? end),
      ...makePhase('STARTING', run, scheduledAt, startedAt ?? end),
      ...makePhase('RUNNING', run, startedAt, end),
    ]
  })
}

/** Returns no phase if it did not begin or took no time. `to`: null while the phase continues. */
function makePhase(state: JobState, { number: run }: RunTimes, from: string | null, to: string | null): Phase[] {
  if (from === null) return []
  const [fromMs, toMs] = [Date.parse(from), to === null ? null : Date.parse(to)]
  return toMs !== null && toMs <= fromMs ? [] : [{ state, run, fromMs, toMs }]
}
