import type { Sql, Tx } from '../platform/tx.ts'

/**
 * Remembers the values of the configuration that were applied last. A value is written only if the configuration
 * changed it since, so changes made at run time stay. The caller holds the lock of the table, so only one of two
 * starting processes applies a value.
 */

export const lockAppliedSettings = (sql: Sql) => sql.query('LOCK TABLE applied_setting IN EXCLUSIVE MODE')

export const singleUserKey = 'single-user'

/** Stores `declared` as the applied value of `key`. Returns the previous value; null: it is the same. */
export async function storeAppliedSetting(sql: Sql, key: string, declared: unknown): Promise<{ last: unknown } | null> {
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

/** Deletes the keys that begin with `prefix`, except `prefix` followed by one of `names`. */
export const deleteAppliedSettings = ({ prisma }: Tx, prefix: string, names: readonly string[]) =>
  prisma.appliedSetting.deleteMany({
    where: { key: { startsWith: prefix, notIn: names.map((name) => prefix + name) } },
  })
