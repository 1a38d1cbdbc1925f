import type { JobState, PsijState } from '../domain/state.ts'
import type { Sql } from '../platform/tx.ts'

/** One numbered change of one job, as it is stored. */
export interface FeedEvent {
  jobId: string
  /** 1, 2, 3 … per job. */
  seq: number
  /** 1, 2, 3 … over all jobs; null until it was given. */
  position: number | null
  at: Date
  type: string
  from: JobState | null
  to: JobState | null
  psijState: PsijState | null
  reason: string | null
  message: string | null
  exitCode: number | null
  run: number | null
  actorId: string | null
  metadata: unknown
}

/** The columns of an event, from alias `e`. */
const columns = `e.job_id AS "jobId", e.seq, e.position, e.at, e.type, e.from_state AS "from", e.to_state AS "to",
  e.psij_state AS "psijState", e.reason, e.message, e.exit_code AS "exitCode", e.run, e.actor_id AS "actorId", e.metadata`

/** Events over all jobs after a position, in order. */
export const eventsAfter = (sql: Sql, position: number, limit: number): Promise<FeedEvent[]> =>
  sql.query<FeedEvent>(
    `SELECT ${columns} FROM event e WHERE e.position > $1 ORDER BY e.position LIMIT $2`,
    [position, limit],
    'feed_page',
  )

/** Events of one job after a seq, in order; null: the job is gone. */
export async function jobEventsAfter(
  sql: Sql,
  { jobId, seq, limit }: { jobId: string; seq: number; limit: number },
): Promise<FeedEvent[] | null> {
  const rows = await sql.query<FeedEvent | { seq: null }>(
    `SELECT ${columns} FROM job LEFT JOIN LATERAL (
       SELECT * FROM event WHERE job_id = job.id AND seq > $2 ORDER BY seq LIMIT $3
     ) e ON true WHERE job.id = $1 ORDER BY e.seq`,
    [jobId, seq, limit],
    'feed_job_page',
  )
  return rows.length === 0 ? null : rows.filter((row): row is FeedEvent => row.seq !== null)
}

/** Newest position, and the one up to which retention may have removed some. */
export async function feedRange(sql: Sql): Promise<{ head: number; forgotten: number }> {
  const [row] = await sql.query<{ head: number; forgotten: number }>(
    'SELECT position AS head, forgotten FROM feed_head',
    [],
    'feed_range',
  )
  return row ?? { head: 0, forgotten: 0 }
}
