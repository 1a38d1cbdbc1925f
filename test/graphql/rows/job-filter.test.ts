import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId } from '../../../src/domain/ids.ts'
import { isFinal, type JobState, jobStates, stateCategory } from '../../../src/domain/state.ts'
import { readFacts, readJobsOnNode } from '../../../src/feed/facts.ts'
import { compileFilter, type JobFilter, toMoment } from '../../../src/feed/filter.ts'
import type { JobOrderField } from '../../../src/graphql/rows/listings.ts'
import { filterSql } from '../../../src/graphql/schema/jobs/job-filter.ts'
import '../../../src/graphql/schema/schema.ts' // the module of the filter is a part of it
import { cpuMs } from '../../support/cpu.ts'
import { openDatabase } from '../../support/database.ts'
import { addRun, addUser } from '../../support/factories.ts'
import { isWhole } from '../../support/whole.ts'

/**
 * Lists filter in SQL, `jobUpdates` filters in memory; both must select the same jobs. The value sets are small, so that
 * filters match, and contain special characters.
 */
const database = await openDatabase()

const times = [0, 1, 2].map((ms) => new Date(Date.UTC(2026, 0, 1) + ms))
const pieces = ['a', 'A', 'é', '🙂', '%', '_', '\\', '.', '[', '\n', '*', '?'] as const
const words = (max: number) => fc.array(fc.constantFrom(...pieces), { maxLength: max }).map((list) => list.join(''))
const word = fc.constantFrom('one', 'ONE', '%')
const key = fc.constantFrom('k', 'K', 'toString', '__proto__', 'a"b')
const value = fc.constantFrom('', 'v', '"', 'a\\\n\u0001É"')
const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { freq: 2 })

const reasons = ['OOM_KILLED', 'PREEMPTED', 'CANCELLED'] as const
const nodes = ['gpu1', 'gpu2', '%'] as const
const teams = ['team_one', 'team_two'] as const

const jobShape = fc.record({
  owner: fc.nat(1),
  name: maybe(words(3)),
  state: fc.constantFrom(...jobStates),
  labels: fc.array(fc.tuple(key, value), { maxLength: 3 }),
  team: maybe(fc.constantFrom(...teams)),
  account: word,
  project: maybe(word),
  queue: word,
  pool: word,
  executor: word,
  reason: maybe(fc.constantFrom(...reasons)),
  node: maybe(fc.constantFrom(...nodes)),
  /** true: the run on the node has ended. */
  before: fc.boolean(),
  createdAt: fc.constantFrom(...times),
  startedAt: maybe(fc.constantFrom(...times)),
  finishedAt: fc.constantFrom(...times),
})
type Shape = typeof jobShape extends fc.Arbitrary<infer T> ? T : never

const rarely = <T>(some: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: some })

const filterShape = (ids: readonly string[], users: readonly string[]): fc.Arbitrary<JobFilter> =>
  fc.record(
    {
      ids: rarely(fc.subarray([...ids, 'job_none'])),
      states: rarely(fc.subarray([...jobStates])),
      stateCategories: rarely(fc.subarray(['WAITING', 'ACTIVE', 'FINAL'])),
      stateReasons: rarely(fc.subarray([...reasons, 'APPROVAL_PENDING'])),
      text: rarely(
        fc.oneof(
          words(2),
          value,
          fc.constantFrom('v', 'V', '\\\n', '\u0001é', 'k', 'job_', 'JOB_', ids[0]?.slice(0, -1) ?? ''),
        ),
      ),
      name: rarely(words(4)),
      labels: rarely(fc.array(fc.record({ key, value: maybe(value) }, { requiredKeys: ['key'] }), { maxLength: 2 })),
      users: rarely(fc.subarray([...users, 'user_none'])),
      teams: rarely(fc.subarray([...teams, 'team_none'])),
      accounts: rarely(fc.array(word, { maxLength: 3 })),
      projects: rarely(fc.array(word, { maxLength: 3 })),
      queues: rarely(fc.array(word, { maxLength: 3 })),
      pools: rarely(fc.array(word, { maxLength: 3 })),
      executors: rarely(fc.array(word, { maxLength: 3 })),
      node: rarely(fc.constantFrom(...nodes, 'none')),
      createdAfter: rarely(fc.constantFrom(...times)),
      createdBefore: rarely(fc.constantFrom(...times)),
      startedAfter: rarely(fc.constantFrom(...times)),
      startedBefore: rarely(fc.constantFrom(...times)),
      finishedAfter: rarely(fc.constantFrom(...times)),
      finishedBefore: rarely(fc.constantFrom(...times)),
    },
    { requiredKeys: [] },
  )

const orders = ['CREATED_AT', 'STARTED_AT', 'FINISHED_AT', 'PRIORITY'] as const satisfies readonly JobOrderField[]

interface Kept {
  id: string
  state: JobState
  reason: Shape['reason']
  startedAt: Date | null
  finishedAt: Date
}

