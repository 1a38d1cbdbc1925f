import { beforeAll, expect, it } from 'vitest'
import { countedJobsMax, readJobCounts } from '../../../src/graphql/rows/job-counts.ts'
import { ask, data, type Json } from '../../support/client.ts'
import { authenticateByName, openTestServer } from '../../support/server.ts'

let ann: string
const server = await openTestServer({ authenticate: authenticateByName })
beforeAll(async () => {
  const viewer = await server.user('ann', 'RESEARCHER')
  ann = viewer.userId
  for (const lr of ['0.1', '0.1', '0.2'])
    await server.submit({ project: 'p', labels: [{ key: 'lr', value: lr }] }, viewer)
  const failed = await server.submit({ name: 'night' })
  await server.domain.db.sql.query(
    `UPDATE job SET state = 'FAILED', state_reason = 'OOM_KILLED', finished_at = berth_now(), log_closed = true WHERE id = $1`,
    [failed],
  )
})

async function counts(args: string, name = 'admin'): Promise<Json> {
  const query = `{ jobCounts(${args}) { rows { key count byState { state count } } isExact } }`
  const { jobCounts } = await data(server.url, query, {}, name)
  expect(jobCounts.isExact).toBe(true)
  return jobCounts.rows
}

const queued = (count: number) => [{ state: 'QUEUED', count }]
const failed = [{ state: 'FAILED', count: 1 }]

it('jobCounts groups jobs by every key, and counts their states', async () => {
  const all = [
    { key: ann, count: 3, byState: queued(3) },
    { key: server.admin.userId, count: 1, byState: failed },
  ]
  expect(await counts('by: USER')).toEqual(all)
  expect(await counts('by: USER, first: 1')).toEqual(all.slice(0, 1))
  expect(await counts('by: STATE')).toEqual([
    { key: 'QUEUED', count: 3, byState: queued(3) },
    { key: 'FAILED', count: 1, byState: failed },
  ])
  expect(await counts('by: LABEL, labelKey: "lr"')).toEqual([
    { key: '0.1', count: 2, byState: queued(2) },
    { key: '0.2', count: 1, byState: queued(1) },
    { key: null, count: 1, byState: failed },
  ])
  expect(await counts('by: LABEL_KEY')).toEqual([{ key: 'lr', count: 3, byState: queued(3) }])
  expect((await counts('by: REASON')).map(({ key }: Json) => key)).toEqual([null, 'OOM_KILLED'])
  const both = [{ count: 4, byState: [queued(3)[0], failed[0]] }]
  for (const by of ['POOL', 'QUEUE', 'EXECUTOR', 'TEAM']) expect(await counts(`by: ${by}`)).toMatchObject(both)
  for (const by of ['PROJECT', 'ACCOUNT']) expect(await counts(`by: ${by}`)).toHaveLength(2)
})

it('jobCounts counts only jobs that match the filter and that the viewer may see', async () => {
  expect(await counts('by: PROJECT, filter: { text: "NIG" }')).toEqual([{ key: null, count: 1, byState: failed }])
  expect(await counts('by: USER, filter: { users: ["nobody"] }')).toEqual([])
  expect(await counts('by: STATE', 'ann')).toEqual([{ key: 'QUEUED', count: 3, byState: queued(3) }])
})

it('jobCounts refuses invalid arguments', async () => {
  for (const args of ['by: LABEL', 'by: USER, labelKey: "lr"', 'by: USER, first: 0', 'by: USER, first: 101'])
    expect(await ask(server.url, `{ jobCounts(${args}) { isExact } }`)).toMatchObject({
      errors: [{ extensions: { code: 'BAD_REQUEST' } }],
    })
})

const jobsPerInsert = 10_000

it('jobCounts counts only the newest jobs above the maximum', async () => {
  const { db } = server.domain
  await db.transaction(async (sql) => {
    await sql.query('SET LOCAL session_replication_role = replica')
    // In parts: each statement has a time limit.
    for (let from = 1; from <= countedJobsMax; from += jobsPerInsert)
      await sql.query(
        `INSERT INTO job (id, user_id, spec, state, pool, queue, executor, account, base_priority, cpu_millis, memory_bytes, gpu, lane_id,
         created_at, finished_at, log_closed)
       SELECT 'job_' || n, $1, '{}', 'SUCCEEDED', 'sim', 'q', 'e', 'a', 0, 1, 1, 0, gen_random_uuid(), '2020-01-01', '2020-01-01', true
       FROM generate_series($2::int, $3::int) n`,
        [ann, from, from + jobsPerInsert - 1],
      )
  })
  const { rows, isExact } = await readJobCounts(db.sql, { by: 'STATE', labelKey: null, first: 10, where: () => 'TRUE' })
  expect(rows.map(({ key, count }) => [key, count])).toEqual([
    ['SUCCEEDED', countedJobsMax - 4],
    ['QUEUED', 3],
    ['FAILED', 1],
  ])
  expect(isExact).toBe(false)
})
