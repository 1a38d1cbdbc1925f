import { isDeepStrictEqual } from 'node:util'
import type { Sql } from '../platform/tx.ts'

/**
 * Values of the configuration are put into the database when they are new or when the configuration says something else
 * than what was applied last; otherwise the database, and so what was changed at run time, wins. The caller holds the
 * table's lock, so that of two starting processes one applies.
 */
export const lockApplied = (sql: Sql) => sql.query('LOCK TABLE applied_setting IN EXCLUSIVE MODE')

/** Whether the servers were started for a single user. */
export const singleUserKey = 'single-user'

export interface Applied {
  /** What was applied last; undefined: never anything. */
  last: unknown
}

/** Compares with what was applied last, and remembers the new value; null: it is the same. */
export async function rememberApplied(sql: Sql, key: string, declared: unknown): Promise<Applied | null> {
  const value = JSON.parse(JSON.stringify(declared)) as unknown
  const [known] = await sql.query<{ value: unknown }>('SELECT value FROM applied_setting WHERE key = $1', [key])
  if (known && isDeepStrictEqual(known.value, value)) return null
  await sql.query(
    `INSERT INTO applied_setting (key, value, applied_at) VALUES ($1, $2, berth_now())
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, applied_at = excluded.applied_at`,
    [key, JSON.stringify(value)],
  )
  return { last: known?.value }
}

/** Of the keys that begin with `prefix`, forgets those that do not end in one of the names. */
export const forgetApplied = (sql: Sql, prefix: string, names: readonly string[]) =>
  sql.query(
    'DELETE FROM applied_setting WHERE starts_with(key, $1) AND substr(key, length($1) + 1) <> ALL($2::text[])',
    [prefix, names],
  )
