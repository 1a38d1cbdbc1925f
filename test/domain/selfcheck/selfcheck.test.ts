import { beforeAll, expect, test } from 'vitest'
import { Forbidden } from '../../../src/domain/errors.ts'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { setScopeLimit, updateLimits } from '../../../src/domain/limits/limits.ts'
import { allocate } from '../../../src/domain/machines/nodes.ts'
import { findRunViolations, findViolations, selfCheck } from '../../../src/domain/selfcheck/selfcheck.ts'
import type { TestDatabase } from '../../support/database.ts'
import { createTestDomain, createTestDomainOver, openTestDomain, simNode } from '../../support/domain.ts'

/** Each test violates a rule, expects the finding, and repairs the rows. */
const device = { model: 'T4', memoryGib: 16, tensorCores: true, cuda: [] }
const nodes = [{ ...simNode, devices: [0, 1].map((index) => ({ ...device, index })) }]
const { database, it } = await openTestDomain({ nodes })
let queued: string
let running: string
let runId: string

beforeAll(async () => {
  const first = await it.submit()
  queued = await it.submit({ dependsOn: [{ jobId: first }] })
  running = await it.submit({ resources: { gpu: 1 } })
  runId = await start(running)
  await it.sequence()
})

const sql = <Row = Record<string, unknown>>(text: string, values: unknown[] = []) =>
  database.db.sql.query<Row>(text, values)

async function start(jobId: string): Promise<string> {
  const move = { jobId, run: 1, from: 'QUEUED', to: 'STARTING', reason: null } as const
  const [moved] = await transition(database.db.sql, [move], 0)
  const [job] = await sql<{ gpu: number }>('SELECT gpu FROM job WHERE id = $1', [jobId])
  const placements = [{ ...(await placement(database)), gpuIds: job?.gpu ? [0] : [] }]
  await allocate(database.db.sql, [{ runId: moved?.runId ?? '', placements }])
  return moved?.runId ?? ''
}

async function placement({ db }: TestDatabase) {
  const [node] = await db.sql.query<{ id: string }>('SELECT id FROM node')
  const asked = { cpuMillis: 1000, memoryBytes: 1024 ** 3, infiniband: false, interactive: false, gpuIds: [] }
  return { nodeId: node?.id ?? '', node: 'n1', replica: 0, ...asked }
}

const rulesBroken = async () => [...new Set((await findViolations(database.db.sql)).map(({ rule }) => rule))]

test('the self-check finds no violation in consistent tables', async () => {
  expect(await selfCheck(it.domain, it.admin)).toEqual({ ok: true, findings: [], at: expect.any(Date) })
  expect(await findRunViolations(database.db.sql)).toEqual([])
})

const breaks: [string, () => [breaks: string, mends: string, object: string]][] = [
  [
    'a run that holds resources has one allocation per replica and all of its GPUs',
    () => [
      'DELETE FROM device_claim',
      `INSERT INTO device_claim (node_id, device, run_id) SELECT id, 0, '${runId}' FROM node`,
      runId,
    ],
  ],
  [
    'free resources are capacity minus allocations and what others hold',
    () => [
      'UPDATE node SET free_cpu_millis = free_cpu_millis - 1',
      'UPDATE node SET free_cpu_millis = free_cpu_millis + 1',
      'node_',
    ],
  ],
  [
    'a hold belongs to a waiting job and names nodes of its pool',
    () => [
      `INSERT INTO hold (id, pool, job_id, kind, placements)
       VALUES ('hold_2', 'sim', '${queued}', 'PLANNED', '[{"nodeId": "node_gone"}]')`,
      'DELETE FROM hold',
      'hold_2',
    ],
  ],
  [
    'a queue entry matches its job',
    () => [
      `UPDATE queue_entry SET band = 31 WHERE job_id = '${queued}'`,
      `UPDATE queue_entry SET band = 30 WHERE job_id = '${queued}'`,
      queued,
    ],
  ],
  [
    'a queue entry is open only when its start time has come and its dependencies are satisfied',
    () => [
      `UPDATE queue_entry SET open = true WHERE job_id = '${queued}'`,
      `UPDATE queue_entry SET open = false WHERE job_id = '${queued}'`,
      queued,
    ],
  ],
  [
    'exactly the QUEUED jobs have a queue entry',
    () => [
      `CREATE TABLE aside AS SELECT * FROM queue_entry WHERE job_id = '${queued}'; DELETE FROM queue_entry WHERE job_id = '${queued}'`,
      'INSERT INTO queue_entry SELECT * FROM aside; DROP TABLE aside',
      queued,
    ],
  ],
  [
    'the stored count of each queue equals its number of entries',
    () => [
      "INSERT INTO queue_tally (pool, band, chunk, open, entries) VALUES ('sim', 7, 0, true, 1)",
      'DELETE FROM queue_tally WHERE band = 7',
      'pool_sim',
    ],
  ],
  [
    'events are numbered 1, 2, 3 … up to the version',
    () => [
      `UPDATE job SET version = version + 1 WHERE id = '${queued}'`,
      `UPDATE job SET version = version - 1 WHERE id = '${queued}'`,
      queued,
    ],
  ],
]

