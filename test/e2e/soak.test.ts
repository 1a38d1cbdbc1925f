import { expect, test } from 'vitest'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { soak } from '../soak/soak.ts'
import { createDatabase } from '../support/database.ts'
import { isWhole } from '../support/whole.ts'

/** `npm run soak` runs this for longer. */
const load = isWhole ? { seconds: 5, clients: 24, oldJobs: 20_000 } : { seconds: 1.5, clients: 12, oldJobs: 2_000 }

test('mixed submissions to three servers get the expected responses, and none is UNAVAILABLE', {
  timeout: 300_000,
}, async () => {
  await using database = await createDatabase()
  const { answers, unexpected } = await soak({ databaseUrl: database.url, ...load })
  expect(unexpected).toEqual([])
  expect(Object.keys(answers).sort()).toEqual([
    'IDEMPOTENCY_CONFLICT',
    'INVALID_STATE',
    'QUOTA_EXCEEDED',
    'RESERVATION_EXPIRED',
    'accepted',
    'hit',
  ])
  expect(await findViolations(database.db.sql)).toEqual([])
})
