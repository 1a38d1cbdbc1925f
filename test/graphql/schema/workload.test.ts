import { afterAll, beforeAll, expect, it } from 'vitest'
import { setJobPriority } from '../../../src/domain/control/priority.ts'
import { makeReason } from '../../../src/domain/reason.ts'
import { data, type Json } from '../../support/client.ts'
import { createLeader } from '../../support/leader.ts'
import { authenticateByName, startServer, type TestServer } from '../../support/server.ts'

/** Queues and pools, seen with and without job.view.all. */
let server: TestServer
const jobs: Record<string, string> = {}

beforeAll(async () => {
  const cuda = ['8.0', '12.0']
  const gpu = { model: 'V100', memoryGib: 32, tensorCores: true, cuda }
  server = await startServer({
    pool: {
      nodes: [
        {
          name: 'n1',
          cpuMillis: 4000,
          memoryBytes: 64 * 1024 ** 3,
          cpuModel: null,
          infiniband: false,
          devices: [
            { index: 0, ...gpu },
            { index: 1, ...gpu },
          ],
        },
      ],
      executors: ['container', 'simulated'],
    },
    authenticate: authenticateByName,
  })
  const [rosa, vic] = [await server.user('rosa', 'RESEARCHER'), await server.user('vic', 'VIEWER', ['job.submit'])]
  const spec = { executor: 'simulated' }
  jobs['running'] = await server.submit({ ...spec, resources: { gpu: 1, cpu: 4 } }, rosa)
  await (await createLeader(server.domain, 'sim')).tick()
  for (const [name, viewer] of [
    ['low', vic],
    ['mine', rosa],
    ['other', rosa],
    ['top', server.admin],
  ] as const)
    jobs[name] = await server.submit({ ...spec, maxRunTimeSeconds: 60 }, viewer)
  await setJobPriority(server.domain, server.admin, { jobId: jobs['low'] ?? '', priority: 50 })
})
afterAll(() => server[Symbol.asyncDispose]())

const named = (ids: readonly string[]) => ids.map((id) => Object.keys(jobs).find((name) => jobs[name] === id))

const as = (name: string, query: string, variables?: object) => data(server.url, query, variables, name)

async function walk(person: string, first: number): Promise<(string | undefined)[]> {
  const seen: string[] = []
  for (let after: string | null = null; ; ) {
    const { pool } = await as(
      person,
      'query ($f: Int, $a: Cursor) { pool { workload { entries(first: $f, after: $a) { nodes { id } pageInfo { hasNextPage hasPreviousPage endCursor } } } } }',
      { f: first, a: after },
    )
    const { entries } = pool.workload
    expect(entries.pageInfo.hasPreviousPage).toBe(after !== null)
    seen.push(...entries.nodes.map(({ id }: Json) => id))
    if (!entries.pageInfo.hasNextPage) return named(seen)
    after = entries.pageInfo.endCursor
  }
}

it('the entries of a workload are in queue order with any page size', async () => {
  for (const first of [1, 2, 100])
    expect(await walk('admin', first)).toEqual(['running', 'low', 'top', 'mine', 'other'])
  for (const first of [1, 100]) expect(await walk('rosa', first)).toEqual(['running', 'mine', 'other'])
})

it('a workload counts its jobs by state and by user', async () => {
  const { pool } = await as(
    'rosa',
    '{ pool { workload { depth running blocked byState { state count } byUser { count user { name } } } } }',
  )
  expect(pool.workload).toEqual({
    depth: 4,
    running: 1,
    blocked: 0,
    byState: [
      { state: 'QUEUED', count: 4 },
      { state: 'STARTING', count: 1 },
    ],
    byUser: [{ count: 3, user: { name: 'rosa' } }],
  })
})

it('a workload counts reasons only for viewers who may see all jobs', async () => {
  const query = '{ pool { workload { byReason { code count } } } }'
  expect(await as('admin', query)).toEqual({ pool: { workload: { byReason: [{ code: 'NO_CAPACITY', count: 4 }] } } })
  expect(await as('rosa', query)).toEqual({ pool: { workload: { byReason: [] } } })
})

it('a waiting job has its priorities and position, and the viewer has counts of their jobs', async () => {
  const { job } = await as(
    'vic',
    `{ job(id: "${jobs['low']}") { priority basePriority priorityOverride position scheduling { jobsAhead positionIsExact fit { freeNow missing } } } }`,
  )
  expect(job).toEqual({
    priority: 50,
    basePriority: 0,
    priorityOverride: 50,
    position: 1,
    scheduling: {
      jobsAhead: 0,
      positionIsExact: true,
      fit: { freeNow: false, missing: ['1 cpu on one node: 0 are free', '16 GiB on one node: 0 GiB are free'] },
    },
  })
  const { viewer } = await as('rosa', '{ viewer { workload { pendingCount runningCount bestPosition } } }')
  expect(viewer.workload).toEqual({
    pendingCount: 2,
    runningCount: 1,
    bestPosition: 3,
  })
})