test.each(breaks)('the self-check reports each violation of the rule: %s', async (rule, make) => {
  const [breaking, mending, object] = make()
  for (const statement of breaking.split('; ')) await sql(statement)
  const found = await findViolations(database.db.sql)
  expect(found.map((each) => each.rule)).toEqual([rule])
  expect(found[0]?.objectId).toContain(object)
  expect(await selfCheck(it.domain, it.admin)).toMatchObject({ ok: false })
  for (const statement of mending.split('; ')) await sql(statement)
  expect(await rulesBroken()).toEqual([])
})

test('the self-check reports waiting jobs that are outside the lane of their properties', async () => {
  const lane = 'SELECT lane_id FROM job WHERE id = $1'
  const [was] = await sql<{ lane_id: string }>(lane, [queued])
  await sql(
    'INSERT INTO lane SELECT $1::uuid, pool, user_id, team_id, account, project, queue, executor, priority, overridden, interactive, preemptable, restartable, reservation_id, run_seconds, shape FROM lane WHERE id = $2',
    ['00000000-0000-0000-0000-000000000000', was?.lane_id],
  )
  for (const table of ['job', 'queue_entry'])
    await sql(`UPDATE ${table} SET lane_id = $1 WHERE ${table === 'job' ? 'id' : 'job_id'} = $2`, [
      '00000000-0000-0000-0000-000000000000',
      queued,
    ])
  expect(await rulesBroken()).toEqual(['a waiting job is in the lane of its properties'])
  for (const table of ['job', 'queue_entry'])
    await sql(`UPDATE ${table} SET lane_id = $1 WHERE ${table === 'job' ? 'id' : 'job_id'} = $2`, [
      was?.lane_id,
      queued,
    ])
  expect(await rulesBroken()).toEqual([])
})

test('the self-check accepts runs above a lowered limit, and reports starts after it was lowered', async () => {
  await updateLimits(it.domain, it.admin, { maxConcurrent: 0 })
  expect(await rulesBroken()).toEqual([])
  const late = await it.submit()
  await start(late)
  expect(await findViolations(database.db.sql)).toEqual([
    { rule: 'no start exceeds a limit', objectId: 'pool_sim', message: 'POOL_PAUSED of pool: 2 jobs of 0' },
  ])
  expect((await findRunViolations(database.db.sql)).map(({ rule }) => rule)).toEqual(['no start exceeds a limit'])
  await updateLimits(it.domain, it.admin, { maxConcurrent: 2 })
  expect(await rulesBroken()).toEqual([])
})

test('for limits that are unset, the self-check uses the defaults of the access mode of the last server', async () => {
  await using world = await createTestDomain()
  const { database: other, it: single } = world
  const begin = async () => {
    const jobId = await single.submit()
    const move = { jobId, run: 1, from: 'QUEUED', to: 'STARTING', reason: null } as const
    const [moved] = await transition(other.db.sql, [move], 0)
    await allocate(other.db.sql, [{ runId: moved?.runId ?? '', placements: [await placement(other)] }])
  }
  for (let i = 0; i < 3; i++) await begin()
  expect(await findViolations(other.db.sql)).toEqual([])
  await using many = await createTestDomainOver(other.db, { singleUser: false })
  expect(many.domain.singleUser).toBe(false)
  expect(await findViolations(other.db.sql)).toEqual([])
  await begin()
  expect(await findViolations(other.db.sql)).toMatchObject([
    { message: expect.stringMatching(/^USER_LIMIT .* 4 jobs of 2$/) },
  ])
})

test('the self-check reports starts above the limit of a GPU model, except on GPUs whose model changed later', async () => {
  await using world = await createTestDomain({ nodes })
  const { database: other, it: first } = world
  const begin = async (gpuId: number) => {
    const jobId = await first.submit({ project: 'apollo', resources: { gpu: 1 } })
    const move = { jobId, run: 1, from: 'QUEUED', to: 'STARTING', reason: null } as const
    const [moved] = await transition(other.db.sql, [move], 0)
    const placements = [{ ...(await placement(other)), gpuIds: [gpuId] }]
    await allocate(other.db.sql, [{ runId: moved?.runId ?? '', placements }])
  }
  const limit = (gpuModel: string) =>
    setScopeLimit(first.domain, first.admin, { scope: 'PROJECT', name: 'apollo', gpuModel, maxGpus: 1 })
  await limit('T4')
  await limit('V100')
  await begin(0)
  expect(await findViolations(other.db.sql)).toEqual([])
  await begin(1)
  expect(await findViolations(other.db.sql)).toEqual([
    {
      rule: 'no start exceeds a limit',
      objectId: 'pool_sim',
      message: 'GPU_LIMIT of project:apollo: 2 gpus of 1 with the model t4',
    },
  ])
  const others = [0, 1].map((index) => ({ ...device, index, model: 'V100' }))
  await using _relabelled = await createTestDomainOver(other.db, { nodes: [{ ...simNode, devices: others }] })
  expect(await findViolations(other.db.sql)).toEqual([])
})

test('the self-check reports entries that were not numbered or chained in time, to users who may see all jobs', async () => {
  const late = await it.submit()
  await database.moveTime(11_000)
  const { ok, findings: found } = await selfCheck(it.domain, it.admin)
  expect(ok).toBe(false)
  expect(found).toContainEqual({
    rule: 'an event gets its position in the feed within 10 s',
    objectId: late,
    message: expect.stringMatching(/^event 1 /),
  })
  expect(found.some(({ rule }) => rule.startsWith('an audit entry'))).toBe(true)
  await expect(selfCheck(it.domain, await it.user('rita', 'RESEARCHER'))).rejects.toThrow(Forbidden)
})
