import { beforeAll, describe, expect, it } from 'vitest'
import { createViewer } from '../../../src/domain/access.ts'
import { measurePool } from '../../../src/domain/usage/pool-use.ts'
import { saveSamples } from '../../../src/domain/usage/run-samples.ts'
import { ask as askServer, type Json } from '../../support/client.ts'
import { CommandLine } from '../../support/command-line.ts'
import { makeDirectory } from '../../support/directory.ts'
import { createLeader } from '../../support/leader.ts'
import { authenticateByName, openTestServer } from '../../support/server.ts'
import { storeSnapshot } from '../../support/snapshots.ts'

/** Samples of runs and use of pools, as people see them. */
let runId: string

const server = await openTestServer({ authenticate: authenticateByName })
beforeAll(async () => {
  const [rosa] = [await server.user('rosa', 'RESEARCHER'), await server.user('vic', 'VIEWER')]
  const jobId = await server.submit({ resources: { cpu: 2 } }, rosa)
  await server.submit({ resources: { cpu: 1 } })
  await (await createLeader(server.domain, 'sim')).tick()
  const { sql } = server.domain.db
  const [run] = await sql.query<{ id: string }>('SELECT id FROM run WHERE job_id = $1', [jobId])
  runId = run?.id ?? ''
  await saveSamples(sql, [{ runId, cpuCores: 1.5, memoryBytes: 2 ** 40, gpuPercent: null, gpuMemoryBytes: null }])
  await measurePool(sql, 'sim')
})

const ask = (name: string, query: string): Promise<Json> => askServer(server.url, query, {}, name)

const samplesOf = (args = '') =>
  `{ node(id: "${runId}") { ... on Run { samples${args} { at cpu memoryBytes gpuPercent gpuMemoryBytes } } } }`

describe('samples of a run', () => {
  it('are returned as a field of the run', async () => {
    const sample = {
      at: expect.any(String),
      cpu: 1.5,
      memoryBytes: 2 ** 40,
      gpuPercent: null,
      gpuMemoryBytes: null,
    }
    for (const name of ['rosa', 'admin']) expect((await ask(name, samplesOf())).data.node.samples).toEqual([sample])
    expect((await ask('vic', samplesOf())).data.node).toBeNull()
  })

  it('are refused if 0 or more than 1,000 points are requested', async () => {
    for (const points of [0, 1_001])
      expect((await ask('rosa', samplesOf(`(points: ${points})`))).errors).toMatchObject([
        { message: `points: Must be 1 … 1,000, not ${points}`, extensions: { code: 'BAD_REQUEST' } },
      ])
  })
})

const usageOf = (args: string) => {
  const [from, to] = [-1, 1].map((sign) => new Date(server.domain.time.nowMs() + sign * 3_600_000).toISOString())
  return `{ usage(from: "${from}", to: "${to}", bucketSeconds: 7200${args}) {
    key averageRunning averageQueued averageBlocked averageCpu averageGpu averageMemoryBytes cpuSeconds gpuSeconds memoryByteSeconds cpuCapacity gpuCapacity memoryCapacityBytes started finished failed
    waitP50Seconds waitP95Seconds cost { amount currency } user { id name storedFileBytes } team { id } } }`
}

describe('usage', () => {
  it('includes all users if the viewer may see all jobs, and otherwise only the viewer', async () => {
    const { data } = await ask('admin', usageOf(''))
    expect(data.usage).toMatchObject([
      {
        key: 'users.local',
        averageRunning: 1,
        averageCpu: 1,
        cpuSeconds: 60,
        gpuSeconds: 0,
        cpuCapacity: 16,
        started: 0,
        cost: null,
        waitP50Seconds: null,
      },
      {
        key: 'users.rosa',
        averageRunning: 1,
        averageCpu: 2,
        averageMemoryBytes: expect.any(Number),
        memoryCapacityBytes: 64 * 2 ** 30,
      },
    ])
    for (const by of ['ACCOUNT', 'USER', 'TEAM', 'QUEUE', 'POOL']) {
      expect((await ask('rosa', usageOf(`, by: ${by}, pool: "sim"`))).data.usage).toMatchObject([
        { averageRunning: 1, averageCpu: 2 },
      ])
      const none = by === 'POOL' ? [{ key: 'sim', averageRunning: 0, averageCpu: 0, cpuCapacity: 16 }] : []
      expect((await ask('vic', usageOf(`, by: ${by}`))).data.usage).toMatchObject(none)
    }
  })

  it('by user has the id of the user as the key, and also the user as an object', async () => {
    const { usage } = (await ask('rosa', usageOf(', by: USER'))).data
    const { jobCounts } = (await ask('rosa', '{ jobCounts(by: USER) { rows { key user { id name } team { id } } } }'))
      .data
    const rosa = { id: usage[0].key, name: 'rosa' }
    expect(usage).toMatchObject([{ user: rosa, team: null }])
    expect(jobCounts.rows).toEqual([{ key: rosa.id, user: rosa, team: null }])
  })

  it('includes the stored bytes of the users whom the viewer may see', async () => {
    const rosa = await server.domain.db.prisma.user.findUniqueOrThrow({ where: { name: 'rosa' } })
    const by = createViewer({ ...rosa, level: 'RESEARCHER' })
    await storeSnapshot(server.domain, by, { a: 'four', b: 'more', c: 'four' })
    const { sql } = server.domain.db
    await sql.query("INSERT INTO team (id, name, account) VALUES ('team_1', 'lab', 'lab')")
    await sql.query(
      `INSERT INTO team_member (team_id, user_id) SELECT 'team_1', id FROM "user" WHERE name IN ('rosa', 'vic')`,
    )
    for (const name of ['rosa', 'admin'])
      expect((await ask(name, usageOf(', by: USER'))).data.usage).toContainEqual(
        expect.objectContaining({ user: { id: rosa.id, name: 'rosa', storedFileBytes: 8 } }),
      )
    const ofMembers = '{ node(id: "team_1") { ... on Team { members { nodes { name storedFileBytes } } } } }'
    expect((await ask('vic', ofMembers)).data.node.members.nodes).toEqual([
      { name: 'rosa', storedFileBytes: null },
      { name: 'vic', storedFileBytes: 0 },
    ])
    const home = makeDirectory()
    const { berth } = new CommandLine(home, { BERTH_URL: server.url })
    expect((await berth('usage', '--by', 'user')).stdout).toMatch(/FILES\n(.*\n)*rosa .* 8 B\n/)
  })

  it('counts only the measured minutes in `berth usage`, even if the requested time is longer', async () => {
    const home = makeDirectory()
    const { berth } = new CommandLine(home, { BERTH_URL: server.url })
    expect(JSON.parse((await berth('usage', '--since', '7d', '-o', 'json')).stdout)).toMatchObject([
      { key: 'users.local', cpuHours: 1 / 60, gpuHours: 0 },
      { key: 'users.rosa', cpuHours: 2 / 60, memoryGibHours: expect.closeTo(8 / 60) },
    ])
  })

  it('is refused if it would have more than 1,000 points', async () => {
    const query = '{ usage(from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z", bucketSeconds: 60) { at } }'
    expect((await ask('admin', query)).errors).toMatchObject([
      {
        message: 'bucketSeconds: Must be at least 2679: an answer has at most 1000 points',
        extensions: { code: 'BAD_REQUEST' },
      },
    ])
  })
})