it('a workload shows holds and shares, and hides the jobs of other users', async () => {
  const { sql } = server.domain.db
  await sql.query(
    `INSERT INTO hold (id, pool, job_id, kind, placements) VALUES ('hold_1', 'sim', $1, 'PLANNED', '[{"node": "n1"}]')`,
    [jobs['top']],
  )
  await sql.query(
    "INSERT INTO account_view (pool, account, occupancy, weight, running, queued) VALUES ('sim', 'users.rosa', 0.5, 2, 1, 2) ON CONFLICT (pool, account) DO UPDATE SET occupancy = 0.5, weight = 2, running = 1, queued = 2",
  )
  const query = `{ pools { nodes { paused holds { id nodes { name } waitingForVictims job { id } } accounts { account occupancy weight running queued }
    nodes { nodes { runs { nodes { job { id } } } gpus { allocated job { id } run { job { id } } } } } } } node(id: "hold_1") { ... on Hold { nodes { name } } } }`
  const [all, hers, his] = [await as('admin', query), await as('rosa', query), await as('vic', query)]
  const hold = { id: 'hold_1', nodes: [{ name: 'n1' }], waitingForVictims: 0 }
  expect(all).toMatchObject({
    node: { nodes: [{ name: 'n1' }] },
    pools: { nodes: [{ paused: false, holds: [{ ...hold, job: { id: jobs['top'] } }] }] },
  })
  expect(all['pools'].nodes[0].accounts[0]).toEqual({
    account: 'users.rosa',
    occupancy: 0.5,
    weight: 2,
    running: 1,
    queued: 2,
  })
  expect(hers['pools'].nodes[0].holds).toEqual([{ ...hold, job: null }])
  const held = ({ pools }: Record<string, Json>) => pools.nodes[0].nodes.nodes[0]
  expect(held(hers)).toEqual({
    runs: { nodes: [{ job: { id: jobs['running'] } }] },
    gpus: [
      { allocated: true, job: { id: jobs['running'] }, run: { job: { id: jobs['running'] } } },
      { allocated: false, job: null, run: null },
    ],
  })
  expect(held(his)).toEqual({
    runs: { nodes: [] },
    gpus: [
      { allocated: true, job: null, run: null },
      { allocated: false, job: null, run: null },
    ],
  })
})

it('the entries of a workload need as many SQL statements for all jobs as for one', async () => {
  const query = `query ($n: Int) { pool { workload { entries(first: $n, states: [QUEUED]) { nodes { id priority position scheduling { reasons { code } jobsAhead gates { code }
    fit { freeNow } hold { id } estimatedStart { earliest } lastConsideredAt } } } } } }`
  const count = async (n: number) => {
    const statements = server.countStatements()
    await data(server.url, query, { n })
    return statements.length
  }
  const few = await count(2)
  expect(await count(100)).toBe(few)
})

it('the reasons of a job do not contain the id of a job that the viewer may not see', async () => {
  const query = 'query ($id: ID!) { job(id: $id) { scheduling { reasons { code message job { id } } } } }'
  const why = async (person: string) => (await as(person, query, { id: jobs['mine'] }))['job'].scheduling.reasons
  const message = `The free resources are kept for job ${jobs['low']}`
  await server.domain.db.sql.query(
    `INSERT INTO lane_view SELECT lane_id, pool, 1, job_id, bid, sequence, 0, $2::jsonb, berth_now() FROM queue_entry WHERE job_id = $1`,
    [jobs['mine'], JSON.stringify(makeReason('HOLD', message, jobs['low']))],
  )
  expect(await why('admin')).toEqual([{ code: 'HOLD', message, job: { id: jobs['low'] } }])
  const hidden = 'The free resources are kept for another job'
  expect(await why('rosa')).toEqual([{ code: 'HOLD', message: hidden, job: null }])
})

it('bestPosition of the viewer is the position of their job that starts next', async () => {
  const zoe = await server.user('zoe', 'RESEARCHER')
  const ids: string[] = []
  for (let i = 0; i < 30; i++) ids.push(await server.submit({ executor: 'simulated' }, zoe))
  await setJobPriority(server.domain, server.admin, { jobId: ids[20] ?? '', priority: 11 })
  const query = 'query ($id: ID!) { job(id: $id) { position } viewer { workload { pendingCount bestPosition } } }'
  const { job, viewer } = await as('zoe', query, { id: ids[20] })
  expect(viewer.workload).toEqual({ pendingCount: 30, bestPosition: job.position })
})
