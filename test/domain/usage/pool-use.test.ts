import { beforeAll, describe, expect, test } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import { removeJobs } from '../../../src/domain/jobs/retention.ts'
import { type Move, transition } from '../../../src/domain/jobs/transition.ts'
import { expireUse, measurePool, mergeMinutes } from '../../../src/domain/usage/pool-use.ts'
import { readUse, type UsagePoint, type UsageRequest } from '../../../src/domain/usage/read-use.ts'
import { openTestDomain, simNode } from '../../support/domain.ts'
import { createLeader, type TestLeader } from '../../support/leader.ts'

const hourMs = 3_600_000

let leader: TestLeader
let ann: Viewer
let begin: Date

const { database, it } = await openTestDomain({
  nodes: [{ ...simNode, cpuMillis: 2_000, memoryBytes: 4 * 2 ** 30 }],
})
beforeAll(async () => {
  leader = await createLeader(it.domain, 'sim')
  ann = await it.user('ann', 'RESEARCHER')
  begin = new Date(it.time.nowMs() - hourMs)
})

const minuteMs = 60_000

/** Measures the pool at the beginning of the next minute. */
async function measure(): Promise<void> {
  const [row] = await database.db.sql.query<{ at: Date }>('SELECT berth_now() AS at')
  await database.moveTime(minuteMs - (Number(row?.at) % minuteMs))
  await it.sequence()
  await measurePool(database.db.sql, 'sim')
}

async function read(request: Partial<UsageRequest> = {}, viewer: Viewer = it.admin): Promise<UsagePoint[]> {
  const to = new Date(begin.getTime() + 2 * hourMs)
  const whole = { pool: 'sim', from: begin, to, bucketSeconds: 7_200, by: 'ACCOUNT', ...request } as const
  return readUse(database.db.sql, viewer, whole)
}

async function move(jobId: string, ...steps: Pick<Move, 'from' | 'to' | 'reason' | 'runEnds'>[]): Promise<void> {
  for (const step of steps) await transition(database.db.sql, [{ jobId, run: 1, ...step }], it.domain.time.nowMs())
}

const begins = { from: 'STARTING', to: 'RUNNING', reason: null } as const

