import { isDeepStrictEqual } from 'node:util'
import { Prisma } from '../platform/generated/client.ts'
import type { Sql, Tx } from '../platform/tx.ts'

/**
 * Remembers the values of the configuration that were applied last. A value is written only if the configuration
 * changed it since, so changes made at run time stay. The caller holds the lock of the table, so only one of two
 * starting processes applies a value.
 */

export const lockApplied = (sql: Sql) => sql.query('LOCK TABLE applied_setting IN EXCLUSIVE MODE')

export const singleUserKey = 'single-user'

/** Remembers the new value and returns the one that was applied last; null: they are equal. */
export async function rememberApplied(
  { prisma }: Tx,
  key: string,
  declared: unknown,
): Promise<{ last: unknown } | null> {
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
