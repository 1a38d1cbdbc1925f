import type { JobState } from '../../../generated/graphql.ts'

/** A part of the life of a job. */
export interface Phase {
  state: JobState
  run: number
  fromMs: number
  /** null: it goes on. */
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

/** The phases of all runs, in order and without gaps between them. Before the first run a job may wait for an approval. */
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

/** None if it did not begin or took no time. `to`: null: it goes on. */
function makePhase(state: JobState, { number: run }: RunTimes, from: string | null, to: string | null): Phase[] {
  if (from === null) return []
  const [fromMs, toMs] = [Date.parse(from), to === null ? null : Date.parse(to)]
  return toMs !== null && toMs <= fromMs ? [] : [{ state, run, fromMs, toMs }]
}
