import pg from 'pg'
import { expect, test } from 'vitest'
import { deleteUnreadChanges } from '../../src/domain/changes.ts'
import { transition } from '../../src/domain/jobs/transition.ts'
import { Fenced, lockVacantKey } from '../../src/domain/leadership.ts'
import { createWorld } from '../../src/scheduler/plan/world.ts'
import { createStoredPool } from '../../src/scheduler/stored-pool.ts'
import { openTestDomainForEach } from '../support/domain.ts'
import { until } from '../support/until.ts'

/** Changes of a pool without a leader are removed, and the next leader still knows the state of every job. */
const { database, it, sql } = openTestDomainForEach({ isNew: true })

const told = async () => (await sql('SELECT 1 FROM pool_change')).length
const leads = (epoch: number) =>
  sql(
    `INSERT INTO scheduler_leader (pool, epoch, holder, host) VALUES ('sim', $1, 'test', 'test')
     ON CONFLICT (pool) DO UPDATE SET epoch = $1, holder = 'test'`,
    [epoch],
  )
const renews = () =>
  sql(
    `INSERT INTO scheduler_lease (pool, renewed_at) VALUES ('sim', berth_now())
     ON CONFLICT (pool) DO UPDATE SET renewed_at = excluded.renewed_at`,
  )

test('changes of a pool with a leader are kept until the leader has read them', async () => {
  await leads(1)
  await renews()
  await it.submit()
  const before = await told()
  expect(before).toBeGreaterThan(0)
  await deleteUnreadChanges(it.domain)
  expect(await told()).toBe(before)
  await database.moveTime(4 * 60_000)
  await deleteUnreadChanges(it.domain)
  expect(await told()).toBe(before)
})

test('a leader that read no changes for 5 minutes loses its leadership when they are deleted', async () => {
  await leads(1)
  await renews()
  const store = createStoredPool(it.domain, { pool: 'sim', epoch: 1, holder: 'test' })
  await store.load()
  await it.submit()
  await database.moveTime(5 * 60_000 + 1)
  await deleteUnreadChanges(it.domain)
  expect(await told()).toBe(0)
  await expect(store.changes({ has: () => false })).rejects.toThrow(Fenced)
  expect(await sql('SELECT epoch, holder FROM scheduler_leader')).toEqual([{ epoch: 2, holder: null }])
  await it.submit()
  await deleteUnreadChanges(it.domain)
  expect(await sql('SELECT epoch, holder FROM scheduler_leader')).toEqual([{ epoch: 2, holder: null }])
})

test('the next leader loads the waiting jobs, and opens the gates that have become due', async () => {
  const first = await it.submit()
  const second = await it.submit({ dependsOn: [{ jobId: first }] })
  const step = { jobId: first, run: 1, reason: null }
  await transition(database.db.sql, [{ ...step, from: 'QUEUED', to: 'STARTING' }], 0)
  await transition(database.db.sql, [{ ...step, from: 'STARTING', to: 'RUNNING' }], 0)
  await transition(database.db.sql, [{ ...step, from: 'RUNNING', to: 'SUCCEEDED' }], 0)
  await deleteUnreadChanges(it.domain)
  expect(await told()).toBe(0)
  await leads(3)
  const { lanes } = await createStoredPool(it.domain, { pool: 'sim', epoch: 3, holder: 'test' }).load()
  expect(lanes.flatMap((lane) => lane.first.map(({ jobId }) => jobId))).toEqual([second])
})

test('no process takes over a pool while its unread changes are deleted', async () => {
  await sql("INSERT INTO scheduler_leader (pool, epoch) VALUES ('sim', 4)")
  await database.db.transaction(async (tx) => {
    expect(await lockVacantKey(tx, 'sim', 1_000)).toBe(true)
    await expect(
      database.db.transaction(async (other) => {
        await other.query("SET LOCAL lock_timeout = '50ms'")
        await other.query("UPDATE scheduler_leader SET epoch = 5, holder = 'other' WHERE pool = 'sim' AND epoch = 4")
      }),
    ).rejects.toThrow()
  })
})

test('changes that were read are not read again while an open transaction keeps them in the index', async () => {
  await leads(1)
  const store = createStoredPool(it.domain, { pool: 'sim', epoch: 1, holder: 'test' })
  const world = createWorld(await store.load())
  const backup = new pg.Client({ connectionString: database.url })
  await backup.connect()
  await using _ = { [Symbol.asyncDispose]: () => backup.end() }
  await backup.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM job')
  for (let i = 0; i < 3; i++) {
    await sql("INSERT INTO pool_change (pool, kind) SELECT 'sim', 'NODES' FROM generate_series(1, 3000)")
    world.hear(await store.changes(world.state.lanes))
    world.hear(await store.changes(world.state.lanes)) // reads that no change is left
  }
  /** Number of index entries that statements have read so far. */
  const seen = async () => {
    await sql('SELECT pg_stat_force_next_flush()')
    const [row] = await sql<{ seen: number }>(
      "SELECT sum(idx_tup_read)::int AS seen FROM pg_stat_user_indexes WHERE relname = 'pool_change'",
    )
    return row?.seen ?? 0
  }
  const seenByOneLook = async () => {
    const before = await seen()
    world.hear(await store.changes(world.state.lanes))
    return (await seen()) - before
  }
  // A search begins behind the oldest open transaction that writes, in any database of this PostgreSQL: other tests
  // have some.
  await until(async () => (await seenByOneLook()) < 100, { what: 'a check visits no change that was read' })
  await sql("INSERT INTO pool_change (pool, kind) VALUES ('sim', 'NODES')")
  expect((await store.changes(world.state.lanes)).changes).toHaveLength(1)
})
