import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { audit } from '../../../src/domain/audit/audit.ts'
import { chainOnce, createChainer } from '../../../src/domain/audit/audit-chain.ts'
import { verifyAudit } from '../../../src/domain/audit/audit-verify.ts'
import type { Domain } from '../../../src/domain/domain.ts'
import { createFakeClock } from '../../support/clock.ts'
import { countQueries, passTime } from '../../support/counting.ts'
import { makeDirectory } from '../../support/directory.ts'
import { createTestDomain } from '../../support/domain.ts'
import { until } from '../../support/until.ts'

async function scene(entries: number) {
  const world = await createTestDomain()
  const { database, it: test } = world
  const { sql } = database.db
  const write = async (count: number, from = 0) => {
    for (let i = from; i < from + count; i++)
      await audit(sql, { ...test.admin, ip: '127.0.0.1', token: 'tok' }, [record(i)], test.domain.time.nowMs())
  }
  await write(entries)
  while (await chainOnce(test.domain));
  return {
    database,
    sql,
    domain: test.domain,
    admin: test.admin,
    write,
    verify: (range = {}, domain: Domain = test.domain) => verifyAudit(domain, test.admin, range),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

const record = (i: number) => ({ action: 'test.act', objectId: `job_${i}`, detail: { i, precise: 0.1, text: 'é"' } })

describe('the chain of the audit log', () => {
  it('verifies as a whole and in any range', async () => {
    await using at = await scene(0)
    expect(await at.verify()).toEqual({ ok: true, fromSeq: 1, toSeq: 0, headSeq: 0, firstBadSeq: null, message: null })
    await at.write(30)
    while (await chainOnce(at.domain));
    expect(await at.verify()).toMatchObject({ ok: true, fromSeq: 1, toSeq: 30, headSeq: 30 })
    expect(await at.verify({ fromSeq: 7, toSeq: 9 })).toMatchObject({ ok: true, fromSeq: 7, toSeq: 9 })
    expect(await at.verify({ toSeq: 31 })).toMatchObject({ ok: false, firstBadSeq: 31 })
    await expect(at.verify({ fromSeq: 9, toSeq: 7 })).rejects.toThrow('toSeq')
  })

  it.each([
    "at = at + interval '1 millisecond'",
    'actor_id = NULL',
    "actor_name = actor_name || 'x'",
    "action = 'test.Act'",
    'object_id = NULL',
    "ip = '127.0.0.2'",
    'token = NULL',
    `detail = '{"i": 4, "precise": 0.1000000000000000000001, "text": "é\\""}'`,
    "id = 'audit_x'",
    "hash = repeat('a', 64)",
    'seq = 1000',
    'seq = NULL, hash = NULL',
  ])('detects a change of one entry: %s', async (change) => {
    await using at = await scene(9)
    await at.sql.query(`UPDATE audit_entry SET ${change} WHERE seq = 5`)
    expect(await at.verify()).toMatchObject({ ok: false, firstBadSeq: 5 })
    expect(await at.verify({ fromSeq: 5, toSeq: 5 })).toMatchObject({ ok: false, firstBadSeq: 5 })
    expect(await at.verify({ fromSeq: 1, toSeq: 4 })).toMatchObject({
      firstBadSeq: change === 'seq = 1000' ? 10 : null,
    })
  })

  it('detects deleted entries at the end or in a range, and inserted entries', async () => {
    await using at = await scene(9)
    const meddle = async (...statements: string[]) => {
      await at.sql.query('CREATE TABLE kept AS SELECT * FROM audit_entry')
      await at.sql.query('CREATE TABLE kept_head AS SELECT * FROM audit_head')
      for (const statement of statements) await at.sql.query(statement)
      const { ok, firstBadSeq } = await at.verify()
      await at.sql.query('TRUNCATE audit_entry, audit_head')
      await at.sql.query('INSERT INTO audit_entry SELECT * FROM kept')
      await at.sql.query('INSERT INTO audit_head SELECT * FROM kept_head')
      await at.sql.query('DROP TABLE kept, kept_head')
      return ok ? 'ok' : firstBadSeq
    }
    expect(await meddle()).toBe('ok')
    expect(await meddle('DELETE FROM audit_entry WHERE seq = 9')).toBe(9)
    expect(await meddle('DELETE FROM audit_entry WHERE seq BETWEEN 3 AND 6')).toBe(3)
    expect(await meddle('DELETE FROM audit_entry WHERE seq > 3')).toBe(4)
    expect(await meddle('DELETE FROM audit_entry')).toBe(1)
    expect(
      await meddle(
        "INSERT INTO audit_entry SELECT 'audit_y', at, actor_id, actor_name, action, object_id, ip, token, request_id, detail, 10, hash FROM audit_entry WHERE seq = 9",
      ),
    ).toBe(10)
    expect(
      await meddle(
        'DELETE FROM audit_entry WHERE seq = 4',
        // Uses two statements, because a single one would conflict with numbers that are still in use.
        'UPDATE audit_entry SET seq = seq + 1000 WHERE seq > 4',
        'UPDATE audit_entry SET seq = seq - 1001 WHERE seq > 1000',
      ),
    ).toBe(4)
  })

  it('reports an entry that is not chained after 10 s', async () => {
    await using at = await scene(3)
    await at.write(1, 3)
    expect(await at.verify()).toMatchObject({ ok: true })
    await at.database.moveTime(10_001)
    expect(await at.verify()).toMatchObject({ ok: false, firstBadSeq: null })
    await chainOnce(at.domain)
    expect(await at.verify()).toMatchObject({ ok: true, headSeq: 4 })
  })

  it('detects a rewritten log by comparison with the heads stored outside the database', async () => {
    await using at = await scene(3)
    const folder = makeDirectory()
    const path = join(folder, 'heads')
    const domain = { ...at.domain, auditHeadFile: path }
    expect(await at.verify({}, domain)).toMatchObject({ ok: false, firstBadSeq: null })
    const chainer = createChainer(domain)
    await at.write(2, 3)
    await chainer.runOnce()
    await at.write(1, 5)
    await chainer.runOnce()
    const [first, ...none] = (await readFile(path, 'utf8')).trim().split('\n')
    expect(none).toEqual([])
    expect(first).toMatch(/^5 [0-9a-f]{64} 20\d\d-/)
    await chainer.stop()
    const heads = (await readFile(path, 'utf8')).trim().split('\n')
    expect(heads).toEqual([first, expect.stringMatching(/^6 [0-9a-f]{64} 20\d\d-/)])
    await appendFile(path, '6 torn')
    expect(await at.verify({}, domain)).toMatchObject({ ok: true, headSeq: 6 })
    // An attacker rewrites the whole log, including the head.
    await at.sql.query("UPDATE audit_entry SET seq = NULL, hash = NULL, action = 'other'")
    await at.sql.query("UPDATE audit_head SET seq = 0, hash = repeat('0', 64)")
    await chainOnce(at.domain)
    expect(await at.verify()).toMatchObject({ ok: true, headSeq: 6 })
    expect(await at.verify({}, domain)).toMatchObject({ ok: false, firstBadSeq: 5 })
    await at.sql.query('DELETE FROM audit_entry WHERE seq > 3')
    await at.sql.query('UPDATE audit_head SET seq = 3, hash = (SELECT hash FROM audit_entry WHERE seq = 3)')
    expect(await at.verify({}, domain)).toMatchObject({ ok: false, firstBadSeq: 4 })
    await writeFile(path, '')
    expect(await at.verify({}, domain)).toMatchObject({ ok: true })
  })

  it('detects a head that differs from the one outside the database, for every range', async () => {
    await using at = await scene(0)
    const folder = makeDirectory()
    const domain = { ...at.domain, auditHeadFile: join(folder, 'heads') }
    const chainer = createChainer(domain)
    await at.write(3)
    await chainer.runOnce()
    await chainer.stop()
    expect(await at.verify({}, domain)).toMatchObject({ ok: true, headSeq: 3 })
    await at.sql.query("UPDATE audit_head SET hash = repeat('a', 64)")
    for (const range of [{}, { toSeq: 1 }])
      expect(await at.verify(range, domain)).toMatchObject({ ok: false, firstBadSeq: 3 })
  })

  it('skips chained entries that an open transaction keeps in the index', async () => {
    await using at = await scene(1)
    const backup = new pg.Client({ connectionString: at.database.url })
    await backup.connect()
    await using _ = { [Symbol.asyncDispose]: () => backup.end() }
    await backup.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM job')
    const write = (ids: string, ago: string) =>
      at.sql.query(
        `INSERT INTO audit_entry (id, at, actor_name, action) SELECT n, berth_now() - $1::interval, 'a', 'test.act' FROM ${ids}`,
        [ago],
      )
    await write("(SELECT 'old_' || i AS n FROM generate_series(1, 3000) i) ids", '10 s')
    const chainer = createChainer(at.domain)
    /** Number of entries of the index of unchained entries that one query reads. */
    async function seenByOneLook() {
      const read = async () => {
        await at.sql.query('SELECT pg_stat_force_next_flush()')
        const [row] = await at.sql.query<{ seen: number }>(
          "SELECT idx_tup_read::int AS seen FROM pg_stat_user_indexes WHERE indexrelname = 'audit_entry_unchained_idx'",
        )
        return row?.seen ?? 0
      }
      const before = await read()
      await chainer.runOnce()
      return (await read()) - before
    }
    expect(await seenByOneLook()).toBeGreaterThanOrEqual(3_000)
    await until(async () => (await seenByOneLook()) < 100, { what: 'a look comes upon nothing that was chained' })
    // This entry was written in a long transaction.
    await write("(VALUES ('late')) ids(n)", '1 hour')
    const isChained = async () => {
      await chainer.runOnce()
      return (await at.sql.query("SELECT FROM audit_entry WHERE id = 'late' AND seq IS NOT NULL")).length > 0
    }
    await until(isChained, { what: 'a late entry is chained' })
    expect(await at.verify()).toMatchObject({ ok: true })
  })

  it('chains an entry after older entries that are not chained yet, also after a pause', async () => {
    await using at = await scene(0)
    const write = (id: string, ago: string) =>
      at.sql.query(
        "INSERT INTO audit_entry (id, at, actor_name, action) VALUES ($1, berth_now() - $2::interval, 'a', 'test.act')",
        [id, ago],
      )
    await write('new', '0 s')
    await write('old', '8 s')
    await createChainer(at.domain).runOnce()
    expect(await at.sql.query('SELECT id FROM audit_entry ORDER BY seq')).toEqual([{ id: 'old' }, { id: 'new' }])
  })

  it('queries at most every 50 ms while transactions commit, and otherwise every five seconds', async () => {
    await using at = await scene(0)
    const clock = createFakeClock()
    const { db, asked, isAsking } = countQueries(at.database.db)
    const looks = () => asked.get('audit_waiting') ?? 0
    const chainer = createChainer({ ...at.domain, db, clock })
    chainer.start()
    await passTime(clock, { isAsking, seconds: 1 })
    const before = looks()
    await passTime(clock, { isAsking, seconds: 50 })
    expect(looks() - before).toBeLessThanOrEqual(10)
    await db.transaction((sql) => audit(sql, at.admin, [record(1)], at.domain.time.nowMs()))
    await passTime(clock, { isAsking, seconds: 0.05 })
    await until(() => !isAsking(), { what: 'the look is over' })
    expect(await at.verify()).toMatchObject({ ok: true, headSeq: 1 })
    // A process that died has written this entry.
    await at.write(1, 1)
    await passTime(clock, { isAsking, seconds: 5.05 })
    await until(() => !isAsking(), { what: 'the look is over' })
    expect(await at.verify()).toMatchObject({ ok: true, headSeq: 2 })
    await chainer.stop()
  })

  it('has no gaps and is in commit order while many processes write and several chain', async () => {
    await using at = await scene(0)
    let writing = true
    let seen: string[] = []
    const read = () => at.sql.query<{ id: string }>('SELECT id FROM audit_entry WHERE seq IS NOT NULL ORDER BY seq')
    /** A reader that has read the log up to n never finds a new entry at or before n. */
    async function reader() {
      while (writing) {
        const ids = (await read()).map(({ id }) => id)
        expect(ids.slice(0, seen.length)).toEqual(seen)
        seen = ids
      }
    }
    const chainers = [createChainer(at.domain), createChainer(at.domain), createChainer(at.domain)]
    for (const chainer of chainers) chainer.start()
    const writers = Array.from({ length: 12 }, (_, i) => at.write(25, i * 25))
    const reading = reader()
    await Promise.all(writers)
    await until(async () => (await read()).length === 300, { what: 'all entries are chained' })
    writing = false
    await reading
    for (const chainer of chainers) await chainer.stop()
    expect(await at.verify()).toMatchObject({ ok: true, headSeq: 300 })
  })
})
