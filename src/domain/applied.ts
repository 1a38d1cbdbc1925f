import type { Sql, Tx } from '../platform/tx.ts'

/**
 * Remembers the values of the configuration that were applied last. A value is written only if the configuration
 * changed it since, so changes made at run time stay. The caller holds the lock of the table, so only one of two
 * starting processes applies a value.
 */

export const lockApplied = (sql: Sql) => sql.query('LOCK TABLE applied_setting IN EXCLUSIVE MODE')

export const singleUserKey = 'single-user'

/** Remembers the new value and returns the one that was applied last; null: they are equal. */
export async function rememberApplied(sql: Sql, key: string, declared: unknown): Promise<{ last: unknown } | null> {
  const [written] = await sql.query<{ last: unknown }>(
    `WITH known AS (SELECT value FROM applied_setting WHERE key = $1),
     written AS (
       INSERT INTO applied_setting (key, value) VALUES ($1, $2::jsonb)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value, applied_at = DEFAULT
         WHERE applied_setting.value <> excluded.value
       RETURNING 1)
     SELECT (SELECT value FROM known) AS last FROM written`,
    [key, JSON.stringify(declared)],
  )
  return written ?? null
}

/** Forgets the keys that begin with `prefix` and do not end in one of the names. */
export const forgetApplied = ({ prisma }: Tx, prefix: string, names: readonly string[]) =>
  prisma.appliedSetting.deleteMany({
    where: { key: { startsWith: prefix, notIn: names.map((name) => prefix + name) } },
  })
