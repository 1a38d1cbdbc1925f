import { isDeepStrictEqual } from 'node:util'
import { Prisma } from '../platform/generated/client.ts'
import type { Sql, Tx } from '../platform/tx.ts'

/**
 * Values of the configuration. A value is written to the database if it is new or differs from the value that was
 * applied last. Otherwise the database keeps its value, with the changes made at run time. The caller holds the lock of
 * the table, so of two starting processes only one applies.
 */

export const lockApplied = (sql: Sql) => sql.query('LOCK TABLE applied_setting IN EXCLUSIVE MODE')

/** Key of the access mode: whether the servers were started for a single user. */
export const singleUserKey = 'single-user'

export interface Applied {
  /** The value that was applied last; undefined: none. */
  last: unknown
}

/** Compares with the value that was applied last and remembers the new one; null: they are equal. */
export async function rememberApplied({ prisma }: Tx, key: string, declared: unknown): Promise<Applied | null> {
  const { appliedSetting } = prisma
  const value = JSON.parse(JSON.stringify(declared)) as Prisma.InputJsonValue | null
  const known = await appliedSetting.findUnique({ where: { key } })
  if (known && isDeepStrictEqual(known.value, value)) return null
  // Deleted and inserted again: the default of the column sets the time at which it was applied.
  await appliedSetting.deleteMany({ where: { key } })
  await appliedSetting.create({ data: { key, value: value ?? Prisma.JsonNull } })
  return { last: known?.value }
}

/** Forgets the keys that begin with `prefix` and do not end in one of the names. */
export const forgetApplied = ({ prisma }: Tx, prefix: string, names: readonly string[]) =>
  prisma.appliedSetting.deleteMany({
    where: { key: { startsWith: prefix, notIn: names.map((name) => prefix + name) } },
  })
