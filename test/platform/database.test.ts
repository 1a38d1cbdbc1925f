import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.close())

test('a fresh database has the schema and nobody else’s rows', async () => {
  expect(await database.db.prisma.job.count()).toBe(0)
  expect(await database.db.prisma.feedHead.findMany()).toEqual([{ id: 1, position: 0n }])
})
