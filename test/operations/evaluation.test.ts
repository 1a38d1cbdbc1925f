import { expect, test } from 'vitest'
import { readConditions, readConditionValues } from '../../src/domain/conditions/active-conditions.ts'
import { conditionRules } from '../../src/domain/conditions/conditions.ts'
import { findEvidence } from '../../src/domain/conditions/evaluate.ts'
import { storeServerReport } from '../../src/domain/conditions/server-report.ts'
import { compareConditions, storeEvidence } from '../../src/domain/conditions/stored-conditions.ts'
import { createLog } from '../../src/platform/log.ts'
import { watchConditions } from '../support/conditions.ts'
import { createTestDomain, openTestDomain } from '../support/domain.ts'
import { createLeader } from '../support/leader.ts'
import { repository } from '../support/sources.ts'

const { database, it } = await openTestDomain()
const { sql } = database.db
const conditions = watchConditions({ domain: it.domain, database, servers: [{}, {}] })
const lose = () => sql.query(`UPDATE node SET state = 'LOST', state_before = 'READY'`)
const readEvents = () =>
  sql.query(`SELECT seq, kind, evidence FROM condition_event WHERE name = 'NODE_LOST' ORDER BY seq`)

test('the beginning and the end of a condition are stored once although two servers evaluate it', async () => {
  await conditions.look()
  await lose()
  const began = await conditions.begins('NODE_LOST')
  expect(began).toMatchObject({ severity: 'TICKET', evidence: [expect.stringContaining('node n1 of pool sim')] })
  for (let looks = 0; looks < 3; looks++) await conditions.look()
  expect(await conditions.find('NODE_LOST')).toMatchObject({ since: began.since })
  expect((await readConditionValues(sql)).get('NODE_LOST')).toBe(1)
  await sql.query(`UPDATE node SET state = 'READY', state_before = NULL`)
  await conditions.ends('NODE_LOST')
  expect((await readConditionValues(sql)).get('NODE_LOST')).toBe(0)
  expect(await readEvents()).toMatchObject([
    { kind: 'BEGAN', evidence: began.evidence },
    { kind: 'OVER', evidence: began.evidence },
  ])
})

test('all events are numbered without gaps', async () => {
  const rows = await sql.query<{ seq: number }>('SELECT seq FROM condition_event ORDER BY seq')
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1))
})

test('only one of two servers evaluates within an interval', async () => {
  await database.moveTime(20_000)
  const [first, second] = conditions.watches
  expect(await Promise.all([first?.evaluateIfDue(), second?.evaluateIfDue()])).toEqual(
    expect.arrayContaining([true, false]),
  )
})

test('a server that froze during its evaluation stores nothing', async () => {
  const gauges = { stalledMs: {} } as never
  const server = { id: 'frozen', host: 'h', pid: 2, version: '0.1.0', pools: {}, gauges }
  await database.moveTime(20_000)
  const claim = await storeServerReport(sql, server, 9_000)
  await conditions.look()
  expect(await storeEvidence(database.db, claim ?? '', new Map([['NODE_LOST', ['node n1']]]))).toEqual([])
  expect(await conditions.find('NODE_LOST')).toBeUndefined()
})

test('a condition begins when its evidence has existed for its minimum time', () => {
  const found = new Map([['NO_LEADER', ['pool a']]])
  const seen = compareConditions([], found, 1_000)
  expect(seen).toEqual({
    stored: [{ name: 'NO_LEADER', seenMs: 1_000, sinceMs: null, evidence: ['pool a'] }],
    gone: [],
    events: [],
  })
  expect(compareConditions(seen.stored, found, 15_999)).toEqual({ stored: [], gone: [], events: [] })
  const began = compareConditions(seen.stored, found, 16_000)
  expect(began.events).toEqual([{ name: 'NO_LEADER', kind: 'BEGAN', sinceMs: 16_000, evidence: ['pool a'] }])
  const over = compareConditions(began.stored, new Map([['NO_LEADER', []]]), 20_000)
  expect(over).toMatchObject({ gone: ['NO_LEADER'], events: [{ kind: 'OVER', sinceMs: 16_000 }] })
  expect(compareConditions(seen.stored, new Map([['NO_LEADER', []]]), 2_000).events).toEqual([])
  expect(compareConditions(began.stored, new Map(), 20_000)).toEqual({ stored: [], gone: [], events: [] })
})

test('a failing query does not hide the other conditions', async () => {
  const rule = (query: string) => ({ ...[...conditionRules.values()][0], sql: query }) as never
  const found = await findEvidence({ db: database.db, log: createLog('silent') }, [
    ['BROKEN', rule('SELECT 1 / 0 AS evidence')],
    ['WHOLE', rule(`SELECT 'found' AS evidence`)],
  ])
  expect([...found]).toEqual([['WHOLE', ['found']]])
})

test('without any evaluation, the API says that the conditions were never evaluated', async () => {
  expect((await readConditions(sql)).evaluatedAt).toBeInstanceOf(Date)
  await sql.query(`UPDATE condition_check SET at = '1970-01-01Z'`)
  expect((await readConditions(sql)).evaluatedAt).toBeNull()
})

test('an evaluation without changes takes few statements', async () => {
  await using world = await createTestDomain()
  const { database: other, it: rested } = world
  await createLeader(rested.domain, 'sim')
  const statements: string[] = []
  const query: typeof other.db.sql.query = (text, ...rest) => {
    statements.push(text)
    return other.db.sql.query(text, ...rest)
  }
  const domain = { ...rested.domain, db: { ...other.db, sql: { query } } }
  const { look } = watchConditions({ domain, database: other })
  await look()
  statements.length = 0
  await look()
  expect(statements.length, 'without rows that are evaluated less often').toBeLessThanOrEqual(4)
  await look()
  statements.length = 0
  await look()
  expect(statements.length, 'with all rows').toBeLessThanOrEqual(16)
})

/** A row of the table of conditions needs a test that causes it: the title begins with the name of the row. */
test('every condition has a test that causes it', () => {
  const files = repository.filter(({ path }) => /^test\/operations\/[^/]*\.test\.ts$/.test(path))
  const text = files.map((file) => file.text).join('\n')
  const tested = new Set(
    [...text.matchAll(/^\s*(?:test|it)(?:\.\w+\([^)]*\))?\(\s*['"`]([A-Z_]+): /gm)].map(([, name]) => name),
  )
  const untested = [...conditionRules.keys()].filter((name) => !tested.has(name))
  expect(untested).toEqual([])
})
