import { type Viewer, visibleTo } from '../../domain/access.ts'
import { readLine } from '../../domain/queue/line.ts'
import { readUserLine } from '../../domain/queue/own-line.ts'
import { holdingSql, isFinal, isHolding, type JobState } from '../../domain/state.ts'
import type { Sql } from '../../platform/tx.ts'
import { encodeCursor, hashFilter } from './cursor.ts'
import { type Bind, type Page, type PageRequest, readRootPage } from './keyset.ts'
import { queueEntriesListing } from './listings.ts'

/**
 * Pages of the jobs of a pool in queue order. A queue may have a million jobs, so a forward page combines four segments
 * with one index each. Viewers without access to all jobs get their own jobs.
 */

export interface EntriesQuery {
  pool: string
  states: readonly JobState[]
  viewer: Viewer
  filter: unknown
}

export const buildEntriesWhere =
  ({ viewer, pool, states }: EntriesQuery) =>
  (bind: Bind) =>
    `${visibleTo(viewer, 'j', bind)} AND j.pool = ${bind(pool)} AND j.state = ANY(${bind(states)}::text[]::job_state[])`

export async function readEntries(sql: Sql, query: EntriesQuery, page: PageRequest): Promise<Page> {
  const where = buildEntriesWhere(query)
  if (page.backwards || page.before)
    return readRootPage(sql, { listing: queueEntriesListing, page, filter: query.filter, where })
  const items: Page['items'][number][] = []
  for (const segment of segments) {
    const left = page.limit + 1 - items.length
    const states = query.states.filter((state) => segment.states(state))
    if (left > 0 && states.length > 0)
      items.push(...(await segment.read(sql, { ...query, states }, { ...page, limit: left })))
  }
  return {
    items: items.slice(0, page.limit),
    hasNextPage: items.length > page.limit,
    hasPreviousPage: page.after !== null,
  }
}

interface Segment {
  states: (state: JobState) => boolean
  read(sql: Sql, query: EntriesQuery, page: PageRequest): Promise<Page['items']>
}

type Ids = (bind: Bind, pool: string) => string

/**
 * An array makes PostgreSQL read the ids by their index first and then the jobs by key. With IN it may plan a join that
 * reads all jobs.
 */
const holdingIds: Ids = (bind, pool) =>
  `SELECT r.job_id FROM run r WHERE r.pool = ${bind(pool)} AND r.state IN ${holdingSql}`
const pendingIds: Ids = () => "SELECT a.job_id FROM approval a WHERE a.status = 'PENDING'"

const segments: readonly Segment[] = [
  { states: isHolding, read: createReader(holdingIds) },
  { states: (state) => state === 'QUEUED', read: readWaiting },
  { states: (state) => state === 'BLOCKED', read: createReader(pendingIds) },
  { states: isFinal, read: createReader() },
]

function createReader(ids?: Ids): Segment['read'] {
  return async (sql, query, page) => {
    const where = (bind: Bind) =>
      `${buildEntriesWhere(query)(bind)} AND ${ids ? `j.id = ANY(ARRAY(${ids(bind, query.pool)}))` : 'TRUE'}`
    const { items } = await readRootPage(sql, { listing: queueEntriesListing, page, filter: query.filter, where })
    return items
  }
}

/** Index of the QUEUED segment in the sort key of the listing. */
const waitingGroup = 1

async function readWaiting(
  sql: Sql,
  { pool, viewer, filter }: EntriesQuery,
  { after, limit }: PageRequest,
): Promise<Page['items']> {
  const [group = -1, lead = 0, minusBid = 0, sequence = 0] = after?.map(Number) ?? []
  if (group > waitingGroup) return []
  const segment = { after: group === waitingGroup ? ([lead, minusBid, sequence] as const) : null, limit }
  const f = hashFilter(filter)
  const seesAll = viewer.permissions.has('job.view.all')
  if (!seesAll && !viewer.permissions.has('job.view.own')) return []
  const line = seesAll ? readLine(sql, pool, segment) : readUserLine(sql, { pool, userId: viewer.userId }, segment)
  return (await line).map((entry) => ({
    id: entry.jobId,
    cursor: encodeCursor('list', {
      l: queueEntriesListing.name,
      f,
      key: [waitingGroup, entry.lead, entry.minusBid, entry.sequence, entry.jobId].map(String),
    }),
  }))
}
