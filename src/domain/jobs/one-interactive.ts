import type { Sql } from '../../platform/tx.ts'
import { holdingSql } from '../state.ts'

/**
 * One interactive run per user, over all pools. The leader of a pool knows the runs of its own; runs in other pools are
 * read here, right before the start, in its transaction. Two leaders that start for the same user at once meet at the
 * partial unique index `run_one_interactive`: one of them plans again, and is told here.
 */

export const quotaInfo = (jobId: string): string =>
  `Each user may run one interactive job at a time, and ${jobId} is running; wait for it or cancel it`

export interface Elsewhere {
  /** Their user has one that goes on: they end. With the sentence. */
  refused: ReadonlyMap<string, string>
  /** The only one of their user is on its way out: they wait for its end. */
  waiting: readonly string[]
}

const none: Elsewhere = { refused: new Map(), waiting: [] }

/** Only reads: a dry run must change nothing. */
export async function interactiveElsewhere(
  sql: Sql,
  starts: readonly { jobId: string; userId: string }[],
): Promise<Elsewhere> {
  if (starts.length === 0) return none
  const runs = await sql.query<{ userId: string; jobId: string; ends: boolean }>(
    `SELECT interactive_user_id AS "userId", job_id AS "jobId", state = 'CANCELLING' AS ends FROM run
     WHERE interactive_user_id = ANY($1::text[]) AND state IN ${holdingSql}`,
    [starts.map(({ userId }) => userId)],
    'interactive_elsewhere',
  )
  const byUser = new Map(runs.map((run) => [run.userId, run]))
  const met = starts.flatMap(({ jobId, userId }) => {
    const run = byUser.get(userId)
    return run ? [{ jobId, run }] : []
  })
  const refused = met.flatMap(({ jobId, run }) => (run.ends ? [] : [[jobId, quotaInfo(run.jobId)] as const]))
  const waiting = met.flatMap(({ jobId, run }) => (run.ends ? [jobId] : []))
  return { refused: new Map(refused), waiting }
}

/** No leader hears of the end of a run in another pool, so their entries are closed, and looked at again in a moment. */
export async function postponeInteractive(sql: Sql, jobIds: readonly string[]): Promise<void> {
  if (jobIds.length > 0) await sql.query(postponeSql, [jobIds], 'postpone_interactive')
}

const postponeSql = `
UPDATE queue_entry SET open = false, eligible_at = berth_now() + interval '1 second' WHERE job_id = ANY($1::text[]) AND open`