describe('the usage of a pool', () => {
  test('consists of held resources, waiting jobs and capacity, grouped by any key', async () => {
    await measure()
    const mine = await it.submit({ resources: { cpu: 1, memoryGib: 1 } })
    const hers = await it.submit({ resources: { cpu: 1, memoryGib: 1 } }, ann)
    await it.submit({}, ann)
    await leader.tick()
    for (const id of [mine, hers]) await move(id, begins)
    await measure()
    expect(await read()).toMatchObject([
      // There are two measurements, one of them without jobs.
      { key: 'users.ann', running: 0.5, queued: 0.5, cpu: 0.5, memoryBytes: 2 ** 29, started: 1, finished: 0 },
      { key: 'users.local', running: 0.5, queued: 0, cpu: 0.5, cpuCapacity: 2, memoryCapacityBytes: 4 * 2 ** 30 },
    ])
    const minuteOfOne = { cpuSeconds: 60, gpuSeconds: 0, memoryByteSeconds: 60 * 2 ** 30 }
    expect(await read()).toMatchObject([minuteOfOne, minuteOfOne])
    await measurePool(database.db.sql, 'sim')
    expect(await read()).toMatchObject([minuteOfOne, minuteOfOne])
    expect((await read({ by: 'USER' })).map(({ key }) => key).toSorted()).toEqual(
      [ann.userId, it.admin.userId].toSorted(),
    )
    expect(await read({ by: 'TEAM' })).toMatchObject([{ key: null, running: 1, started: 2 }])
    expect(await read({ by: 'QUEUE', pool: null })).toMatchObject([{ key: 'default', running: 1, queued: 0.5 }])
    expect(await read({ by: 'POOL' })).toMatchObject([{ key: 'sim', running: 1, cpuCapacity: 2, gpuCapacity: 0 }])
    expect(await read({ pool: 'other' })).toEqual([])
    await move(mine, { from: 'RUNNING', to: 'SUCCEEDED', reason: null })
    await move(hers, { from: 'RUNNING', to: 'FAILED', reason: 'EXIT_CODE' })
  })

  test('counts each start and end once, with its wait, and keeps them when the jobs are deleted', async () => {
    await measure()
    await measure()
    const counts = { started: 1, finished: 1 }
    const expected = [
      { key: 'users.ann', ...counts, failed: 1, waitP50Seconds: expect.any(Number) },
      { key: 'users.local', ...counts, failed: 0, waitP95Seconds: expect.any(Number) },
    ]
    expect(await read()).toMatchObject(expected)
    const rows = await database.db.sql.query<{ id: string }>(
      "SELECT id FROM job WHERE state IN ('SUCCEEDED', 'FAILED')",
    )
    expect(
      await database.db.transaction((sql) =>
        removeJobs(
          sql,
          rows.map(({ id }) => id),
        ),
      ),
    ).toBe(2)
    await measure()
    expect(await read()).toMatchObject(expected)
  })

  test('shows a user who may not see all jobs only their own jobs', async () => {
    expect(await read({}, ann)).toMatchObject([{ key: 'users.ann', started: 1 }])
    expect(await read({ by: 'POOL' }, ann)).toMatchObject([{ key: 'sim', started: 1, finished: 1, cpuCapacity: 2 }])
    const vic = await it.user('vic', 'VIEWER')
    expect(await read({}, vic)).toEqual([])
    expect(await read({ by: 'POOL' }, vic)).toMatchObject([{ key: 'sim', running: 0, queued: 0, started: 0 }])
  })

  test('counts the wait of a later run from the end of the run before', async () => {
    const eve = await it.user('eve', 'RESEARCHER')
    const jobId = await it.submit({ restartable: true }, eve)
    await leader.tick()
    await move(jobId, begins)
    await database.moveTime(10 * minuteMs)
    await move(jobId, { from: 'RUNNING', to: 'QUEUED', reason: 'PREEMPTED', runEnds: 'INTERRUPTED' })
    await leader.tick()
    await measure()
    const [hers] = await read({}, eve)
    expect(hers).toMatchObject({ started: 2, waitP95Seconds: expect.any(Number) })
    expect(hers?.waitP95Seconds).toBeLessThan(60)
    for (const step of [
      { from: 'STARTING', to: 'CANCELLING' },
      { from: 'CANCELLING', to: 'CANCELLED' },
    ] as const)
      await transition(database.db.sql, [{ jobId, run: 2, reason: 'CANCELLED', ...step }], it.time.nowMs())
  })

  test('counts a minute in the time that begins with it, not in the time that ends there', async () => {
    const [last] = await database.db.sql.query<{ at: Date }>('SELECT max(at) AS at FROM pool_use WHERE cpu_seconds > 0')
    const sum = async (request: Partial<UsageRequest>) =>
      (await read({ by: 'POOL', ...request })).reduce((seconds, { cpuSeconds }) => seconds + cpuSeconds, 0)
    const at = last?.at ?? begin
    expect(await sum({ from: at })).toBeGreaterThan(0)
    expect((await sum({ to: at })) + (await sum({ from: at }))).toBeCloseTo(await sum({}))
  })

  test('adds up only costs of one currency', async () => {
    const { sql } = database.db
    const costs = async () =>
      (await read({ by: 'QUEUE', pool: null })).map(({ cost, costPool }) => ({ cost, costPool }))
    expect(await costs()).toEqual([{ cost: 0, costPool: null }])
    await sql.query(`UPDATE pool SET rates = '{"cpuHour": 1, "gpuHour": 1, "currency": "EUR"}'`)
    await sql.query('UPDATE pool_use SET cost = 2')
    const [{ cost } = { cost: 0 }] = await costs()
    expect(await costs()).toEqual([{ cost: expect.any(Number), costPool: 'sim' }])
    await sql.query(`INSERT INTO pool (name, executors, rates) VALUES ('other', '{simulated}', '{"currency": "USD"}')`)
    for (const table of ['pool_period', 'pool_use'])
      await sql.query(`INSERT INTO ${table} SELECT (jsonb_populate_record(t, '{"pool": "other"}')).* FROM ${table} t`)
    expect(await costs()).toEqual([{ cost: 2 * cost, costPool: null }])
    for (const table of ['pool_period', 'pool_use']) await sql.query(`DELETE FROM ${table} WHERE pool = 'other'`)
    await sql.query("DELETE FROM pool WHERE name = 'other'")
  })

  test('takes the counts of a long queue from the lanes that the leader published', async () => {
    for (let n = 0; n < 3; n++) await it.submit({ resources: { cpu: 2 } }, ann)
    await database.db.sql.query(
      "INSERT INTO queue_tally (pool, band, chunk, open, entries) VALUES ('sim', 10, 0, true, 30000)",
    )
    await leader.tick()
    await database.db.sql.query('UPDATE lane_view SET waiting = 1000')
    await measure()
    const [{ queued: long } = { queued: 0 }] = await read({}, ann)
    expect(long).toBeGreaterThan(50)
    await database.db.sql.query('DELETE FROM queue_tally WHERE entries = 30000')
  })

  test('is refused with too many points, and accepts the longest bucket', async () => {
    await expect(read({ bucketSeconds: 59 })).rejects.toThrow('bucketSeconds: Must be at least 60')
    const longest = { from: new Date('0000-01-01T00:00:00Z'), bucketSeconds: 2 ** 31 - 1 }
    await expect(read(longest)).resolves.toEqual(expect.any(Array))
    await expect(read({ from: new Date(begin.getTime() - 24 * hourMs), bucketSeconds: 60 })).rejects.toThrow(
      'bucketSeconds: Must be at least 94: an answer has at most 1000 points',
    )
    await expect(read({ to: begin })).rejects.toThrow('to: Must be after `from`')
    await database.db.sql.query(
      `INSERT INTO pool_use (pool, seconds, at, user_id, account, team_id, queue)
       SELECT pool, seconds, at, 'user_' || n, 'many.a' || n, '', 'default' FROM pool_period, generate_series(1, 1001) n`,
    )
    await expect(read()).rejects.toThrow('more than 1000 points')
    expect(await read({ by: 'QUEUE' })).toHaveLength(1)
    await database.db.sql.query("DELETE FROM pool_use WHERE account LIKE 'many.%'")
  })

  test('is merged into hours after two days without changing its sums, and is deleted after its retention', async () => {
    const before = await read()
    await database.moveTime(50 * hourMs)
    await mergeMinutes(database.db.sql)
    const rows = await database.db.sql.query<{ seconds: number }>('SELECT DISTINCT seconds FROM pool_use')
    expect(rows).toEqual([{ seconds: 3_600 }])
    // An hour may begin before the first minute that was measured.
    const merged = await read({ from: new Date(begin.getTime() - hourMs), bucketSeconds: 4 * 3_600 })
    const plain = (points: UsagePoint[]) =>
      points.map(({ key, running, started, finished, waitP50Seconds }) => {
        return { key, running: running.toFixed(6), started, finished, waitP50Seconds }
      })
    expect(plain(merged)).toEqual(plain(before))
    await expireUse(it.domain, new Date(begin.getTime() + 5 * hourMs))
    expect(await database.db.sql.query('SELECT 1 FROM pool_use UNION ALL SELECT 1 FROM pool_period')).toEqual([])
  })
})
