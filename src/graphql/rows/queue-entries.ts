import { type Viewer, visibleTo } from '../../domain/access.ts'
import { type LineKey, readLine } from '../../domain/queue/line.ts'
import { readLineOf } from '../../domain/queue/own-line.ts'
import { holdingSql, isFinal, isHolding, type JobState } from '../../domain/state.ts'
import type { Sql } from '../../platform/tx.ts'
import { encodeCursor, filterHash } from './cursor.ts'
import { type Bind, type Page, type PageRequest, readPages } from './keyset.ts'
import { queueEntriesListing } from './listings.ts'

/**
 * Pages of the jobs of a pool in queue order. The line may have a million: forwards, a page is put together of four
 * stretches, each found by an index of its own. A viewer who may not see all jobs gets the line of its own jobs.
 */

export interface EntriesQuery {
  pool: string
  states: readonly JobState[]
  viewer: Viewer
  filter: unknown
}

export const entriesWhere =
  ({ viewer, pool, states }: EntriesQuery) =>
  (bind: Bind) =>
    `${visibleTo(viewer, 'j', bind)} AND j.pool = ${bind(pool)} AND j.state = ANY(${bind(states)}::text[]::job_state[])`

export async function readEntries(sql: Sql, query: EntriesQuery, page: PageRequest): Promise<Page> {
  const { filter } = query
  const where = entriesWhere(query)
  if (page.backwards || page.before) {
    const pages = await readPages(sql, {
      listing: queueEntriesListing,
      page,
      parents: [''],
      filterOf: () => filter,
      where,
    })
    return pages.get('') ?? { items: [], hasNextPage: false, hasPreviousPage: false }
  }
  const items: Page['items'][number][] = []
  for (const stretch of stretches) {
    const left = page.limit + 1 - items.length
    const states = query.states.filter((state) => stretch.states(state))
    if (left > 0 && states.length > 0)
      items.push(...(await stretch.read(sql, { ...query, states }, { ...page, limit: left })))
  }
  return {
    items: items.slice(0, page.limit),
    hasNextPage: items.length > page.limit,
    hasPreviousPage: page.after !== null,
  }
}

interface Stretch {
  states: (state: JobState) => boolean
  read(sql: Sql, query: EntriesQuery, page: PageRequest): Promise<Page['items']>
}

/** A query for the ids of the jobs that may be in a stretch. */
type Ids = (bind: Bind, pool: string) => string

/**
 * They become an array: PostgreSQL reads them first, by their own index, and then these jobs by their keys. From a subquery
 * in IN it may make a join that reads all jobs.
 */
const holding: Ids = (bind, pool) =>
  `SELECT r.job_id FROM run r WHERE r.pool = ${bind(pool)} AND r.state IN ${holdingSql}`
const pending: Ids = () => "SELECT a.job_id FROM approval a WHERE a.status = 'PENDING'"

const stretches: readonly Stretch[] = [
  { states: isHolding, read: listed(holding) },
  { states: (state) => state === 'QUEUED', read: waiting },
  { states: (state) => state === 'BLOCKED', read: listed(pending) },
  { states: isFinal, read: listed() },
]

/** Without `ids`: all jobs may be in it. */
function listed(ids?: Ids): Stretch['read'] {
  return async (sql, query, page) => {
    const where = (bind: Bind) =>
      `${entriesWhere(query)(bind)} AND ${ids ? `j.id = ANY(ARRAY(${ids(bind, query.pool)}))` : 'TRUE'}`
    const filterOf = () => query.filter
    const pages = await readPages(sql, { listing: queueEntriesListing, page, parents: [''], filterOf, where })
    return pages.get('')?.items ?? []
  }
}

/** Index of the QUEUED jobs among the stretches, as the listing counts them. */
const waitingGroup = 1

async function waiting(
  sql: Sql,
  { pool, viewer, filter }: EntriesQuery,
  { after, limit }: PageRequest,
): Promise<Page['items']> {
  const [group = -1, ...key] = after?.slice(0, 4).map(Number) ?? []
  if (group > waitingGroup) return []
  const [lead = 0, minusBid = 0, sequence = 0] = key
  const from: LineKey | null = group === waitingGroup ? [lead, minusBid, sequence] : null
  const f = filterHash(filter)
  const stretch = { after: from, limit }
  const seesAll = viewer.permissions.has('job.view.all')
  if (!seesAll && !viewer.permissions.has('job.view.own')) return []
  const line = seesAll ? readLine(sql, pool, stretch) : readLineOf(sql, { pool, userId: viewer.userId }, stretch)
  return (await line).map((entry) => ({
    id: entry.jobId,
    cursor: encodeCursor('list', {
      l: queueEntriesListing.name,
      f,
      key: [waitingGroup, entry.lead, entry.minusBid, entry.sequence, entry.jobId].map(String),
    }),
  }))
}
