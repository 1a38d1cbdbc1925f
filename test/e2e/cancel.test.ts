import { expect, test } from 'vitest'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { openServer } from '../support/api.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

const { api, database } = await openServer()

type Answer = Record<string, { code?: string } & Record<string, unknown>>

/** Requests that wait too long for a connection are rejected, and retried here. */
const answered = (query: string, variables: Record<string, unknown>) =>
  until(
    async () => {
      const [answer] = Object.values(await api.ask<Answer>(query, variables))
      return answer?.code !== 'UNAVAILABLE' && answer
    },
    { what: 'it is answered' },
  )

/** A linear congruential generator: the sequence is fixed, so that a failure can be repeated. */
function random(seed: number) {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

/** 300 jobs with `npm run test:whole`. */
const jobs = isWhole ? 300 : 100

test('jobs cancelled at random times end in exactly one final state each', async () => {
  const next = random(20_261_121)
  const submit =
    'mutation ($input: SubmitJobInput!) { submitJob(input: $input) { ... on SubmitJobSuccess { job { id } } ... on Problem { code } } }'
  const cancel =
    'mutation ($jobId: ID!) { cancelJob(input: { jobId: $jobId }) { ... on CancelJobSuccess { changed } ... on Problem { code } } }'
  const resources = { cpu: 0.05, memoryBytes: 1_000_000 }
  await Promise.all(
    Array.from({ length: jobs }, async (_, index) => {
      const spec = { command: ['sleep', String(next() * 0.05)], resources }
      const submitted = await answered(submit, { input: { spec, idempotencyKey: `random ${index}` } })
      expect(submitted).toEqual({ job: { id: expect.any(String) } })
      const { id: jobId } = submitted['job'] as { id: string }
      for (let turns = Math.floor(next() * 40); turns > 0; turns--)
        await new Promise((resolve) => setImmediate(resolve))
      expect(await answered(cancel, { jobId })).toEqual({ changed: expect.any(Boolean) })
    }),
  )
  const open = () => database.db.sql.query('SELECT id, state FROM job WHERE NOT log_closed')
  await until(async () => (await open()).length === 0, { what: 'all have ended' })

  const rows = await database.db.sql.query<{ state: string; finals: number; runs: number }>(
    `SELECT state, (SELECT count(*) FROM event e WHERE e.job_id = job.id AND e.to_state IN ('SUCCEEDED', 'FAILED', 'INTERRUPTED', 'CANCELLED')) AS finals,
       (SELECT count(*) FROM run r WHERE r.job_id = job.id) AS runs FROM job`,
  )
  expect(rows).toHaveLength(jobs)
  expect(rows.every(({ finals, runs }) => finals === 1 && runs === 1)).toBe(true)
  expect(new Set(rows.map(({ state }) => state)).isSubsetOf(new Set(['SUCCEEDED', 'CANCELLED']))).toBe(true)
  expect(await findViolations(database.db.sql)).toEqual([])
})
