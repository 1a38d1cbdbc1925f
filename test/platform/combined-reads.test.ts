import { expect, test } from 'vitest'
import { combineReads } from '../../src/platform/combined-reads.ts'
import type { Sql } from '../../src/platform/tx.ts'

/** Names of the statements that PostgreSQL received. */
function recorded() {
  const names: (string | undefined)[] = []
  const sql: Sql = {
    async query<Row>(_text: string, _values?: readonly unknown[], name?: string) {
      names.push(name)
      return [{ 0: [], 1: [] }] as Row[]
    },
  }
  return { sql, names }
}

test('combined statements have different names, however many reads they combine', async () => {
  const { sql, names } = recorded()
  const long = 'a_read_with_a_name_of_some_length'
  for (const last of ['one', 'other']) {
    const reads = combineReads(sql)
    await Promise.all([long, `${long}_${last}`].map((name) => reads.query('SELECT 1', [], name)))
  }
  const short = combineReads(sql)
  await Promise.all([short.query('SELECT 1', [], 'a'), short.query('SELECT 2', [], 'b')])
  expect(names.at(-1)).toBe('a_b')
  expect(new Set(names).size).toBe(3)
  expect(names.every((name) => name !== undefined && name.length <= 63)).toBe(true)
})
