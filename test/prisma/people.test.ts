import { expect, test } from 'vitest'
import { readSqlState } from '../../src/platform/tx.ts'
import { openDatabase } from '../support/database.ts'
import { addUser } from '../support/factories.ts'

/** Rows of teams and tokens that the database refuses. */
const checkViolation = '23514'

const database = await openDatabase()
const userId = await addUser(database.db.sql, 'ada')

const refusal = (text: string, values: unknown[]) =>
  database.db.sql.query(text, values).then(
    () => 'accepted',
    (error: unknown) => readSqlState(error),
  )

test.each(['users', 'Users', 'users.ann'])('the database rejects a team called %s', async (name) => {
  expect(await refusal('INSERT INTO team (id, name, account) VALUES ($1, $1, $1)', [name])).toBe(checkViolation)
})

test.each([
  ['a hash of another kind', Buffer.alloc(20), ['READ']],
  ['no scope', Buffer.alloc(32), []],
  ['a scope without READ', Buffer.alloc(32), ['SUBMIT']],
])('the database rejects a token with %s', async (name, hash, scopes) => {
  const insert = `INSERT INTO api_token (id, user_id, name, prefix, hash, scopes)
    VALUES ($1, $2, $1, $1, $3, $4::text[]::token_scope[])`
  expect(await refusal(insert, [name, userId, hash, scopes])).toBe(checkViolation)
})
