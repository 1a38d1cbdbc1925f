import type { Sql } from '../platform/tx.ts'

/**
 * Makes the rows of a backup fit the database into which they were restored. Runs in the transaction that restores them.
 *
 * **Epochs are raised**, so a server that led before is fenced. Its epoch may be greater than that of the backup, because
 * it took over after the backup was taken; the addend is more than the number of take-overs that can have happened.
 *
 * **Transaction numbers** are replaced, because readers compare them with the transaction numbers of this database.
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
