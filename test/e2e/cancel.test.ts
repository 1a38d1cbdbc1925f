import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findings } from '../../src/domain/selfcheck/selfcheck.ts'
import { type Api, connectApi } from '../support/api.ts'
import { type BerthProcess, freePort, startBerth } from '../support/berth-process.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

let database: TestDatabase
let dataDir: string
let server: BerthProcess
let api: Api

beforeAll(async () => {
  database = await createDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'berth-cancel-'))
  server = await startBerth({ dataDir, port: await freePort(), env: { DATABASE_URL: database.url } })
  api = connectApi(server.url)
})
afterAll(async () => {
  await api.close()
  await server.end()
  await database.close()
  await rm(dataDir, { recursive: true, force: true })
})

/** A fixed sequence, so that a failure can be seen again: a linear congruential generator. */
const isUnavailable = (answer: unknown) => (answer as { cancelJob: { code?: string } }).cancelJob.code === 'UNAVAILABLE'

function random(seed: number) {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

test('74: 300 jobs cancelled at random moments end in exactly one final state each', async () => {
  const next = random(20_261_121)
  const cancel =
    'mutation ($jobId: ID!) { cancelJob(input: { jobId: $jobId }) { ... on CancelJobSuccess { changed } ... on Problem { code } } }'
  const resources = { cpu: 0.05, memoryBytes: 1_000_000 }
  const ids: string[] = []
  await Promise.all(
    Array.from({ length: 300 }, async () => {
      const id = await api.submit({ command: ['sleep', String(next() * 0.05)], resources })
      ids.push(id)
      for (let turns = Math.floor(next() * 40); turns > 0; turns--)
        await new Promise((resolve) => setImmediate(resolve))
      // All at once they may wait too long for a connection, and are told to try again.
      const answered = async () => [await api.ask(cancel, { jobId: id })].find((each) => !isUnavailable(each))
      const answer = await until(answered, { what: 'the cancel is answered' })
      expect(answer).toMatchObject({ cancelJob: { changed: expect.any(Boolean) } })
    }),
  )
  const open = () => database.db.sql.query('SELECT id, state FROM job WHERE NOT log_closed')
  await until(async () => (await open()).length === 0, { what: 'all have ended', timeoutMs: 60_000 })

  const rows = await database.db.sql.query<{ state: string; finals: number; runs: number }>(
    `SELECT state, (SELECT count(*) FROM event e WHERE e.job_id = job.id AND e.to_state IN ('SUCCEEDED', 'FAILED', 'INTERRUPTED', 'CANCELLED')) AS finals,
       (SELECT count(*) FROM run r WHERE r.job_id = job.id) AS runs FROM job`,
  )
  expect(rows).toHaveLength(300)
  expect(rows.every(({ finals, runs }) => finals === 1 && runs === 1)).toBe(true)
  expect(new Set(rows.map(({ state }) => state)).isSubsetOf(new Set(['SUCCEEDED', 'CANCELLED']))).toBe(true)
  expect(await findings(database.db.sql)).toEqual([])
})
