import type { Sql } from '../../platform/tx.ts'
import { holdingSql } from '../state.ts'

/**
 * A user may have one interactive run over all pools. Runs in other pools are read right before the start. If two
 * leaders start runs of one user at the same time, the index `run_one_interactive` refuses one of them; its leader
 * plans again and then finds the other run.
 */

export const describeInteractiveLimit = (jobId: string): string =>
  `Each user may run one interactive job at a time, and ${jobId} is running; wait for it or cancel it`

export interface Elsewhere {
  /** Messages by id of a job that fails, because its user has another interactive run. */
  refused: ReadonlyMap<string, string>
  /** Jobs that wait, because the other interactive run of their user is ending. */
  waiting: readonly string[]
}

const none: Elsewhere = { refused: new Map(), waiting: [] }

/** Finds starts whose user has an interactive run in any pool. Previews use it too, so it writes nothing. */
export async function findInteractiveElsewhere(
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
  const found = starts.flatMap(({ jobId, userId }) => {
    const run = byUser.get(userId)
    return run ? [{ jobId, run }] : []
  })
  const refused = found.flatMap(({ jobId, run }) =>
    run.ends ? [] : [[jobId, describeInteractiveLimit(run.jobId)] as const],
  )
  const waiting = found.flatMap(({ jobId, run }) => (run.ends ? [jobId] : []))
  return { refused: new Map(refused), waiting }
}

/** Closes the gates of these jobs for a second, because a leader is not notified when runs of other pools end. */
export async function postponeInteractive(sql: Sql, jobIds: readonly string[]): Promise<void> {
  if (jobIds.length > 0) await sql.query(postponeSql, [jobIds], 'postpone_interactive')
}

const postponeSql = `
UPDATE queue_entry SET open = false, eligible_at = berth_now() + interval '1 second' WHERE job_id = ANY($1::text[]) AND open`
