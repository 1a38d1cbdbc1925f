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

const ms = (at: string) => Date.parse(at)

/** The phases of all runs, in order and without gaps between them. */
export function listPhases(job: JobTimes, runs: readonly RunTimes[]): readonly Phase[] {
  return runs.flatMap((run, i) => {
    const next = runs[i + 1]
    const end = run.finishedAt ?? (next ? next.createdAt : job.finishedAt)
    return run.number === 1 ? [...listFirst(job, run, end), ...listLater(run, end)] : listRun(run, run.createdAt, end)
  })
}

/** Before the first run a job may wait for an approval. */
function listFirst({ createdAt, queuedAt }: JobTimes, run: RunTimes, end: string | null): Phase[] {
  const blocked = queuedAt === createdAt ? [] : makePhase('BLOCKED', run, [createdAt, queuedAt ?? end])
  return [...blocked, ...(queuedAt === null ? [] : makePhase('QUEUED', run, [queuedAt, run.scheduledAt ?? end]))]
}

const listRun = (run: RunTimes, queuedAt: string, end: string | null) => [
  ...makePhase('QUEUED', run, [queuedAt, run.scheduledAt ?? end]),
  ...listLater(run, end),
]

function listLater(run: RunTimes, end: string | null): Phase[] {
  const { scheduledAt, startedAt } = run
  const starting = scheduledAt === null ? [] : makePhase('STARTING', run, [scheduledAt, startedAt ?? end])
  return [...starting, ...(startedAt === null ? [] : makePhase('RUNNING', run, [startedAt, end]))]
}

/** None if it took no time. */
function makePhase(state: JobState, run: RunTimes, [from, to]: [string, string | null]): Phase[] {
  if (to !== null && ms(to) <= ms(from)) return []
  return [{ state, run: run.number, fromMs: ms(from), toMs: to === null ? null : ms(to) }]
}
