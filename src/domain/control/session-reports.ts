import { mayActOn } from '../access.ts'
import type { Domain } from '../domain.ts'
import { holdingSql } from '../state.ts'
import type { SessionUse, TakenSession } from './sessions.ts'

interface Reported {
  id: string
  isOver: boolean
  /** null: the job was deleted. */
  owner: { userId: string; sharesTeam: boolean } | null
}

/**
 * Stores the use of sessions that this server holds. Returns the sessions to end: on request, with their run, or
 * because their user left the team of the job, or the pool permits no more sessions.
 */
export async function reportSessions(
  { db }: Domain,
  held: ReadonlyMap<string, Omit<SessionUse, 'id'> & { session: Pick<TakenSession, 'viewer'> }>,
): Promise<string[]> {
  const uses = Array.from(held, ([id, { bytesIn, bytesOut }]) => ({ id, bytesIn, bytesOut }))
  const rows = await db.sql.query<Reported>(reportSql, [JSON.stringify(uses)])
  const isPermitted = ({ id, owner }: Reported) => {
    const viewer = held.get(id)?.session.viewer
    return viewer && owner && mayActOn(viewer, owner, 'exec')
  }
  return rows.flatMap((row) => (row.isOver || !isPermitted(row) ? [row.id] : []))
}

const reportSql = `
WITH reported AS (
  UPDATE job_session s SET seen_at = berth_now(), bytes_in = u."bytesIn", bytes_out = u."bytesOut"
  FROM jsonb_to_recordset($1::text::jsonb) AS u(id text, "bytesIn" bigint, "bytesOut" bigint) WHERE s.id = u.id
  RETURNING s.id, s.job_id, s.user_id, s.end_requested_at, EXISTS (
    SELECT FROM run WHERE run.id = s.run_id AND run.state IN ${holdingSql}) AS holds)
SELECT u.id, (r.id IS NULL OR r.end_requested_at IS NOT NULL OR NOT r.holds OR p.exec IS NOT TRUE) AS "isOver",
  CASE WHEN j.id IS NOT NULL THEN jsonb_build_object('userId', j.user_id, 'sharesTeam', EXISTS (
    SELECT FROM team_member m WHERE m.team_id = j.team_id AND m.user_id = r.user_id)) END AS owner
FROM jsonb_to_recordset($1::text::jsonb) AS u(id text) LEFT JOIN reported r USING (id)
LEFT JOIN job j ON j.id = r.job_id LEFT JOIN pool p ON p.name = j.pool`
