import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import { cancelJobs } from '../../../src/domain/control/cancel.ts'
import { findViolations } from '../../../src/domain/selfcheck/selfcheck.ts'
import { readCost, scanCost } from '../../../src/graphql/caller-limits.ts'
import { type Json, transports } from '../../support/client.ts'
import { failLockWaits } from '../../support/outage.ts'
import { openTestServer } from '../../support/server.ts'
import { submitJobs } from '../../support/submit-jobs.ts'
import { until } from '../../support/until.ts'

/** Mutations of many jobs, by ids and by filter. */
const users = { ada: 'ADMIN', rita: 'RESEARCHER', ben: 'RESEARCHER', vic: 'VIEWER' } as const
type Name = keyof typeof users
const viewers = new Map<string, Viewer>()

const server = await openTestServer({
  singleUser: false,
  facts: { singleUser: false },
  authenticate: (name, known) => known.users.get(name ?? '') ?? null,
})
beforeAll(async () => {
  for (const [name, level] of Object.entries(users)) viewers.set(name, await server.user(name, level))
})
afterAll(async () => {
  expect(await findViolations(server.domain.db.sql)).toEqual([])
})

type Verb = 'cancelJobs' | 'deleteJobs' | 'retryJobs' | 'setJobPriorities'

async function act(as: Name, verb: Verb, input: object): Promise<Json> {
  const type = `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`
  const query = `mutation ($input: ${type}Input!) { ${verb}(input: $input) { __typename
    ... on ${type}Success { remaining results { jobId result { __typename ... on Problem { code } } } }
    ... on CountMismatchProblem { actualCount } ... on Problem { code message } } }`
  const { data, errors } = await transports.http(server.url, query, { input }, { authorization: as })
  if (errors) throw new Error(JSON.stringify(errors))
  const { results, ...answer } = data?.[verb] ?? {}
  return results
    ? {
        ...answer,
        jobIds: results.map(({ jobId }: Json) => jobId),
        results: results.map(({ result }: Json) => result.code ?? result.__typename),
      }
    : answer
}

const matching = (filter: object, expectedCount: number) => ({ selection: { matching: { filter, expectedCount } } })
const byIds = (jobIds: readonly string[]) => ({ selection: { jobIds } })

async function submit(as: Name, name: string, { count = 1, ...spec }: Record<string, unknown> = {}): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < Number(count); i++) ids.push(await server.submit({ name, ...spec }, viewers.get(as)))
  return ids
}

/** Submits jobs and ends them. */
async function submitEnded(as: Name, name: string, more: Record<string, unknown> = {}): Promise<string[]> {
  const ids = await submit(as, name, more)
  await cancelJobs(
    server.domain,
    server.admin,
    ids.map((jobId) => ({ jobId })),
  )
  return ids
}

const read = <Row>(sql: string, ...values: unknown[]) => server.domain.db.sql.query<Row>(sql, values)

async function readStates(name: string): Promise<string[]> {
  const rows = await read<{ state: string }>('SELECT state FROM job WHERE name = $1 ORDER BY created_at, id', name)
  return rows.map(({ state }) => state)
}

