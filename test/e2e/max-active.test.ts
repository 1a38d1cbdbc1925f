import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiServers, startApiServers } from '../support/api-servers.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { mutate, personWith } from '../support/people.ts'
import { isWhole } from '../support/whole.ts'

/**
 * The limit on a person's jobs holds for concurrent submissions to several server processes. `npm run test:whole` has 50
 * rounds.
 */
const servers = 3
const rounds = isWhole ? 50 : 5
const submissions = 50
const limit = 5

let database: TestDatabase
const dataDir = makeDirectory()
let apis: ApiServers

beforeAll(async () => {
  database = await createDatabase()
  apis = await startApiServers({ databaseUrl: database.url, dataDir, count: servers })
})
afterAll(async () => {
  await apis?.end()
  await database.close()
})

test(`29: ${submissions} submissions at once with userMaxActive ${limit} over ${servers} servers: exactly ${limit}, ${rounds} times`, {
  timeout: 240_000,
}, async () => {
  await mutate(apis.admin, 'updateLimits', { input: { userMaxActive: limit } })
  for (let round = 0; round < rounds; round++) {
    const { name, token } = await apis.addMember(`ann${round}`)
    const people = apis.urls.map((url) => personWith(url, token))
    const answers = await Promise.all(
      Array.from({ length: submissions }, (_, n) => {
        const input = { spec: { command: ['true'] }, idempotencyKey: `${name}-${n}` }
        return people[n % servers]?.data(mutation, { input })
      }),
    )
    const outcomes = answers.map((answer) => answer?.['submitJob'])
    expect(outcomes.filter(({ job }) => job)).toHaveLength(limit)
    const refused = outcomes.filter(({ job }) => !job)
    expect(refused).toEqual(
      Array(submissions - limit).fill({
        code: 'QUOTA_EXCEEDED',
        message: 'Quota exceeded: Maximum 5 concurrent jobs allowed',
        retryable: false,
        quota: 'MAX_ACTIVE',
        scope: { kind: 'USER', name },
        limit,
        used: limit,
      }),
    )
  }
  const counts = await database.db.sql.query<{ n: number }>('SELECT count(*)::int AS n FROM job GROUP BY user_id')
  expect(counts).toEqual(Array(rounds).fill({ n: limit }))
})

const mutation = `mutation ($input: SubmitJobInput!) { submitJob(input: $input) {
  ... on SubmitJobSuccess { job { id } } ... on QuotaExceededProblem { quota scope { kind name } limit used }
  ... on Problem { code message retryable } } }`
