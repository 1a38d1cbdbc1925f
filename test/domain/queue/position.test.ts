import { expect, test } from 'vitest'
import { setJobPriority } from '../../../src/domain/control/priority.ts'
import { type InLine, readLine, type Stretch } from '../../../src/domain/queue/line.ts'
import { readUserLine } from '../../../src/domain/queue/own-line.ts'
import { readPositions, readPriorities } from '../../../src/domain/queue/position.ts'
import { chunkSize, foldTally, readTally } from '../../../src/domain/queue/tally.ts'
import { advisoryLocks } from '../../../src/platform/advisory-locks.ts'
import type { Sql } from '../../../src/platform/tx.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain({ isNew: true })

const sql = (text: string, values: unknown[] = []) => database.db.sql.query<Record<string, never>>(text, values)

/** The positions of all jobs, and the queue as it is read; both must agree. */
async function lineOf(pool = 'sim'): Promise<string[]> {
  const ids = (await sql('SELECT job_id AS id FROM queue_entry WHERE pool = $1', [pool])).map(({ id }) => String(id))
  const places = await readPositions(database.db.sql, ids)
  const ordered = ids.toSorted((a, b) => (places.get(a)?.position ?? 0) - (places.get(b)?.position ?? 0))
  expect(ordered.map((id) => places.get(id)?.position)).toEqual(ids.map((_, index) => index + 1))
  expect(await walk((stretch) => readLine(database.db.sql, pool, stretch))).toEqual(ordered)
  const owners = await sql('SELECT id, user_id AS "userId" FROM job WHERE id = ANY($1)', [ids])
  for (const [userId, jobs] of Map.groupBy(owners, ({ userId }) => String(userId))) {
    const own = new Set(jobs.map(({ id }) => String(id)))
    const line = await walk((stretch) => readUserLine(database.db.sql, { pool, userId }, stretch))
    expect(line).toEqual(ordered.filter((id) => own.has(id)))
  }
  return ordered
}

/** Reads the queue page by page. */
async function walk(page: (stretch: Stretch) => Promise<InLine[]>): Promise<string[]> {
  const read: string[] = []
  for (let after: Stretch['after'] = null; ; ) {
    const stretch = await page({ after, limit: 3 })
    read.push(...stretch.map(({ jobId }) => jobId))
    const last = stretch.at(-1)
    if (!last || stretch.length < 3) return read
    after = [last.lead, last.minusBid, last.sequence]
  }
}

const clear = () => sql('DELETE FROM queue_entry')

test('positions follow the priority with ageing and overrides, interactive jobs first, and include gated jobs', async () => {
  const [viewer, rosa, lead] = [
    await it.user('vic', 'VIEWER', ['job.submit']),
    await it.user('rosa', 'RESEARCHER'),
    await it.user('lea', 'LEAD'),
  ]
  const low = await it.submit({}, viewer)
  const gated = await it.submit({ notBefore: new Date(Date.now() + 86_400_000).toISOString() }, rosa)
  const middle = await it.submit({}, rosa)
  const high = await it.submit({}, lead)
  const top = await it.submit()
  const cheap = await it.submit({ interactive: true, bid: 1 }, rosa)
  const dear = await it.submit({ interactive: true, bid: 7 }, viewer)
  expect(await lineOf()).toEqual([dear, cheap, top, high, gated, middle, low])

  // An hour later each job is one step higher, except gated jobs and jobs at the top; the earlier submission is first.
  await database.moveTime(3_600_000)
  const late = await it.submit({}, lead)
  expect(await lineOf()).toEqual([dear, cheap, high, top, middle, late, low, gated])
  expect([...(await readPriorities(database.db.sql, [low, middle, high, top, gated])).values()].toSorted()).toEqual([
    10, 10, 20, 30, 30,
  ])

  // A priority that a person set stays.
  await setJobPriority(it.domain, it.admin, { jobId: high, priority: 10 })
  await setJobPriority(it.domain, it.admin, { jobId: low, priority: 45 })
  expect(await lineOf()).toEqual([dear, cheap, low, top, middle, late, gated, high])
  await database.moveTime(3_600_000)
  expect(await lineOf()).toEqual([dear, cheap, low, middle, top, late, gated, high])
  await clear()
})

test('positions are the same over many chunks of the queue, whether their counts are folded or not', async () => {
  const people = [await it.user('ann', 'VIEWER', ['job.submit']), await it.user('bob', 'RESEARCHER'), it.admin]
  for (let i = 0; i < 18; i++) await it.submit({}, people[i % 3])
  // Sequences that are far apart, with unrelated waiting times.
  await sql(`UPDATE queue_entry SET sequence = sequence * ${chunkSize / 4},
    eligible_at = eligible_at - (sequence * 7919 % 11) * interval '20 minutes'`)
  const before = await lineOf()
  await foldTally(database.db)
  expect(await lineOf()).toEqual(before)
  const chunks = await readTally(database.db.sql, 'sim')
  expect(chunks.reduce((sum, { entries }) => sum + entries, 0)).toBe(18)
  await clear()
  await foldTally(database.db)
  expect(await sql('SELECT * FROM queue_tally')).toEqual([])
  expect(await sql('SELECT * FROM account_tally')).toEqual([])
  expect(await sql('SELECT * FROM account_total')).toEqual([])
})

