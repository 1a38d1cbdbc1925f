import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Sql } from '../../src/platform/tx.ts'
import { connectApi, openServer } from '../support/api.ts'
import { freePort } from '../support/berth-server.ts'
import { parseExposition } from '../support/exposition.ts'
import { until } from '../support/until.ts'

const metricsPort = await freePort()
const token = 'the-first-token-of-this-test'
const config = {
  server: { metrics: { port: metricsPort } },
  pools: [{ name: 'sim', executor: 'simulated', nodes: [{ name: 'n1', cpu: 64, memoryGib: 64 }] }],
}
const { server, database } = await openServer(JSON.stringify(config), { BERTH_BOOTSTRAP_TOKEN: token })
const { sql } = database.db

/** Time in which gauges of the database are read at most once. */
const freshMs = 5_000
const seriesMax = 2_000

const finished = 100
const finishedLater = 10_000
const people = 1_000

async function listSeries(): Promise<string[]> {
  await sleep(freshMs)
  const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`)
  // Node's series of a kind of collection or handle appear with the first one.
  return [...parseExposition(await answer.text()).keys()].filter((series) => !/^(nodejs|process)_/.test(series)).sort()
}

async function countFinished(): Promise<number> {
  const [row] = await sql.query<{ count: number }>('SELECT count(*) FROM job WHERE finished_at IS NOT NULL')
  return row?.count ?? 0
}

/** Copies a finished job and its run, for other users, accounts and projects. */
async function addFinished(sql: Sql): Promise<void> {
  await sql.query(
    `INSERT INTO "user" (id, name, level) SELECT 'user_' || n, 'person' || n, 'RESEARCHER' FROM generate_series(1, $1::int) n`,
    [people],
  )
  await sql.query(
    `WITH given AS (SELECT j, r FROM job j JOIN run r ON r.job_id = j.id WHERE j.finished_at IS NOT NULL LIMIT 1),
     numbers AS (SELECT n FROM generate_series(1, $1::int) n),
     jobs AS (INSERT INTO job SELECT made.* FROM given, numbers, jsonb_populate_record(j, jsonb_build_object(
       'id', 'job_' || n, 'sequence', -n, 'name', 'name' || n, 'user_id', 'user_' || 1 + n % $2,
       'account', 'account' || n % 500, 'project', 'project' || n % 500)) made RETURNING 1)
     INSERT INTO run SELECT made.* FROM given, numbers,
       jsonb_populate_record(r, jsonb_build_object('id', 'run_' || n, 'job_id', 'job_' || n)) made`,
    [finishedLater - finished, people],
  )
}

it('10,000 finished jobs of 1,000 users have the same number of series as 100 of one user', async () => {
  const api = connectApi(server.url, token)
  await api.submitAll(Array.from({ length: finished }, () => ({ command: ['simulated'], resources: { cpu: 0.1 } })))
  await until(async () => (await countFinished()) === finished, { what: 'the jobs end' })
  const before = await listSeries()
  await database.db.transaction(addFinished, { statementMsMax: 60_000 })
  expect(await countFinished()).toBe(finishedLater)
  expect(await listSeries()).toEqual(before)
  expect(before.length).toBeGreaterThan(200)
  expect(before.length).toBeLessThanOrEqual(seriesMax)
  await api.close()
})
