import { truncate } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { createViewer } from '../../../src/domain/access.ts'
import type { JobFilter } from '../../../src/feed/filter.ts'
import { parsePage, readPages } from '../../../src/graphql/rows/keyset.ts'
import { type JobOrderField, jobsListing, queueEntriesListing } from '../../../src/graphql/rows/listings.ts'
import { readEntries } from '../../../src/graphql/rows/queue-entries.ts'
import { filterSql } from '../../../src/graphql/schema/jobs/job-filter.ts'
import '../../../src/graphql/schema/schema.ts' // the module of the filter is a part of it
import type { Sql } from '../../../src/platform/tx.ts'
import { openDatabase } from '../../support/database.ts'

/**
 * A page of `jobs` reads few table pages with any filter and order, even without a match. EXPLAIN counts the pages, so
 * the test does not measure time; bench/lists.ts does.
 */

const over = 12_000
const waiting = 300

const day = (n: number) => new Date(Date.UTC(2026, 0, n))

/** Inserts final jobs of 150 accounts in 2 queues, then waiting jobs. Another account owns the last 1,000 of each. */
const fillSql = `
INSERT INTO job (id, user_id, sequence, name, labels, project, spec, state, pool, queue, executor, account, base_priority, cpu_millis,
  memory_bytes, gpu, lane_id, created_at, finished_at, log_closed, started_at, state_reason)
SELECT 'job_' || lpad(n::text, 20, '0'), 'user_' || n % 100, n, 'train-' || n % 1000, jsonb_build_object('exp', 'e' || n % 500), 'p' || n % 200,
  jsonb_build_object('command', (SELECT jsonb_agg(md5(n::text || i)) FROM generate_series(1, 30) i)),
  (CASE WHEN n > $1 THEN 'QUEUED' WHEN n % 1000 = 0 THEN 'INTERRUPTED' WHEN n % 13 = 0 THEN 'FAILED' ELSE 'SUCCEEDED' END)::job_state,
  'sim', CASE WHEN n % 19 = 0 THEN 'night' ELSE 'default' END, CASE WHEN n % 19 = 1 THEN 'slurm' ELSE 'simulated' END, 'account' || n % 150,
  n % 4 * 10, 1000, 1, 0, gen_random_uuid(), made.at, CASE WHEN n <= $1 THEN made.at + n % 97 * interval '1 minute' END, n <= $1,
  CASE WHEN n <= $1 AND n % 50 > 0 THEN made.at + n % 97 * interval '30 seconds' END,
  CASE WHEN n <= $1 AND n % 1000 = 0 THEN 'PREEMPTED' WHEN n <= $1 AND n % 13 = 0 THEN CASE WHEN n % 7 = 0 THEN 'OOM_KILLED' ELSE 'EXIT_CODE' END END
FROM generate_series(1, $1::int + $2::int) n, LATERAL (SELECT timestamptz '2026-01-01Z' + n * interval '2 minutes' AS at) made`

const filters: Readonly<Record<string, JobFilter>> = {
  none: {},
  ids: { ids: ['job_none'] },
  WAITING: { stateCategories: ['WAITING'] },
  ACTIVE: { stateCategories: ['ACTIVE'] },
  FINAL: { stateCategories: ['FINAL'] },
  'not FINAL': { stateCategories: ['WAITING', 'ACTIVE'] },
  BLOCKED: { states: ['BLOCKED'] },
  FAILED: { states: ['FAILED'] },
  CANCELLED: { states: ['CANCELLED'] },
  INTERRUPTED: { states: ['INTERRUPTED'] },
  name: { name: 'train-17' },
  'name without a hit': { name: 'nothing' },
  'beginning of a name': { name: 'train-17*' },
  label: { labels: [{ key: 'exp', value: 'e17' }] },
  'label without a hit': { labels: [{ key: 'nothing' }] },
  project: { projects: ['p17'] },
  'project without a hit': { projects: ['nothing'] },
  user: { users: ['user_17'] },
  'user without a hit': { users: ['nothing'] },
  'team without a hit': { teams: ['nothing'] },
  account: { accounts: ['account17'] },
  'account without a hit': { accounts: ['nothing'] },
  'two users': { users: ['user_17', 'user_18'] },
  'three projects': { projects: ['p17', 'p18', 'nothing'] },
  queue: { queues: ['night'] },
  'queue without a hit': { queues: ['nothing'] },
  'pool without a hit': { pools: ['nothing'] },
  executor: { executors: ['slurm'] },
  'executor without a hit': { executors: ['nothing'] },
  'queue and executor that never met': { queues: ['night'], executors: ['slurm'] },
  'queue without a hit, FINAL': { queues: ['nothing'], stateCategories: ['FINAL'] },
  'account without a hit, WAITING': { accounts: ['nothing'], stateCategories: ['WAITING'] },
  'created late': { createdAfter: day(17) },
  'created early': { createdBefore: day(1.1) },
  'text without a hit, created late': { text: 'nothing', createdAfter: day(17) },
  reason: { stateReasons: ['EXIT_CODE'] },
  'rare reason': { stateReasons: ['PREEMPTED'] },
  'reason without a hit': { stateReasons: ['RESUME_FAILED'] },
  'two reasons': { stateReasons: ['OOM_KILLED', 'PREEMPTED'] },
  'node without a hit': { node: 'nothing' },
  'started early': { startedBefore: day(1.1) },
  'started late': { startedAfter: day(17) },
  'started never': { startedAfter: day(40) },
  'user, FAILED': { users: ['user_17'], states: ['FAILED'] },
  'user, WAITING': { users: ['user_17'], stateCategories: ['WAITING'] },
  'pool, ACTIVE': { pools: ['sim'], stateCategories: ['ACTIVE'] },
  'pool, FAILED': { pools: ['sim'], states: ['FAILED'] },
  'label, FAILED': { labels: [{ key: 'exp', value: 'e17' }], states: ['FAILED'] },
  'project, created late': { projects: ['p17'], createdAfter: day(17) },
  'user, created early': { users: ['user_17'], createdBefore: day(1.1) },
  'node, reason': { node: 'nothing', stateReasons: ['PREEMPTING'] },
  'finished early': { finishedBefore: day(1.1) },
  'finished never': { finishedAfter: day(40) },
}

