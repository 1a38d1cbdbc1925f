import { createHash } from 'node:crypto'
import type { JobEventType } from '../domain/jobs/job-change.ts'
import type { JobState, PsijState, StateReason } from '../domain/state.ts'
import type { Sql } from '../platform/tx.ts'
import type { JobFacts } from './facts.ts'

/** A numbered change of one job, as stored. */
export interface FeedEvent {
  jobId: string
  /** Number of the event within its job: 1, 2, 3 … */
  seq: number
  /** Number of the event over all jobs: 1, 2, 3 …; null until the sequencer assigns it. */
  position: number | null
  at: Date
  type: JobEventType
  from: JobState | null
  to: JobState | null
  psijState: PsijState | null
  reason: StateReason | null
  message: string | null
  exitCode: number | null
  run: number | null
  actorId: string | null
  metadata: unknown
}

/** The deletion of a job and its events. It is the last entry of the job in the feed. */
export interface Deletion {
  jobId: string
  position: number
  facts: JobFacts
  startedAt: Date | null
}

export type FeedEntry = FeedEvent | Deletion

export const isDeletion = (entry: FeedEntry): entry is Deletion => 'facts' in entry
export const isEvent = (entry: FeedEntry): entry is FeedEvent => !isDeletion(entry)

export const eventColumns = `e.job_id AS "jobId", e.seq, e.position, e.at, e.type, e.from_state AS "from", e.to_state AS "to",
  e.psij_state AS "psijState", e.reason, e.message, e.exit_code AS "exitCode", e.run, e.actor_id AS "actorId", e.metadata`

export interface FeedPage {
  head: number
  /** Newest entry at or before the position. If it is not the expected entry, the database has lost entries. */
  before: FeedPosition | undefined
  entries: FeedEntry[]
}

export async function readPage(sql: Sql, position: number, limit: number): Promise<FeedPage> {
  const rows = await sql.query<PageRow>(pageSql, [position, limit], 'feed_page')
  const all = rows.flatMap(({ head: _, deleted, ...event }) =>
    deleted ? deletionOf(deleted) : event.position === null ? [] : event,
  )
  const entries = all.filter((entry) => (entry.position ?? 0) > position)
  const before = all[all.length - entries.length - 1]
  return {
    head: rows[0]?.head ?? 0,
    before: before && { position: before.position ?? 0, mark: markEntry(before) },
    entries: entries.slice(0, limit),
  }
}

type PageRow = FeedEvent & { head: number; deleted: DeletedRow | null }

const deletionColumns = `d.job_id, NULL, d.position, d.at, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, to_jsonb(d)`

/** One statement, and so one snapshot: a position that is assigned between two statements would be missed. */
const pageSql = `
SELECT f.position AS head, entry.* FROM feed_head f LEFT JOIN (
  (SELECT ${eventColumns}, NULL::jsonb AS deleted FROM event e WHERE e.position > $1 ORDER BY e.position LIMIT $2)
  UNION ALL
  (SELECT ${deletionColumns} FROM deleted_job d WHERE d.position > $1 ORDER BY d.position LIMIT $2)
  UNION ALL
  (SELECT ${eventColumns}, NULL FROM event e WHERE e.position <= $1 ORDER BY e.position DESC LIMIT 1)
  UNION ALL
  (SELECT ${deletionColumns} FROM deleted_job d WHERE d.position <= $1 ORDER BY d.position DESC LIMIT 1)
) entry ON true ORDER BY entry.position LIMIT $2 + 2`

interface DeletedRow extends Omit<JobFacts, 'id' | 'userId' | 'team' | 'createdAt'> {
  job_id: string
  position: number
  user_id: string
  team_id: string | null
  created_at: string
  started_at: string | null
}

function deletionOf(row: DeletedRow): Deletion {
  const { job_id: id, position, user_id: userId, team_id: team, created_at, started_at, ...same } = row
  return {
    jobId: id,
    position,
    facts: { ...same, id, userId, team, createdAt: new Date(created_at) },
    startedAt: started_at === null ? null : new Date(started_at),
  }
}

/** Reads events of a job after a seq, in order. Returns null if the job was deleted. */
export async function readJobEventsAfter(
  sql: Sql,
  { jobId, seq, limit }: { jobId: string; seq: number; limit: number },
): Promise<FeedEvent[] | null> {
  const rows = await sql.query<FeedEvent | { seq: null }>(
    `SELECT ${eventColumns} FROM job LEFT JOIN LATERAL (
       SELECT * FROM event WHERE job_id = job.id AND seq > $2 ORDER BY seq LIMIT $3
     ) e ON true WHERE job.id = $1 ORDER BY e.seq`,
    [jobId, seq, limit],
    'feed_job_page',
  )
  return rows.length === 0 ? null : rows.filter((row): row is FeedEvent => row.seq !== null)
}

/** A position with the mark of its entry. The mark differs in another database, and in this one after a restore. */
export interface FeedPosition {
  position: number
  /** Mark of the entry at the position; undefined: the entry was deleted. */
  mark?: string | undefined
  /** Database time up to which the reader knows changes without an event; undefined: unknown. */
  toldMs?: number | undefined
}

const markChars = 8

/** Mark of each entry, computed once for all readers. */
const marks = new WeakMap<object, string>()

type Marked = Pick<FeedEvent, 'jobId' | 'seq' | 'at'> | Pick<Deletion, 'jobId'>

/** Hashes the entry, because the cursor of a reader may be at an event of a job that the reader may not see. */
export function markEntry(event: Marked): string {
  const known = marks.get(event)
  if (known !== undefined) return known
  const text = 'seq' in event ? `${event.jobId} ${event.seq} ${event.at.getTime()}` : `${event.jobId} deleted`
  const mark = createHash('sha256').update(text).digest('base64url').slice(0, markChars)
  marks.set(event, mark)
  return mark
}

export interface FeedRange {
  head: number
  /** Position up to which retention may have removed events. */
  forgotten: number
  /** Mark of the entry at the requested position, or of the head. */
  mark: string | undefined
}

export async function readFeedRange(sql: Sql, position: number | null = null): Promise<FeedRange> {
  const [row] = await sql.query<RangeRow>(
    `SELECT f.position AS head, f.forgotten, e.job_id AS "jobId", e.seq, e.at, d.job_id AS deleted
     FROM feed_head f LEFT JOIN event e ON e.position = coalesce($1, f.position)
       LEFT JOIN deleted_job d ON d.position = coalesce($1, f.position)`,
    [position],
    'feed_range',
  )
  if (!row) return { head: 0, forgotten: 0, mark: undefined }
  const { head, forgotten, deleted, ...event } = row
  const entry = deleted !== null ? { jobId: deleted } : event.jobId !== null ? event : undefined
  return { head, forgotten, mark: entry && markEntry(entry) }
}

type RangeRow = Pick<FeedRange, 'head' | 'forgotten'> & { deleted: string | null } & (
    | Pick<FeedEvent, 'jobId' | 'seq' | 'at'>
    | { jobId: null; seq: null; at: null }
  )
