import { isDeepStrictEqual } from 'node:util'
import { Prisma } from '../platform/generated/client.ts'
import type { Sql, Tx } from '../platform/tx.ts'

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
export async function rememberApplied({ prisma }: Tx, key: string, declared: unknown): Promise<Applied | null> {
  const { appliedSetting } = prisma
  const value = JSON.parse(JSON.stringify(declared)) as Prisma.InputJsonValue | null
  const known = await appliedSetting.findUnique({ where: { key } })
  if (known && isDeepStrictEqual(known.value, value)) return null
  // Made anew, for the time at which it was applied is the default of the column.
  await appliedSetting.deleteMany({ where: { key } })
  await appliedSetting.create({ data: { key, value: value ?? Prisma.JsonNull } })
  return { last: known?.value }
}

/** Of the keys that begin with `prefix`, forgets those that do not end in one of the names. */
export const forgetApplied = ({ prisma }: Tx, prefix: string, names: readonly string[]) =>
  prisma.appliedSetting.deleteMany({
    where: { key: { startsWith: prefix, notIn: names.map((name) => prefix + name) } },
  })
