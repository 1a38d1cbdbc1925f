import pg from 'pg'
import { expect, test } from 'vitest'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { createSequencer, sequenceOnce } from '../../../src/domain/jobs/sequence.ts'
import { createFakeClock } from '../../support/clock.ts'
import { countQueries, passTime } from '../../support/counting.ts'
import { createDatabase } from '../../support/database.ts'
import { createTestDomain, createTestDomainOver } from '../../support/domain.ts'
import { until } from '../../support/until.ts'

test('12 writers and 4 sequencers number events without gaps, in commit order, and the events of a job in order of seq', async () => {
  await using world = await createTestDomain({ isNew: true })
  const { database, it } = world
  const read = () =>
    database.db.sql.query<{ jobId: string; seq: number; position: number }>(
      'SELECT job_id AS "jobId", seq, position FROM event WHERE position IS NOT NULL ORDER BY position',
    )
  let writing = true
  let head = 0
  async function sequencer() {
    while (writing) await sequenceOnce(it.domain)
  }
  /** A reader must never miss an event behind its last position. */
  async function reader() {
    while (writing) {
      const rows = await read()
      expect(rows.slice(0, head).map(({ position }) => position)).toEqual(Array.from({ length: head }, (_, i) => i + 1))
      head = rows.length
    }
  }
  async function writer() {
    for (let i = 0; i < 10; i++) {
      const jobId = await it.submit()
      await cancelJob(it.domain, it.admin, { jobId })
    }
  }
  const others = [sequencer(), sequencer(), sequencer(), sequencer(), reader()]
  await Promise.all(Array.from({ length: 12 }, writer))
  writing = false
  await Promise.all(others)
  await it.sequence()

  const rows = await read()
  expect(rows.map(({ position }) => position)).toEqual(Array.from({ length: 240 }, (_, i) => i + 1))
  for (const events of Map.groupBy(rows, ({ jobId }) => jobId).values())
    expect(events.map(({ seq }) => seq)).toEqual([1, 2])
})

test('the sequencer skips numbered events that an open transaction keeps in the index', async () => {
  await using world = await createTestDomain({ isNew: true })
  const { database, it } = world
  const { sql } = database.db
  const jobId = await it.submit()
  const { openXact: before } = await sequenceOnce(it.domain)
  const backup = new pg.Client({ connectionString: database.url })
  await backup.connect()
  await using _ = { [Symbol.asyncDispose]: () => backup.end() }
  await backup.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM job')
  await sql.query("INSERT INTO event (job_id, seq, type) SELECT $1, 1 + n, 'X' FROM generate_series(1, 3000) n", [
    jobId,
  ])
  let from = before
  /** Number of entries of the index of events without a position that one query reads. */
  async function seenByOneLook() {
    const read = async () => {
      await sql.query('SELECT pg_stat_force_next_flush()')
      const [row] = await sql.query<{ seen: number }>(
        "SELECT idx_tup_read::int AS seen FROM pg_stat_user_indexes WHERE indexrelname = 'event_without_position'",
      )
      return row?.seen ?? 0
    }
    const earlier = await read()
    from = (await sequenceOnce(it.domain, from)).openXact
    return (await read()) - earlier
  }
  expect(await seenByOneLook()).toBeGreaterThanOrEqual(3_000)
  // A search begins behind the oldest open transaction that writes, in any database of this PostgreSQL: other tests
  // have some.
  await until(async () => (await seenByOneLook()) < 100, { what: 'a look comes upon nothing that has a position' })
  await sql.query("INSERT INTO event (job_id, seq, type) VALUES ($1, 4000, 'X')", [jobId])
  expect(await sequenceOnce(it.domain, from)).toMatchObject({ found: 1 })
})

test('a burst of events is numbered in linear time, even if the table statistics are outdated', async () => {
  await using world = await createTestDomain({ isNew: true })
  const { database, it } = world
  const { db } = database
  const jobId = await it.submit()
  const add = (count: number, from: number) =>
    db.sql.query("INSERT INTO event (job_id, seq, type) SELECT $1, $2 + n, 'X' FROM generate_series(1, $3::int) n", [
      jobId,
      from,
      count,
    ])
  await add(3_000, 1)
  await it.sequence()
  const plans: string[] = []
  const explaining: typeof db.endingTransaction = (work, options) =>
    db.endingTransaction(async (sql) => {
      async function query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]> {
        if (name === 'sequence') plans.push(JSON.stringify(await sql.query(`EXPLAIN (FORMAT JSON) ${text}`, values)))
        return sql.query<Row>(text, values, name)
      }
      return work({ query })
    }, options)
  for (const kept of [1, 3_000]) {
    await db.sql.query('DELETE FROM event WHERE seq > $1', [kept])
    await db.sql.query('VACUUM ANALYZE event')
    await add(2_000, 10_000 + kept)
    const burst = await sequenceOnce({ db: { ...db, endingTransaction: explaining }, wakeups: it.domain.wakeups })
    expect(burst.found).toBe(2_000)
  }
  expect(plans).toHaveLength(2)
  for (const plan of plans) expect(plan).not.toMatch(/"Join Filter":"[^"]*seq/)
})

test('an idle sequencer queries without transactions, and finds events of other processes within a second', async () => {
  await using database = await createDatabase({ isNew: true })
  const clock = createFakeClock()
  const { db, asked, isAsking } = countQueries(database.db)
  await using it = await createTestDomainOver(db, { clock })
  const sequencer = createSequencer(it.domain)
  sequencer.start()
  await passTime(clock, { isAsking, seconds: 1 })
  asked.clear()
  await passTime(clock, { isAsking, seconds: 10 })
  expect([...asked.keys()]).toEqual(['sequence_any'])
  const jobId = await it.submit()
  await until(() => !isAsking() && clock.sleeping === 1, { what: 'the sequencer is at rest' })
  const unnumbered = () => database.db.sql.query('SELECT FROM event WHERE position IS NULL')
  expect(await unnumbered()).toEqual([])
  // The wake-up stays in the process that wrote the event.
  await database.db.sql.query("INSERT INTO event (job_id, seq, type) VALUES ($1, 4000, 'X')", [jobId])
  await passTime(clock, { isAsking, seconds: 1 })
  await until(async () => (await unnumbered()).length === 0, { what: 'it is numbered' })
  await sequencer.stop()
})
