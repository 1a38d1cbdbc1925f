import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { getOperationAST, parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { anonymous, type Viewer } from '../../../src/domain/access.ts'
import { computeCost } from '../../../src/graphql/admission/cost.ts'
import { TrustedDocuments } from '../../../src/graphql/admission/trusted-documents.ts'
import {
  argumentKibCost,
  checkCost,
  countedJobsCost,
  limits,
  numbersCost,
  questionCost,
  readCost,
  scanCost,
  viewSearchCost,
} from '../../../src/graphql/caller-limits.ts'
import { createListReads } from '../../../src/graphql/rows/list-reads.ts'
import { schema } from '../../../src/graphql/schema/schema.ts'
import type { GraphqlEngine } from '../../../src/graphql/transport/engine.ts'
import { PostHandler } from '../../../src/graphql/transport/json-post.ts'
import { cancelBeforeTimeoutMs } from '../../../src/platform/connection.ts'
import type { Db } from '../../../src/platform/db.ts'
import { type Sql, type TransactionOptions, Unavailable } from '../../../src/platform/tx.ts'
import { data, transports } from '../../support/client.ts'
import { startServer, statementsPerUserMax } from '../../support/server.ts'
import { until } from '../../support/until.ts'

/** Expensive work has a cost, and one user cannot block the server with it. */

function costIn(query: string, values: Record<string, unknown> = {}): number {
  const document = parse(query)
  const operation = getOperationAST(document)
  if (!operation) throw new Error('The document has no operation')
  return computeCost({ schema, document, operation, values }, Number.POSITIVE_INFINITY)
}

const one = '{ spec: { command: ["true"] }, noWait: true }'
const aliases = (count: number, field: string) => Array.from({ length: count }, (_, i) => `a${i}: ${field}`).join(' ')
const submit = 'mutation ($input: SubmitJobInput!) { submitJob(input: $input) { __typename } }'
const withText = (kib: number) => ({ input: { spec: { command: ['x'.repeat(kib * 1_024)] } } })

describe('the cost of a document', () => {
  it.each<[name: string, query: string, reads: number, cost: number]>([
    ['a page', '{ jobs(first: 1) { nodes { id } } }', 2, 2],
    ['a name', '{ jobs(first: 1, filter: { name: "no1" }) { nodes { id } } }', 2, 2],
    ['the beginning of a name', '{ jobs(first: 1, filter: { name: "no1*" }) { nodes { id } } }', 2, 2],
    ['the middle of a name', '{ jobs(first: 1, filter: { name: "*no1*" }) { nodes { id } } }', 2, scanCost + 1],
    ['the end of a name', '{ jobs(first: 1, filter: { name: "?no1" }) { nodes { id } } }', 2, scanCost + 1],
    ['a count, once for its list', '{ jobs(first: 100) { totalCount } }', 1, 1 + numbersCost],
    ['a count of decisions', '{ viewer { pendingDecisions } }', 1, 0.5 + numbersCost],
    [
      'counts below a list',
      '{ jobs(first: 100) { nodes { runs(first: 3) { totalCount } } } }',
      3,
      1 + 100 * (1.5 + numbersCost),
    ],
    [
      'numbers by user',
      '{ jobCounts(by: USER, first: 10) { rows { key byState { count } } } }',
      3,
      countedJobsCost + 10 * (0.5 + 1 + 4 * 0.5),
    ],
    [
      'the end of a queue',
      '{ pool { workload { entries(last: 1) { nodes { id } } } } }',
      4,
      numbersCost + scanCost + 1.5,
    ],
    ['saved views, as many as there may be', '{ savedViews { id search } }', 1, 1 + 500 * (0.5 + viewSearchCost)],
    [
      'the numbers of a queue',
      '{ pool { workload { byUser { count } } } viewer { workload { pendingCount } } }',
      5,
      2 * numbersCost + 1 + 0.5 + 100 * 0.5 + 0.5,
    ],
    ['a check of the data', '{ selfCheck { ok } }', 1, checkCost + 0.5],
    ['a check of the audit log', '{ verifyAudit { ok } }', 1, checkCost + 0.5],
    [
      'previews',
      `{ ${aliases(20, `previewJob(input: { submit: ${one} }) { __typename }`)} }`,
      20,
      20 * (questionCost + 1.5),
    ],
    [
      'submissions that start now or never',
      `mutation { ${aliases(20, `submitJob(input: ${one}) { __typename }`)} }`,
      20,
      20 * (questionCost + 1.5),
    ],
    [
      'many submissions that start now or never',
      `mutation { submitJobs(input: { submissions: [${one}, ${one}] }) { ... on SubmitJobsSuccess { results { __typename } } } }`,
      2,
      2 * questionCost + 1 + 2 * 2 * 0.5,
    ],
    [
      'retries that start now or never',
      'mutation { retryJob(input: { jobId: "job_1", noWait: true }) { __typename } }',
      1,
      questionCost + 1.5,
    ],
  ])('is as specified for %s', (_name, query, reads, cost) => {
    expect(costIn(query)).toBe(Math.ceil(reads * readCost + cost))
  })

  it('includes the size of an argument once for each field that uses it', () => {
    expect(costIn(submit, withText(0))).toBe(readCost + 2)
    expect(costIn(submit, withText(1_000))).toBe(readCost + 2 + 1_000 * argumentKibCost)
    const twice = submit.replace('submitJob', 'b: submitJob(input: $input) { __typename } submitJob')
    expect(costIn(twice, withText(1_000))).toBe(2 * (readCost + 1.5 + 1_000 * argumentKibCost))
    expect(costIn(`{ job(id: "${'x'.repeat(2_048)}") { id } }`)).toBe(readCost + 1 + 2 * argumentKibCost)
  })

  it.each(Object.entries(transports))('exceeds the limit for 20 counts by glob over %s', async (_name, transport) => {
    await using server = await startServer()
    const statements = server.countStatements()
    const query = aliases(20, 'jobs(first: 1, filter: { name: "*no1*" }) { totalCount }')
    const { errors } = await transport(server.url, `{ ${query} }`)
    expect(errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX')
    expect(statements.filter((text) => /\bjob\b/.test(text))).toEqual([])
  })
})

describe('list queries', () => {
  /** A database whose statements end when the test ends them. */
  function held() {
    const begun: (() => void)[] = []
    const options: (TransactionOptions | undefined)[] = []
    const transaction = (_work: (sql: Sql) => Promise<unknown>, given?: TransactionOptions) => {
      options.push(given)
      return new Promise<unknown>((resolve) => begun.push(() => resolve([])))
    }
    return { lists: createListReads({ transaction } as Db), begun, options }
  }

  it('of one user run two at a time, and do not delay list queries of other users', async () => {
    const { lists, begun } = held()
    const reads = Array.from({ length: 5 }, () => lists.sqlFor('ann').query('SELECT 1'))
    expect(begun).toHaveLength(limits.listsInFlightMax)
    void lists.sqlFor('bob').query('SELECT 1')
    expect(begun).toHaveLength(limits.listsInFlightMax + 1)
    for (let i = 0; i < 6; i++) {
      begun[i]?.()
      await new Promise(setImmediate)
    }
    expect(await Promise.all(reads)).toHaveLength(5)
  })

  it('have a statement timeout, and run without parallel workers in PostgreSQL', () => {
    const { lists, options } = held()
    void lists.sqlFor('ann').query('SELECT 1')
    expect(options).toEqual([
      { statementMsMax: limits.listMsMax + cancelBeforeTimeoutMs, settings: { max_parallel_workers_per_gather: '0' } },
    ])
  })

  it('that exceed the timeout fail with an error that suggests a remedy', async () => {
    const cancelled = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
    const failing = (error: unknown) =>
      createListReads({ transaction: () => Promise.reject(error) } as unknown as Db)
        .sqlFor('ann')
        .query('SELECT 1')
    await expect(failing(new Unavailable('not now', { cause: cancelled }))).rejects.toMatchObject({
      message: expect.stringMatching(/^Reading this list takes longer than 5 s; narrow it by createdAfter/),
      extensions: { code: 'QUERY_TIMEOUT' },
    })
    await expect(failing(new Unavailable('not now'))).rejects.toThrow('not now')
  })

  it.each([
    ['lists', 'job', 'jobs(first: 1) { nodes { id } }', limits.listsInFlightMax],
    ['other statements', 'saved_view', aliases(20, 'savedViews { id }'), statementsPerUserMax],
  ])('that hang leave database connections for other users: %s', async (_what, table, query, waitingMax) => {
    await using server = await startServer({
      authenticate: (name, { users }) => users.get(name ?? '') ?? null,
      facts: { singleUser: false },
    })
    for (const name of ['ann', 'bob']) await server.user(name, 'RESEARCHER')
    const holder = await server.domain.db.pool.connect()
    try {
      // On a busy machine the test exceeds the idle timeout.
      const begin = 'BEGIN; SET LOCAL idle_in_transaction_session_timeout TO 0'
      await holder.query(`${begin}; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
      const requests = Array.from({ length: 30 }, () =>
        transports.http(server.url, `{ ${query} }`, {}, { authorization: 'ann' }),
      )
      const waiting = async () =>
        Number(
          (
            await server.domain.db.pool.query(
              `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '${table}'::regclass`,
            )
          ).rows[0].count,
        )
      await until(async () => (await waiting()) === waitingMax, { what: 'statements wait for the table' })
      const answer = await transports.http(server.url, '{ viewer { user { name } } }', {}, { authorization: 'bob' })
      expect(answer.data).toEqual({ viewer: { user: { name: 'bob' } } })
      expect(await waiting()).toBeLessThanOrEqual(waitingMax)
      await holder.query('ROLLBACK')
      expect((await Promise.all(requests)).flatMap(({ errors = [] }) => errors)).toEqual([])
    } finally {
      holder.release(true)
    }
  })

  it('count a list once if several aliases select totalCount', async () => {
    await using server = await startServer()
    const statements = server.countStatements()
    await data(server.url, '{ teams { a: totalCount b: totalCount totalCount } }')
    expect(statements.filter((text) => text.includes('count(*)') && text.includes('team'))).toHaveLength(1)
  })
})

describe('large request bodies', () => {
  it('of one user are executed two at a time, and small ones immediately', async () => {
    const begun: string[] = []
    const ends: (() => void)[] = []
    const engine = {
      getResultForParams: (_given: unknown, { viewer }: { viewer: Viewer }) => {
        begun.push(viewer.userId)
        return new Promise((resolve) => ends.push(() => resolve({ data: {} })))
      },
    } as unknown as GraphqlEngine
    const posts = new PostHandler(engine, new TrustedDocuments({ byId: new Map(), freeText: 'ALL' }), () => null)
    const post = (userId: string, bytes: number) => {
      const body = Buffer.from('{"query":"{ serverInfo { name } }"}'.padEnd(bytes))
      const headers = { 'content-length': String(body.length) }
      const request = Object.assign(Readable.from([body]), { headers }) as unknown as IncomingMessage
      const response = { setHeader: () => undefined, end: () => undefined } as unknown as ServerResponse
      return posts.handle({ viewer: { ...anonymous, userId } }, { request, response })
    }
    const large = limits.largeBodyBytes + 1
    const all = Array.from({ length: 3 }, () => post('ann', large))
    all.push(post('ann', 10), post('bob', large))
    await until(() => begun.length === 4, { what: 'all but the third large one begin' })
    expect(begun.toSorted()).toEqual(['ann', 'ann', 'ann', 'bob'])
    ends[0]?.()
    await until(() => begun.length === 5, { what: 'the third large one begins' })
    for (const end of ends) end()
    await Promise.all(all)
  })
})