/**
 * Documented in docs/api.md: if matches are at the end of another order, or several values are sorted other than by
 * creation, the whole list is read. A text has no index.
 */
const walks = [
  'created late by PRIORITY ASC',
  'created early by PRIORITY DESC',
  'started late by CREATED_AT ASC',
  'started late by PRIORITY ASC',
  'text without a hit, created late by PRIORITY DESC',
  'text without a hit, created late by PRIORITY ASC',
  'two users by STARTED_AT DESC',
  'two users by STARTED_AT ASC',
  'two users by FINISHED_AT DESC',
  'two users by FINISHED_AT ASC',
]

let tablePages: number
const database = await openDatabase({ isNew: true })
beforeAll(async () => {
  await database.db.transaction(async (sql) => {
    await sql.query("SET LOCAL session_replication_role = replica; SET LOCAL statement_timeout = '2min'")
    await sql.query(fillSql, [over, waiting])
  })
  await database.db.pool.query('VACUUM ANALYZE job')
  const [size] = await database.db.sql.query<{ pages: number }>(
    "SELECT (pg_relation_size('job') / current_setting('block_size')::int)::int AS pages",
  )
  tablePages = size?.pages ?? 0
})

interface Plan {
  'Node Type': string
  'Plan Rows': number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  'Relation Name'?: string
  'Index Name'?: string
  Plans?: Plan[]
}

interface Explained {
  'QUERY PLAN': [{ Plan: Plan }]
}

/** Collects the plans of statements, which all return no rows. */
async function explain(
  read: (sql: Sql) => Promise<unknown>,
  options = 'ANALYZE, BUFFERS, TIMING OFF',
): Promise<Plan[]> {
  const plans: Plan[] = []
  await read({
    async query(text, values) {
      const [row] = await database.db.sql.query<Explained>(`EXPLAIN (${options}, FORMAT JSON) ${text}`, values)
      if (row) plans.push(row['QUERY PLAN'][0].Plan)
      return []
    },
  })
  return plans
}

type Order = readonly [JobOrderField, 'ASC' | 'DESC']

/** Explains the first page of a list. */
async function explainPage(filter: JobFilter, [by, direction]: Order, options?: string): Promise<Plan[]> {
  const listing = jobsListing(by, direction === 'DESC')
  const page = parsePage(listing, filter, { first: 20 })
  const where = (bind: (value: unknown) => string) => filterSql(filter, bind, by)
  const query = { listing, page, parents: [''], filterOf: () => filter, where }
  return explain((sql) => readPages(sql, query), options)
}

/** Counts the table and index pages that a list reads. */
async function countPages(filter: JobFilter, order: Order): Promise<number> {
  const plans = await explainPage(filter, order)
  return plans.reduce((sum, plan) => sum + plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], 0)
}

const orders = (['CREATED_AT', 'STARTED_AT', 'FINISHED_AT', 'PRIORITY'] as const).flatMap((by) => [
  [by, 'DESC'] as const,
  [by, 'ASC'] as const,
])