test('the entries of a chunk are found through the index on sequences', async () => {
  const job = await it.submit()
  const plans: string[] = []
  const explaining: Sql = {
    async query(text, values, name) {
      if (text.includes('jsonb_to_recordset') && text.includes('sequence >= '))
        await database.db.transaction(async (tx) => {
          await tx.query('SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off')
          plans.push(JSON.stringify(await tx.query(`EXPLAIN (FORMAT JSON) ${text}`, values)))
        })
      return database.db.sql.query(text, values, name)
    },
  }
  await readPositions(explaining, [job])
  await readLine(explaining, 'sim', { after: null, limit: 3 })
  expect(plans).toHaveLength(2)
  for (const plan of plans) expect(plan).toMatch(/"Index Cond":"[^"]*bid = 0[^"]*sequence >=/)
  await clear()
})

test('an interrupted or concurrent fold of the counts leaves bounds that contain all waiting jobs', async () => {
  const [old, ...left] = [await it.submit(), await it.submit(), await it.submit(), await it.submit()]
  await sql("UPDATE queue_entry SET eligible_at = eligible_at - interval '10 hours' WHERE job_id = $1", [old])
  for (const id of left) await sql('DELETE FROM queue_entry WHERE job_id = $1', [id])
  // The order of rows is arbitrary. Here the row of the oldest entry and a row that removes an entry cancel out.
  await sql(`WITH moved AS (DELETE FROM queue_tally RETURNING *)
    INSERT INTO queue_tally SELECT * FROM moved ORDER BY coalesce(since_min, berth_now() - interval '5 hours')`)
  await it.submit({}, await it.user('vera', 'VIEWER', ['job.submit']))
  const entries = await sql(
    'SELECT band, min(eligible_at), max(eligible_at) FROM queue_entry GROUP BY band ORDER BY band',
  )
  const bounds = async () => {
    for (const { band, min, max } of entries) {
      const [chunk] = (await readTally(database.db.sql, 'sim')).filter((each) => each.band === Number(band))
      expect(chunk?.entries).toBe(1)
      expect(chunk?.sinceMinMs).toBeLessThanOrEqual(Number(min))
      expect(chunk?.sinceMaxMs).toBeGreaterThanOrEqual(Number(max))
    }
  }
  await bounds()
  const rows = () => sql('SELECT * FROM queue_tally ORDER BY id')
  const before = await rows()
  await database.db.transaction(async (other) => {
    await other.query('SELECT pg_advisory_xact_lock($1, 0)', [advisoryLocks.tally])
    await foldTally(database.db)
    expect(await rows()).toEqual(before)
  })
  await foldTally(database.db, 2)
  await bounds()
  expect(await rows()).toHaveLength(2)
  await Promise.all([foldTally(database.db), foldTally(database.db)])
  await bounds()
  await lineOf()
  await clear()
})

test('positions in a FAIR_SHARE pool follow shares, bids and submission, and are marked as not exact', async () => {
  await sql("UPDATE pool SET policy = 'FAIR_SHARE'")
  const [eve, max] = [await it.user('eve', 'RESEARCHER'), await it.user('max', 'RESEARCHER')]
  const first = await it.submit({ bid: 1 }, eve)
  const second = await it.submit({}, eve)
  const third = await it.submit({ bid: 5 }, eve)
  const other = await it.submit({}, max)
  expect(await lineOf()).toEqual([third, first, second, other])
  await sql(`INSERT INTO account_view (pool, account, occupancy, share, weight, running, queued)
    VALUES ('sim', 'users.eve', 0.5, 0.5, 1, 4, 3), ('sim', 'users.max', 0.25, 0.25, 1, 1, 1)`)
  expect(await lineOf()).toEqual([other, third, first, second])
  expect((await readPositions(database.db.sql, [other])).get(other)).toEqual({ position: 1, exact: false })
})

test('positions by share are right over many accounts and chunks, whatever counts the leader published', async () => {
  const names = Array.from({ length: 24 }, (_, i) => `person${i}`)
  const people = await Promise.all(names.map((name) => it.user(name, 'RESEARCHER')))
  const late = new Date(Date.now() + 86_400_000).toISOString()
  for (let i = 0; i < 48; i++)
    await it.submit({ bid: i % 7 === 0 ? i % 3 : 0, notBefore: i % 5 === 0 ? late : null }, people[(i * i) % 24])
  for (const person of people.slice(0, 5)) await it.submit({ interactive: true }, person)
  await sql(`UPDATE queue_entry SET sequence = sequence * ${chunkSize / 8}`)
  // Some accounts hold no resources, many hold equal amounts. The counts of the leader only decide how jobs are counted.
  for (const queued of [0, 1, 1_000])
    for (const shares of [1, 2, 5]) {
      await sql('DELETE FROM account_view')
      await sql(
        `INSERT INTO account_view (pool, account, occupancy, share, weight, running, queued)
         SELECT 'sim', account, n % $1::int / 4.0, n % $1::int / 4.0, 1, 1, CASE WHEN n % 2 = 0 THEN $2::int ELSE n END
         FROM (SELECT account, row_number() OVER (ORDER BY account) AS n FROM (SELECT DISTINCT account FROM lane) a) b WHERE n % 6 <> 0`,
        [shares, queued],
      )
      const expected = await sql(
        `SELECT q.job_id AS id FROM queue_entry q JOIN lane l ON l.id = q.lane_id LEFT JOIN account_view v ON v.account = l.account
         ORDER BY CASE WHEN l.interactive THEN -1 ELSE coalesce(v.share, 0) END, q.bid DESC, q.sequence`,
      )
      expect(await lineOf()).toEqual(expected.map(({ id }) => id))
    }
  await foldTally(database.db)
  await lineOf()
})
