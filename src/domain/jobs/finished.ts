import { readNow } from '../../platform/database-time.ts'
import type { Domain } from '../domain.ts'

/** Tasks that visit every job once, a while after it finished. */
export type FinishedTask = 'MERGE_LOGS' | 'EXPIRE_LOGS' | 'EXPIRE_EVENTS'

export interface Visit {
  task: FinishedTask
  /** Jobs that finished before are left out. */
  from?: Date
  until: Date
  /** Whether the pass goes on with the next jobs. */
  visit(jobIds: readonly string[]): Promise<boolean>
  /** Ends the pass; the jobs of the visit that it interrupts are visited again. */
  signal?: AbortSignal | undefined
}

const jobsMax = 500
/** Longer than a transaction takes: jobs are not committed in the order of the times at which they finished. */
const overlapMs = 60_000

/**
 * Visits jobs in the order in which they finished, and stores how far it has come, so a pass costs what has finished
 * since the one before, however many jobs are kept. A visit may come twice: passes overlap, also those of other
 * processes.
 */
export async function visitFinished({ db }: Domain, wanted: Visit): Promise<void> {
  const { task, from = new Date(0), until, visit, signal } = wanted
  const mark = await db.prisma.retentionMark.findUnique({ where: { task } })
  const reached = mark?.finishedAt.getTime() ?? 0
  // The clock was ahead, and was set back: jobs that end now are before the mark.
  const isAhead = reached > (await readNow(db.sql)).getTime()
  const begin = isAhead ? 0 : reached - overlapMs
  let last: FinishedJob = { id: '', finishedAt: new Date(Math.max(from.getTime(), begin)) }
  for (;;) {
    const jobs = await db.sql.query<FinishedJob>(finishedSql, [last.finishedAt, last.id, until, jobsMax], 'finished')
    const end = jobs.at(-1)
    if (!end) return
    const goesOn = await visit(jobs.map(({ id }) => id))
    if (signal?.aborted) return
    const { finishedAt } = end
    await db.serializable((tx) =>
      tx.prisma.retentionMark.upsert({ where: { task }, create: { task, finishedAt }, update: { finishedAt } }),
    )
    if (!goesOn || jobs.length < jobsMax) return
    last = end
  }
}

interface FinishedJob {
  id: string
  finishedAt: Date
}

const finishedSql = `
SELECT id, finished_at AS "finishedAt" FROM job
WHERE (coalesce(finished_at, 'infinity'), id) > ($1, $2) AND coalesce(finished_at, 'infinity') <= $3
ORDER BY coalesce(finished_at, 'infinity'), id LIMIT $4`