describe('a page of jobs', () => {
  it.each(Object.entries(filters))('filtered by %s reads few database pages in every order', async (name, filter) => {
    const many: string[] = []
    for (const order of orders) {
      const pages = await countPages(filter, order)
      const what = `${name} by ${order.join(' ')}`
      if (pages > tablePages / 5 && !walks.includes(what)) many.push(`${what}: ${pages} of ${tablePages}`)
    }
    expect(many).toEqual([])
  })

  it.each(['accounts', 'projects', 'users', 'queues'] as const)(
    'is estimated as empty by PostgreSQL for %s that no job has',
    async (field) => {
      const values: unknown[] = []
      const where = filterSql({ [field]: ['nothing'] }, (value) => `$${values.push(value)}`, 'PRIORITY')
      const [row] = await database.db.sql.query<Explained>(
        `EXPLAIN (FORMAT JSON) SELECT FROM job j WHERE ${where}`,
        values,
      )
      expect(row?.['QUERY PLAN'][0].Plan['Plan Rows']).toBeLessThan(3)
    },
  )
})

/** Indexes that a plan uses for the job table; null: a sequential scan. */
const listJobReads = (plan: Plan): (string | null)[] => [
  ...(plan['Relation Name'] === 'job' ? [plan['Index Name'] ?? null] : []),
  ...(plan.Plans ?? []).flatMap(listJobReads),
]

it('the running and the blocked entries of a workload are read through an index', async () => {
  const viewer = createViewer({ id: 'user_17', name: 'ann', level: 'ADMIN', allow: [], deny: [] })
  const filter = { pools: ['sim'] }
  const page = parsePage(queueEntriesListing, filter, { first: 20 })
  for (const states of [['STARTING', 'RUNNING', 'CANCELLING'], ['BLOCKED']] as const) {
    const plans = await explain((sql) => readEntries(sql, { pool: 'sim', states, viewer, filter }, page))
    expect(plans.flatMap(listJobReads)).toEqual(['job_pkey'])
  }
})

/** For filters that match few jobs: the indexes of which the list must use one, in every order. */
const ownIndexes: Readonly<Record<string, readonly string[]>> = {
  ids: ['job_pkey'],
  ACTIVE: ['run_holding'],
  BLOCKED: ['approval_status_expires_at_idx'],
  CANCELLED: ['job_unsuccessful'],
  INTERRUPTED: ['job_unsuccessful'],
  name: ['job_named'],
  'name without a hit': ['job_named'],
  label: ['job_labelled'],
  'label without a hit': ['job_labelled'],
  'project without a hit': ['job_of_project'],
  'user without a hit': ['job_user_id_created_at_id_idx'],
  'team without a hit': ['job_of_team'],
  'account without a hit': ['job_by_place'],
  'queue without a hit': ['job_by_place'],
  'pool without a hit': ['job_by_place'],
  'executor without a hit': ['job_by_place'],
  'created early': ['job_created_at_id_idx'],
  'rare reason': ['job_of_reason'],
  'reason without a hit': ['job_of_reason'],
  'node without a hit': ['run_holding'],
  'started early': ['job_by_start'],
  'finished early': ['job_by_finish'],
  'user, FAILED': ['job_user_id_created_at_id_idx', 'job_unsuccessful'],
  'user, WAITING': ['job_alive_of_user'],
  'pool, ACTIVE': ['run_holding'],
  'label, FAILED': ['job_labelled'],
  'project, created late': ['job_of_project'],
  'user, created early': ['job_user_id_created_at_id_idx', 'job_created_at_id_idx'],
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** More rows than a list may sort. */
const sortedMax = 2_000

/** The planner takes the size from the file and the rows per page from the statistics, so empty pages count as jobs. */
describe('with half a million jobs', () => {
  beforeAll(async () => {
    const factor = 500_000 / (over + waiting)
    const [file] = await database.db.sql.query<{ path: string; pageBytes: number }>(
      `SELECT current_setting('data_directory') || '/' || pg_relation_filepath('job') AS path,
         current_setting('block_size')::int AS "pageBytes"`,
    )
    if (!file) throw new Error('The table job has no file')
    await truncate(file.path, Math.round(tablePages * factor) * file.pageBytes)
    await database.db.sql.query(
      `UPDATE pg_class SET reltuples = reltuples * $1::float4,
         relpages = CASE relkind WHEN 'r' THEN round(relpages * $1::float8)::int ELSE relpages END
       WHERE oid = 'job'::regclass OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'job'::regclass)`,
      [factor],
    )
  })

  it.each(Object.entries(filters))('a list filtered by %s uses an index', async (name, filter) => {
    for (const order of orders) {
      const what = `${name} by ${order.join(' ')}`
      const nodes = (await explainPage(filter, order, 'COSTS')).flatMap(nodesOf)
      const scans = nodes.filter((node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'job')
      expect(scans, what).toEqual([])
      for (const node of nodes.filter((each) => each['Node Type'] === 'Sort'))
        expect(node['Plan Rows'], what).toBeLessThan(sortedMax)
      const own = ownIndexes[name]
      const used = nodes.flatMap((node) => node['Index Name'] ?? [])
      if (own)
        expect(
          used.filter((index) => own.includes(index)),
          `${what}: ${used.join()}`,
        ).not.toEqual([])
    }
  })
})