async function keep(shape: Shape, users: readonly string[]): Promise<Kept> {
  const id = newId('job', Date.UTC(2026, 0, 1))
  const { state, reason, startedAt } = shape
  const finishedAt = startedAt !== null && startedAt > shape.finishedAt ? startedAt : shape.finishedAt
  await database.db.sql.query(
    `INSERT INTO job (id, user_id, name, spec, state, labels, account, project, queue, pool, executor, created_at,
       finished_at, log_closed, team_id, state_reason, started_at, base_priority, cpu_millis, memory_bytes, gpu, lane_id)
     VALUES ($1, $2, $3, '{}', $4::job_state, $5::jsonb, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, 10, 1000, 0, 0, gen_random_uuid())`,
    [
      id,
      users[shape.owner],
      shape.name,
      state,
      JSON.stringify(Object.fromEntries(shape.labels)),
      shape.account,
      shape.project,
      shape.queue,
      shape.pool,
      shape.executor,
      shape.createdAt,
      isFinal(state) ? finishedAt : null,
      isFinal(state),
      shape.team,
      state === 'BLOCKED' ? 'APPROVAL_PENDING' : reason,
      startedAt,
    ],
  )
  const holds = stateCategory[state] === 'ACTIVE'
  const { sql } = database.db
  const onNode = ['other', shape.node]
  if (shape.node !== null && shape.before) await sql.query(endedRunSql, [newId('run', 0), id, onNode])
  if (holds) {
    const runId = await addRun(sql, { jobId: id, number: 2, state })
    if (shape.node !== null && !shape.before)
      await sql.query('UPDATE run SET nodes = $2 WHERE id = $1', [runId, onNode])
  }
  if (state === 'BLOCKED')
    await database.db.sql.query(approvalSql, [id.replace('job', 'approval'), id, users[shape.owner]])
  return { id, state, reason, startedAt, finishedAt }
}

const endedRunSql = `INSERT INTO run (id, job_id, number, pool, state, nodes, finished_at)
  VALUES ($1, $2, 1, 'local', 'INTERRUPTED', $3, berth_now())`

/** Lists find BLOCKED jobs by their approvals. */
const approvalSql = `INSERT INTO approval (id, job_id, reason, required_level, requested_by, expires_at)
  VALUES ($1, $2, 'r', 'LEAD', $3, berth_now() + interval '1 day')`

async function inDatabase(filter: JobFilter, by: JobOrderField): Promise<string[]> {
  const values: unknown[] = []
  const where = filterSql(filter, (each) => `$${values.push(each)}`, by)
  const rows = await database.db.sql.query<{ id: string }>(
    `SELECT j.id FROM job j WHERE ${where} ORDER BY j.id`,
    values,
  )
  return rows.map(({ id }) => id)
}

/** `npm run test:whole` tries 1,000 filters. */
const filters = isWhole ? 1_000 : 250

test('lists and jobUpdates select the same jobs for every filter', async () => {
  const { sql } = database.db
  await sql.query('INSERT INTO team (id, name, account) SELECT t, t, t FROM unnest($1::text[]) t', [teams])
  const users = [await addUser(sql, 'ada'), await addUser(sql, 'bob')]
  const seed = 20_261_121
  const kept: Kept[] = []
  for (const shape of fc.sample(jobShape, { seed, numRuns: 150 })) kept.push(await keep(shape, users))
  const ids = kept.map(({ id }) => id)
  const facts = new Map((await readFacts(sql, ids)).map((each) => [each.id, each]))

  async function inMemory(filter: JobFilter): Promise<string[]> {
    const { admitsJob, admitsMoment, admitsStart, node } = compileFilter(filter)
    const onNode = node === null ? null : await readJobsOnNode(sql, ids, node)
    const admitted = kept.filter(({ id, state, reason, startedAt, finishedAt }) => {
      const known = facts.get(id)
      if (known === undefined || (onNode && !onNode.get(id))) return false
      return admitsJob(known) && admitsMoment(toMoment(state, reason, finishedAt)) && admitsStart(startedAt)
    })
    return admitted.map(({ id }) => id).sort()
  }

  let hits = 0
  await fc.assert(
    fc.asyncProperty(filterShape(ids, users), async (filter) => {
      const admitted = await inMemory(filter)
      hits += admitted.length
      for (const by of orders) expect(await inDatabase(filter, by), by).toEqual(admitted)
    }),
    { seed, numRuns: filters },
  )
  expect(hits).toBeGreaterThan(0.3 * filters)
})

test('a glob with many asterisks is matched without exponential backtracking', () => {
  const facts = { name: 'a'.repeat(255) } as Parameters<ReturnType<typeof compileFilter>['admitsJob']>[0]
  const started = cpuMs()
  const hostile = ['*a*a*a*a*a*a*a*a*b', `${'*a'.repeat(127)}b`, `*${'a'.repeat(127)}b`]
  for (const name of hostile) expect(compileFilter({ name }).admitsJob(facts)).toBe(false)
  expect(cpuMs() - started).toBeLessThan(1_000)
})

test('lists and jobUpdates refuse a filter with too long a text', () => {
  const text = 'a'.repeat(256)
  expect(() => compileFilter({ text })).toThrow('at most 255 characters, not 256')
  expect(() => filterSql({ text }, () => '$1')).toThrow('at most 255 characters, not 256')
})

test('lists and jobUpdates refuse a filter with too long a glob', () => {
  const name = '*'.repeat(256)
  expect(() => compileFilter({ name })).toThrow('at most 255 characters, not 256')
  expect(() => filterSql({ name }, () => '$1')).toThrow('at most 255 characters, not 256')
})
