import { readNow } from '../../platform/database-time.ts'
import type { Db } from '../../platform/db.ts'
import type { Sql } from '../../platform/tx.ts'
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
  let reached = mark?.finishedAt.getTime() ?? 0
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
    if (!(await moveMark(db, task, { from: reached, to: end.finishedAt }))) return
    if (!goesOn || jobs.length < jobsMax) return
    reached = end.finishedAt.getTime()
    last = end
  }
}

/** false: another pass has moved it, or an end that was told late, from which the next pass begins. */
const moveMark = (db: Db, task: FinishedTask, { from, to }: { from: number; to: Date }): Promise<boolean> =>
  db.serializable(async (tx) => {
    const mark = await tx.prisma.retentionMark.findUnique({ where: { task } })
    if ((mark?.finishedAt.getTime() ?? 0) !== from) return false
    await tx.prisma.retentionMark.upsert({
      where: { task },
      create: { task, finishedAt: to },
      update: { finishedAt: to },
    })
    return true
  })

/** Tasks that remove something: what they miss would stay as long as its job. */
const removing: readonly FinishedTask[] = ['EXPIRE_LOGS', 'EXPIRE_EVENTS']

/** No retention is shorter than a day, so no task has come past an end that is told within this time. */
const lateMs = 43_200_000

/**
 * Jobs that were moved, in the transaction of the moves: a task that has come past an end that was told late goes back
 * to it. The mark changes in any case, so a pass that has read its jobs before that end was stored does not move it on.
 */
export async function visitLate(
  sql: Sql,
  moves: readonly { jobId: string; finishedAt?: Date }[],
  nowMs: number,
): Promise<void> {
  const isLate = ({ finishedAt }: { finishedAt?: Date }) => finishedAt && nowMs - finishedAt.getTime() > lateMs
  const jobIds = moves.filter(isLate).map(({ jobId }) => jobId)
  if (jobIds.length === 0) return
  await sql.query(
    `INSERT INTO retention_mark AS m (task, finished_at) SELECT task, to_timestamp(0.001) FROM unnest($2::text[]) AS task
     ON CONFLICT (task) DO UPDATE SET finished_at = least(m.finished_at,
       (SELECT date_trunc('milliseconds', min(finished_at)) FROM job WHERE id = ANY($1::text[]))) - interval '1 millisecond'`,
    [jobIds, removing],
  )
}

interface FinishedJob {
  id: string
  finishedAt: Date
}

const finishedSql = `
SELECT id, finished_at AS "finishedAt" FROM job
WHERE (coalesce(finished_at, 'infinity'), id) > ($1, $2) AND coalesce(finished_at, 'infinity') <= $3
ORDER BY coalesce(finished_at, 'infinity'), id LIMIT $4`