describe('a selection by ids', () => {
  it('has one result for each job, also if an id is repeated', async () => {
    const [a = '', b = ''] = await submit('rita', 'by-ids', { count: 2 })
    const answer = await act('rita', 'cancelJobs', { ...byIds([b, a, b, 'job_nowhere']), reason: 'enough' })
    expect(answer).toEqual({
      __typename: 'CancelJobsSuccess',
      jobIds: [b, a, 'job_nowhere'],
      results: ['CancelJobSuccess', 'CancelJobSuccess', 'NOT_FOUND'],
      remaining: 0,
    })
    expect(await act('rita', 'retryJobs', byIds([a, b]))).toMatchObject({
      results: ['RetryJobSuccess', 'RetryJobSuccess'],
    })
    expect(await act('rita', 'deleteJobs', byIds([a, b, a]))).toMatchObject({
      results: ['DeleteJobSuccess', 'DeleteJobSuccess'],
    })
    const names = 'SELECT action FROM audit_entry WHERE object_id = ANY($1) AND action <> $2 ORDER BY action'
    expect(await read(names, [a, b], 'job.submit')).toEqual(
      ['job.cancel', 'job.cancel', 'job.delete', 'job.delete'].map((action) => ({ action })),
    )
  })

  it('is refused with more than 1,000 ids', async () => {
    const ids = Array.from({ length: 1_001 }, (_, index) => `job_${index}`)
    expect(await act('ada', 'deleteJobs', byIds(ids))).toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('has the result NOT_FOUND for a job of another user', async () => {
    const ids = await submitEnded('ben', 'hidden')
    for (const verb of ['cancelJobs', 'deleteJobs', 'retryJobs'] as const)
      expect(await act('rita', verb, byIds(ids))).toMatchObject({ results: ['NOT_FOUND'] })
  })
})

describe('a selection by filter', () => {
  it('cancels all matching jobs, and changes nothing if their number differs from the expected one', async () => {
    const ids = await submit('rita', 'many', { count: 3 })
    await submit('ben', 'many')
    await submitEnded('rita', 'many')
    const filter = { name: 'many' }
    const refused = await act('rita', 'cancelJobs', matching(filter, 4))
    expect(refused).toMatchObject({ code: 'COUNT_MISMATCH', actualCount: 3 })
    expect(refused.message).toMatch(/would change 3 jobs, not 4/)
    expect(await readStates('many')).toEqual(['QUEUED', 'QUEUED', 'QUEUED', 'QUEUED', 'CANCELLED'])

    expect(await act('rita', 'cancelJobs', matching(filter, 3))).toMatchObject({
      jobIds: ids,
      results: Array(3).fill('CancelJobSuccess'),
      remaining: 0,
    })
    expect(await readStates('many')).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED', 'QUEUED', 'CANCELLED'])
    expect(await act('rita', 'cancelJobs', matching(filter, 0))).toMatchObject({ jobIds: [], remaining: 0 })
    expect(await act('ada', 'cancelJobs', matching(filter, 1))).toMatchObject({ results: ['CancelJobSuccess'] })
  })

  it('includes jobs of the teams of the caller if the caller is a LEAD', async () => {
    const lena = await server.user('lena', 'LEAD')
    const [mine = '', other = ''] = [...(await submit('rita', 'team')), ...(await submit('rita', 'team'))]
    await read("INSERT INTO team (id, name, account) VALUES ('team_1', 'ml', 'ml')")
    await read("INSERT INTO team_member (team_id, user_id) VALUES ('team_1', $1)", lena.userId)
    await read("UPDATE job SET team_id = 'team_1' WHERE id = $1", mine)
    expect(await act('lena' as Name, 'cancelJobs', matching({ name: 'team' }, 1))).toMatchObject({ jobIds: [mine] })
    expect(await act('ada', 'cancelJobs', matching({ name: 'team' }, 1))).toMatchObject({ jobIds: [other] })
  })

  it('reports the changes that were committed before a database outage', async () => {
    const rita = viewers.get('rita') ?? server.admin
    const submissions = Array.from({ length: 150 }, () => ({ spec: { command: ['true'], name: 'broken' } }))
    await submitJobs(server.domain, rita, submissions)
    const jobs = await read<{ id: string }>("SELECT id FROM job WHERE name = 'broken' ORDER BY created_at, id")
    const ids = jobs.map(({ id }) => id)
    const answer = await failLockWaits(
      server.domain,
      { lock: `SELECT FROM job WHERE id = '${ids[120]}' FOR UPDATE`, failures: 1 },
      () => act('rita', 'cancelJobs', matching({ name: 'broken' }, 150)),
    )
    expect(answer).toMatchObject({ jobIds: ids, remaining: 50 })
    expect(answer.results).toEqual([...Array(100).fill('CancelJobSuccess'), ...Array(50).fill('UNAVAILABLE')])
    expect(await act('rita', 'cancelJobs', matching({ name: 'broken' }, 50))).toMatchObject({ remaining: 0 })
  })

  it('deletes finished jobs, except those that an unfinished job depends on', async () => {
    const [, b = '', c = ''] = await submitEnded('rita', 'old', { count: 3 })
    await submit('rita', 'old', { dependsOn: [{ jobId: b }] })
    expect(await act('rita', 'deleteJobs', matching({ name: 'old' }, 2))).toMatchObject({
      results: ['DeleteJobSuccess', 'DeleteJobSuccess'],
      remaining: 0,
    })
    expect(await readStates('old')).toEqual(['CANCELLED', 'QUEUED'])
    expect(await read('SELECT 1 FROM job WHERE id = $1', c)).toEqual([])
  })

  it('retries each finished job once', async () => {
    const ids = await submitEnded('rita', 'again', { count: 2 })
    await submitEnded('ben', 'again', { environment: [{ name: 'A', value: '1' }] })
    const filter = { name: 'again' }
    expect(await act('rita', 'retryJobs', matching(filter, 2))).toMatchObject({
      jobIds: ids,
      results: ['RetryJobSuccess', 'RetryJobSuccess'],
      remaining: 0,
    })
    expect(await act('rita', 'retryJobs', matching(filter, 0))).toMatchObject({ jobIds: [], remaining: 0 })
    // The environment of another user's job is not copied. Retries of others do not count.
    expect(await act('ada', 'retryJobs', matching(filter, 2))).toMatchObject({ jobIds: ids })
    const changed = { ...matching(filter, 1), overrides: { environment: [], estimatedCost: 1 } }
    expect(await act('ada', 'retryJobs', changed)).toMatchObject({ results: ['RetryJobSuccess'] })
  })

  it('retries each job only once if several calls arrive at the same time', async () => {
    const ids = await submitEnded('rita', 'together', { count: 3 })
    const holder = await server.domain.db.pool.connect()
    const statements = server.countStatements()
    await holder.query('BEGIN; LOCK TABLE submission_gate IN EXCLUSIVE MODE')
    const calls = Promise.all(
      Array.from({ length: 3 }, () => act('rita', 'retryJobs', matching({ name: 'together' }, 3))),
    )
    // Each call ends a transaction when it has found the jobs, and then waits for the lock.
    const isFound = (text: string) => text === 'COMMIT'
    await until(() => statements.filter(isFound).length === 3, { what: 'all calls have found the jobs' })
    await holder.query('ROLLBACK')
    holder.release()
    const results = (await calls).flatMap((answer) => answer.results)
    expect(results.toSorted()).toEqual([...Array(6).fill('INVALID_STATE'), ...Array(3).fill('RetryJobSuccess')])
    expect(await readStates('together')).toHaveLength(6)
    // Ids retry a job again.
    expect(await act('rita', 'retryJobs', byIds(ids))).toMatchObject({ results: Array(3).fill('RetryJobSuccess') })
  })

  it('retries each job only once if a call is repeated with the same idempotency key', async () => {
    const ids = await submitEnded('rita', 'keyed', { count: 2 })
    const input = { ...byIds(ids), idempotencyKey: 'night' }
    for (const _ of [1, 2])
      expect(await act('rita', 'retryJobs', input)).toMatchObject({ results: ['RetryJobSuccess', 'RetryJobSuccess'] })
    expect(await readStates('keyed')).toHaveLength(4)
    expect(await act('rita', 'retryJobs', { ...input, overrides: { name: 'x' } })).toMatchObject({
      results: ['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_CONFLICT'],
    })
  })

  it('sets the priority of waiting jobs', async () => {
    const ids = await submit('rita', 'rush', { count: 2 })
    await submitEnded('rita', 'rush')
    const filter = { name: 'rush' }
    const set = (priority: number | null, count: number) =>
      act('ada', 'setJobPriorities', { ...matching(filter, count), priority })
    expect(await set(51, 2)).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await set(40, 2)).toMatchObject({ jobIds: ids, remaining: 0 })
    expect(await set(40, 0)).toMatchObject({ jobIds: [], remaining: 0 })
    const rows = `SELECT j.priority_override AS set, q.band, q.lane_id = j.lane_id AS same
      FROM job j JOIN queue_entry q ON q.job_id = j.id WHERE j.name = 'rush'`
    expect(await read(rows)).toEqual(Array(2).fill({ set: 40, band: 40, same: true }))
    expect(await set(null, 2)).toMatchObject({ results: Array(2).fill('SetJobPrioritySuccess') })
    expect(await read(rows)).toEqual(Array(2).fill({ set: null, band: 10, same: true }))
  })

  it('costs a scan of the jobs plus the selected fields of each job', async () => {
    const query = `mutation ($input: CancelJobsInput!) { cancelJobs(input: $input) { ... on CancelJobsSuccess { remaining } } }`
    const ask = (selection: object) =>
      transports.http(server.url, query, { input: { selection } }, { authorization: 'ada' })
    expect(await ask(byIds(['job_1', 'job_2']).selection)).toMatchObject({ extensions: { cost: readCost + 2 } })
    const { extensions } = await ask(matching({ name: 'none' }, 500).selection)
    expect(extensions).toMatchObject({ cost: readCost + scanCost + 250 })
    expect((await ask(matching({ name: 'none' }, 5_000).selection)).extensions).toMatchObject({
      cost: readCost + scanCost + 500,
    })
  })

  it('is refused with FORBIDDEN for users without the permission', async () => {
    const filter = { name: 'none' }
    for (const verb of ['cancelJobs', 'deleteJobs', 'retryJobs', 'setJobPriorities'] as const)
      expect(await act('vic', verb, matching(filter, 0))).toMatchObject({ code: 'FORBIDDEN' })
    expect(await act('rita', 'setJobPriorities', matching(filter, 0))).toMatchObject({ code: 'FORBIDDEN' })
  })

  it('changes the oldest 1,000 jobs, and reports how many remain', async () => {
    const [first = ''] = await submit('ben', 'crowd')
    await read(
      `INSERT INTO job SELECT (jsonb_populate_record(j, jsonb_build_object('id', 'job_crowd' || n))).*
       FROM job j, generate_series(1, 1001) n WHERE j.id = $1`,
      first,
    )
    await read(
      "UPDATE job SET state = 'CANCELLED', finished_at = berth_now(), log_closed = true WHERE id LIKE 'job_crowd%'",
    )
    const filter = { name: 'crowd' }
    const answer = await act('ada', 'deleteJobs', matching(filter, 1_001))
    expect(answer).toMatchObject({ remaining: 1 })
    expect(new Set(answer.results)).toEqual(new Set(['DeleteJobSuccess']))
    expect(answer.results).toHaveLength(1_000)
    expect(await act('ada', 'deleteJobs', matching(filter, 1))).toMatchObject({ remaining: 0 })
    expect(await readStates('crowd')).toEqual(['QUEUED'])
  })
})
