import { expect, test } from 'vitest'
import { countWaitSql, estimateWait, parseWaits } from '../../../src/domain/usage/waits.ts'
import { createDatabase } from '../../support/database.ts'

test('percentiles of waiting times are exact to within a factor of 1.2', async () => {
  await using database = await createDatabase()
  const countAll = async (waits: readonly number[]) => {
    const [row] = await database.db.sql.query<{ counts: string }>(
      `SELECT sum(${countWaitSql('w')})::text AS counts FROM unnest($1::float8[]) w`,
      [waits],
    )
    return parseWaits(row?.counts ?? '0')
  }
  for (const wait of [1, 3, 59, 600, 86_400, 5_000_000]) {
    const counts = await countAll([wait])
    for (const fraction of [0.5, 0.95]) {
      const factor = (estimateWait(counts, fraction) ?? 0) / wait
      expect(Math.max(factor, 1 / factor)).toBeLessThan(2 ** 0.5)
    }
  }
  const many = Array.from({ length: 1_000 }, (_, i) => i + 1)
  const counts = await countAll(many)
  expect(estimateWait(counts, 0.5)).toBeCloseTo(500, -2)
  expect((estimateWait(counts, 0.95) ?? 0) / 950).toBeCloseTo(1, 0)
  expect(estimateWait(await countAll([0, 0.5]), 0.95)).toBeLessThan(1)
  expect(await countAll([1e12])).toHaveLength(48)
  expect(estimateWait([], 0.5)).toBeNull()
  // Half of the waits are in the first bucket, so the result is its upper limit, not the lower limit of the fourth bucket.
  expect(estimateWait([1, 0, 0, 1], 0.5)).toBe(1)
})
