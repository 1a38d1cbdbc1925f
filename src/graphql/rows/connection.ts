import DataLoader from 'dataloader'
import type { Sql } from '../../platform/tx.ts'
import {
  type Bind,
  emptyPage,
  type ListCount,
  type Listing,
  type Page,
  type PageQuery,
  type PageRequest,
  parsePage,
  readCounts,
  readPages,
  readRootPage,
} from './keyset.ts'
import type { PageArgs } from './page.ts'

export interface ConnectionShape<Node> {
  edges: { cursor: string; node: Node }[]
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null }
  count: Count
}

/** Returns the number of rows of the whole list. The database counts them once, at the first call. */
export type Count = () => Promise<ListCount>

const noRows: ListCount = { count: 0, isExact: true }

export interface ListPage {
  page: Page
  count: Count
}

/** Loads the rows of a page, omitting rows that were deleted since. `cursorOf` replaces the cursors of the list. */
export async function toConnection<Node>(
  { page, count }: ListPage,
  load: (ids: string[]) => Promise<readonly (Node | Error | null)[]>,
  cursorOf?: (node: Node) => string,
): Promise<ConnectionShape<Node>> {
  const nodes = await load(page.items.map(({ id }) => id))
  const edges = page.items.flatMap(({ cursor }, index) => {
    const node = nodes[index]
    if (node instanceof Error) throw node
    return node ? [{ cursor: cursorOf?.(node) ?? cursor, node }] : []
  })
  return {
    edges,
    pageInfo: {
      hasNextPage: page.hasNextPage,
      hasPreviousPage: page.hasPreviousPage,
      startCursor: edges.at(0)?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    count,
  }
}

type List = Pick<PageQuery, 'listing' | 'where'>

export function createCount(sql: Sql, list: List): Count {
  let counts: ReturnType<typeof readCounts> | undefined
  return async () => {
    counts ??= readCounts(sql, { ...list, parents: [''] })
    return (await counts).get('') ?? noRows
  }
}

/** Reads a page of a list. Cursors are valid only for the same `filter`. */
export async function readList(
  sql: Sql,
  { listing, where, filter, args }: List & { filter: unknown; args: PageArgs },
): Promise<ListPage> {
  const page = parsePage(listing, filter, args)
  return {
    page: await readRootPage(sql, { listing, where, page, filter }),
    count: createCount(sql, { listing, where }),
  }
}

interface PageKey {
  parent: string
  page: PageRequest
}

/** The same list for many parents: one statement per distinct page request. */
export class NestedList {
  readonly #list: NestedQuery
  readonly #pages: DataLoader<PageKey, Page, string>
  readonly #counts: DataLoader<string, ListCount>

  /** `filterOf` returns the part of a parent's key to which cursors are bound. */
  constructor(sql: Sql, listing: Listing, where: (bind: Bind) => string, filterOf = (parent: string) => parent) {
    this.#list = { listing, where, filterOf }
    this.#counts = new DataLoader(async (parents) => {
      const counts = await readCounts(sql, { listing, parents, where })
      return parents.map((parent) => counts.get(parent) ?? noRows)
    })
    this.#pages = new DataLoader((keys) => readNested(sql, { listing, where, filterOf }, keys), {
      cacheKeyFn: ({ parent, page }) => JSON.stringify([parent, page]),
    })
  }

  async load(parent: string, args: PageArgs): Promise<ListPage> {
    const { listing, filterOf } = this.#list
    const page = await this.#pages.load({ parent, page: parsePage(listing, filterOf(parent), args) })
    return { page, count: () => this.#counts.load(parent) }
  }
}

type NestedQuery = Pick<PageQuery, 'listing' | 'where' | 'filterOf'>

async function readNested(
  sql: Sql,
  { listing, where, filterOf }: NestedQuery,
  keys: readonly PageKey[],
): Promise<Page[]> {
  const groups = Map.groupBy(keys, ({ page }) => JSON.stringify(page))
  const pages = new Map<string, ReadonlyMap<string, Page>>()
  for (const [text, group] of groups) {
    const page = group[0]?.page
    const parents = [...new Set(group.map(({ parent }) => parent))]
    if (page) pages.set(text, await readPages(sql, { listing, where, filterOf, page, parents }))
  }
  return keys.map(({ parent, page }) => pages.get(JSON.stringify(page))?.get(parent) ?? emptyPage)
}
