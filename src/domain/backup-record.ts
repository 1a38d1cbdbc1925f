import type { Sql } from '../platform/tx.ts'

/** When the installation was backed up, and which backup was last restored on trial. */

export async function recordBackup(sql: Sql, takenAt: Date): Promise<void> {
  await sql.query(
    'UPDATE backup_record SET taken_at = greatest(taken_at, $1), first_taken_at = coalesce(first_taken_at, $1)',
    [takenAt],
  )
}

export async function recordVerification(
  sql: Sql,
  { takenAt, restoredMs }: { takenAt: Date; restoredMs: number },
): Promise<void> {
  await sql.query(
    `UPDATE backup_record SET verified_at = berth_now(), verified_taken_at = $1, restore_seconds = $2,
       taken_at = greatest(taken_at, $1), first_taken_at = coalesce(first_taken_at, $1)`,
    [takenAt, restoredMs / 1000],
  )
}
