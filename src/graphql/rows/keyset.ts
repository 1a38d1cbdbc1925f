import type { Sql } from '../../platform/tx.ts'
import { decodeCursor, encodeCursor, hashFilter, invalidCursor } from './cursor.ts'
import { type PageArgs, parsePageSize } from './page.ts'

/**
 * Keyset pagination for all lists: reading a changing list page by page returns every row that stays exactly once, and
 * page 1,000 costs as much as page 1. One statement reads the lists of many parents. A list without parents has the
 * single parent ''.
 */

export interface Listing {
  /** Name of list and order; part of every cursor. */
  name: string
  /** FROM clause; may use parent.id. */
  from: string
  id: string
  /** Sort key; the last part is unique. Row comparison needs one direction for all parts. */
  keys: readonly Key[]
  descending?: boolean
}

export interface Key {
  sql: string
  type: 'timestamptz' | 'bigint' | 'text'
}

export type Bind = (value: unknown) => string

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

/** Checks the arguments of a connection. Cursors are valid only for the same `filter`. */
export function parsePage(listing: Listing, filter: unknown, args: PageArgs): PageRequest {
  const hash = hashFilter(filter)
  const open = (cursor: string | null | undefined) => {
    if (cursor === null || cursor === undefined) return null
    const { l, f, key } = decodeCursor('list', cursor)
    if (l !== listing.name || f !== hash || !fitsTypes(listing.keys, key)) throw invalidCursor()
    return key
  }
  return { ...parsePageSize(args), after: open(args.after), before: open(args.before) }
}

const keyPatterns = {
  timestamptz: /^(infinity|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?[+-]\d\d(:\d\d)?)$/,
  bigint: /^-?\d{1,18}$/,
  text: /^[\w.:@+'-]{1,255}$/,
} as const satisfies Record<Key['type'], RegExp>

/** Rejects values that PostgreSQL cannot cast to the type of the key. */
const fitsTypes = (keys: readonly Key[], values: readonly string[]) =>
  keys.length === values.length && keys.every(({ type }, index) => keyPatterns[type].test(values[index] ?? ''))

export interface PageQuery {
  listing: Listing
  page: PageRequest
  parents: readonly string[]
  /** Returns the filter of a parent's list, as in parsePage. */
  filterOf: (parent: string) => unknown
  where: (bind: Bind) => string
}

interface Row {
  parent: string
  id: string
  key: string[]
}

export async function readPages(sql: Sql, query: PageQuery): Promise<ReadonlyMap<string, Page>> {
  const { text, values } = buildPageSql(query)
  const found = new Map<string, Row[]>(query.parents.map((parent) => [parent, []]))
  for (const row of await sql.query<Row>(text, values)) found.get(row.parent)?.push(row)
  return new Map([...found].map(([parent, rows]) => [parent, toPage(query, query.filterOf(parent), rows)]))
}

export const emptyPage: Page = { items: [], hasNextPage: false, hasPreviousPage: false }

export async function readRootPage(
  sql: Sql,
  { filter, ...query }: Pick<PageQuery, 'listing' | 'page' | 'where'> & { filter: unknown },
): Promise<Page> {
  const pages = await readPages(sql, { ...query, parents: [''], filterOf: () => filter })
  return pages.get('') ?? emptyPage
}

function buildPageSql({ listing, page, parents, where }: PageQuery): { text: string; values: unknown[] } {
  const values: unknown[] = []
  const bind: Bind = (value) => `$${values.push(value)}`
  const { keys, descending = false } = listing
  const direction = descending === page.backwards ? 'ASC' : 'DESC'
  const row = keys.map(({ sql }) => sql).join(', ')
  const compareWith = (key: readonly string[] | null, sign: '<' | '>') =>
    key === null ? '' : `AND (${row}) ${sign} (${keys.map(({ type }, i) => `${bind(key[i])}::${type}`).join(', ')})`
  const parentIds = bind(parents)
  const inner = `SELECT ${listing.id} AS id, ARRAY[${keys.map(({ sql }) => `(${sql})::text`).join(', ')}] AS key,
      ${keys.map(({ sql }, i) => `${sql} AS k${i}`).join(', ')}
    FROM ${listing.from} WHERE ${where(bind)} ${compareWith(page.after, descending ? '<' : '>')} ${compareWith(page.before, descending ? '>' : '<')}
    ORDER BY ${keys.map(({ sql }) => `${sql} ${direction}`).join(', ')} LIMIT ${bind(page.limit + 1)}::int`
  const text = `SELECT parent.id AS parent, page.id, page.key
    FROM unnest(${parentIds}::text[]) AS parent(id) CROSS JOIN LATERAL (${inner}) page
    ORDER BY parent.id, ${keys.map((_, i) => `page.k${i} ${direction}`).join(', ')}`
  return { text, values }
}

/** Builds the page. One row more than the limit was read: it shows that another page follows. */
function toPage({ listing, page }: PageQuery, filter: unknown, rows: readonly Row[]): Page {
  const f = hashFilter(filter)
  const more = rows.length > page.limit
  const kept = rows.slice(0, page.limit)
  if (page.backwards) kept.reverse()
  return {
    items: kept.map(({ id, key }) => ({ id, cursor: encodeCursor('list', { l: listing.name, f, key }) })),
    hasNextPage: page.backwards ? page.before !== null : more,
    hasPreviousPage: page.backwards ? more : page.after !== null,
  }
}

export const countMax = 10_000

export interface ListCount {
  /** Number of rows, at most `countMax`. */
  count: number
  isExact: boolean
}

/** Counts the rows of each parent's list. */
export async function readCounts(
  sql: Sql,
  { listing, parents, where }: Pick<PageQuery, 'listing' | 'parents' | 'where'>,
): Promise<ReadonlyMap<string, ListCount>> {
  const values: unknown[] = []
  const bind: Bind = (value) => `$${values.push(value)}`
  const rows = await sql.query<{ parent: string; count: number }>(
    `SELECT parent.id AS parent, counted.count FROM unnest(${bind(parents)}::text[]) AS parent(id)
     CROSS JOIN LATERAL (SELECT count(*) AS count FROM
       (SELECT 1 FROM ${listing.from} WHERE ${where(bind)} LIMIT ${countMax + 1}) each) counted`,
    values,
  )
  return new Map(
    rows.map(({ parent, count }) => [parent, { count: Math.min(count, countMax), isExact: count <= countMax }]),
  )
}
