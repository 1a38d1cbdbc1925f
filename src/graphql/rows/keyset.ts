import type { Sql } from '../../platform/tx.ts'
import { decodeCursor, encodeCursor, filterHash, invalidCursor } from './cursor.ts'
import { type PageArgs, pageSize } from './page.ts'

/**
 * The one way in which lists are paged: by comparison with the sort key of the row at the cursor, never by OFFSET. So a
 * walk over a list that changes meanwhile shows every row that stays exactly once, and page 1,000 costs what page 1
 * does.
 *
 * Lists of many parents (the runs of each of a hundred jobs) are read by one statement: a lateral join over the parents
 * with the limit inside. A list without parents is the case of one.
 */

export interface Listing {
  /** Name of list and order; part of every cursor. */
  name: string
  /** FROM clause; may use parent.id. */
  from: string
  /** Text that identifies the row. */
  id: string
  /** Sort key; the last part is unique. Row comparison wants one direction for all parts. */
  keys: readonly Key[]
  descending: boolean
}

export interface Key {
  sql: string
  type: 'timestamptz' | 'bigint' | 'text'
}

export type Bind = (value: unknown) => string

/** A page that was asked for; cursors are checked and opened. */
export interface PageRequest {
  limit: number
  backwards: boolean
  after: readonly string[] | null
  before: readonly string[] | null
}

export interface Page {
  items: readonly { id: string; cursor: string }[]
  hasNextPage: boolean
  hasPreviousPage: boolean
}

/** `filter` decides which rows the list has; a cursor is valid for the same filter only. */
export function requestPage(listing: Listing, filter: unknown, args: PageArgs): PageRequest {
  const hash = filterHash(filter)
  const open = (cursor: string | null | undefined) => {
    if (cursor === null || cursor === undefined) return null
    const { l, f, key } = decodeCursor('list', cursor)
    if (l !== listing.name || f !== hash || !fits(listing.keys, key)) throw invalidCursor()
    return key
  }
  return { ...pageSize(args), after: open(args.after), before: open(args.before) }
}

const forms = {
  timestamptz: /^(infinity|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?[+-]\d\d(:\d\d)?)$/,
  bigint: /^-?\d{1,18}$/,
  text: /^[\w.:-]{1,255}$/,
} as const satisfies Record<Key['type'], RegExp>

/** What PostgreSQL cannot read as the key's type must not reach it. */
const fits = (keys: readonly Key[], values: readonly string[]) =>
  keys.length === values.length && keys.every(({ type }, index) => forms[type].test(values[index] ?? ''))

export interface PageQuery {
  listing: Listing
  page: PageRequest
  /** Parents by their id; [''] for a list without any. The filter of a nested list is its parent's id. */
  parents: readonly string[]
  /** Hash source of each parent's list, the same as given to requestPage. */
  filterOf: (parent: string) => unknown
  where: (bind: Bind) => string
}

interface Row {
  parent: string
  id: string
  key: string[]
}

export async function readPages(sql: Sql, query: PageQuery): Promise<ReadonlyMap<string, Page>> {
  const { text, values } = pageSql(query)
  const found = new Map<string, Row[]>(query.parents.map((parent) => [parent, []]))
  for (const row of await sql.query<Row>(text, values)) found.get(row.parent)?.push(row)
  return new Map([...found].map(([parent, rows]) => [parent, toPage(query, query.filterOf(parent), rows)]))
}

function pageSql({ listing, page, parents, where }: PageQuery): { text: string; values: unknown[] } {
  const values: unknown[] = []
  const bind: Bind = (value) => `$${values.push(value)}`
  const { keys, descending } = listing
  const direction = descending === page.backwards ? 'ASC' : 'DESC'
  const row = keys.map(({ sql }) => sql).join(', ')
  const beyond = (key: readonly string[] | null, sign: '<' | '>') =>
    key === null ? '' : `AND (${row}) ${sign} (${keys.map(({ type }, i) => `${bind(key[i])}::${type}`).join(', ')})`
  const parentIds = bind(parents)
  const inner = `SELECT ${listing.id} AS id, ARRAY[${keys.map(({ sql }) => `(${sql})::text`).join(', ')}] AS key,
      ${keys.map(({ sql }, i) => `${sql} AS k${i}`).join(', ')}
    FROM ${listing.from} WHERE ${where(bind)} ${beyond(page.after, descending ? '<' : '>')} ${beyond(page.before, descending ? '>' : '<')}
    ORDER BY ${keys.map(({ sql }) => `${sql} ${direction}`).join(', ')} LIMIT ${bind(page.limit + 1)}::int`
  const text = `SELECT parent.id AS parent, page.id, page.key
    FROM unnest(${parentIds}::text[]) AS parent(id) CROSS JOIN LATERAL (${inner}) page
    ORDER BY parent.id, ${keys.map((_, i) => `page.k${i} ${direction}`).join(', ')}`
  return { text, values }
}

/** One row more than wanted was read: its presence says that there is a next page. */
function toPage({ listing, page }: PageQuery, filter: unknown, rows: readonly Row[]): Page {
  const f = filterHash(filter)
  const more = rows.length > page.limit
  const kept = rows.slice(0, page.limit)
  if (page.backwards) kept.reverse()
  return {
    items: kept.map(({ id, key }) => ({ id, cursor: encodeCursor('list', { l: listing.name, f, key }) })),
    hasNextPage: page.backwards ? page.before !== null : more,
    hasPreviousPage: page.backwards ? more : page.after !== null,
  }
}

/** Lists are counted up to here. */
export const countMax = 10_000

/** How many rows each parent's list has; null: more than are counted. */
export async function readCounts(
  sql: Sql,
  { listing, parents, where }: Pick<PageQuery, 'listing' | 'parents' | 'where'>,
): Promise<ReadonlyMap<string, number | null>> {
  const values: unknown[] = []
  const bind: Bind = (value) => `$${values.push(value)}`
  const rows = await sql.query<{ parent: string; count: number }>(
    `SELECT parent.id AS parent, counted.count FROM unnest(${bind(parents)}::text[]) AS parent(id)
     CROSS JOIN LATERAL (SELECT count(*) AS count FROM
       (SELECT 1 FROM ${listing.from} WHERE ${where(bind)} LIMIT ${countMax + 1}) each) counted`,
    values,
  )
  return new Map(rows.map(({ parent, count }) => [parent, count > countMax ? null : count]))
}
