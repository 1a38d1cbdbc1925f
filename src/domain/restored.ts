import type { Sql } from '../platform/tx.ts'

/**
 * Makes the rows of a backup fit the database into which they were restored. Runs in the transaction that restores them.
 *
 * **Epochs rise**, so a server that led before is fenced. Such a server may have a greater epoch than the backup, because
 * it took over after the backup was taken; the addend is more than the number of take-overs that can have happened.
 *
 * **Transaction numbers** in rows are those of the other database. Readers compare them with their own.
 */
export async function adoptRestoredRows(sql: Sql): Promise<void> {
  await sql.query(
    `UPDATE scheduler_leader SET epoch = epoch + ${addedEpochs}, holder = NULL, host = NULL, place = NULL`,
  )
  await sql.query(`UPDATE event SET xact = ${ownXact} WHERE position IS NULL`)
  await sql.query(`UPDATE pool_change SET xact = ${ownXact}`)
  await sql.query('DELETE FROM question')
}

const addedEpochs = 1_000_000_000
const ownXact = 'pg_current_xact_id()::text::bigint'
