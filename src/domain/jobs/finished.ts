import { readNow } from '../../platform/database-time.ts'
import type { Db } from '../../platform/db.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'

type FinishedTask = 'MERGE_LOGS' | 'EXPIRE_LOGS' | 'EXPIRE_EVENTS'

interface Visit {
  task: FinishedTask
  from?: Date
  until: Date
  visit(jobIds: readonly string[]): Promise<boolean>
  /** Ends the pass; the jobs of the interrupted visit are visited again in the next pass. */
  signal?: AbortSignal | undefined
}

const jobsMax = 500
/**
 * Passes overlap by this time, which is longer than any transaction: jobs may be committed in another order than they
 * finished.
 */
const overlapMs = 60_000

/**
 * Visits jobs in the order in which they finished, and stores how far it came, so a pass costs only as much as the jobs
 * that finished since the last pass. Passes overlap, so a job may be visited twice.
 */
export async function visitFinished({ db }: Domain, wanted: Visit): Promise<void> {
  const { task, from = new Date(0), until, visit, signal } = wanted
  const mark = await db.prisma.retentionMark.findUnique({ where: { task } })
  let reached = mark?.finishedAt.getTime() ?? 0
  // The clock was set back, so jobs that end now are before the stored position.
  const isAhead = reached > (await readNow(db.sql)).getTime()
  const begin = isAhead ? 0 : reached - overlapMs
  let last: FinishedJob = { id: '', finishedAt: new Date(Math.max(from.getTime(), begin)) }
  for (;;) {
    const jobs = await db.sql.query<FinishedJob>(finishedSql, [last.finishedAt, last.id, until, jobsMax], 'finished')
    const end = jobs.at(-1)
    if (!end) return
    const goesOn = await visit(jobs.map(({ id }) => id))
    if (signal?.aborted) return
    if (!(await storePosition(db, task, { from: reached, to: end.finishedAt }))) return
    if (!goesOn || jobs.length < jobsMax) return
    reached = end.finishedAt.getTime()
    last = end
  }
}

/** Stores how far the pass came. false: another pass has stored its own position, or a late report has reset it. */
const storePosition = (db: Db, task: FinishedTask, { from, to }: { from: number; to: Date }): Promise<boolean> =>
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

/** These tasks must visit every job; otherwise its data would stay until the job itself is removed. */
const removing: readonly FinishedTask[] = ['EXPIRE_LOGS', 'EXPIRE_EVENTS']

/**
 * A run's end may be reported this late. It is shorter than every retention (at least a day), so no task has passed it.
 */
const lateMs = 43_200_000

/**
 * Called in the transaction that ends jobs. If a task is already past the time of a late end, its position goes back to
 * that time. The stored position always changes, so a pass that read its jobs before cannot overwrite it.
 */
export async function rewindRetentionPositions(
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
