import DataLoader from 'dataloader'
import type { Sql } from '../platform/tx.ts'
import { type Bind, type Listing, type Page, type PageRequest, readCounts, readPages, requestPage } from './keyset.ts'
import type { PageArgs } from './page.ts'

/** What a connection type resolves from. */
export interface ConnectionShape<Node> {
  edges: { cursor: string; node: Node }[]
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null }
}

const emptyPage: Page = { items: [], hasNextPage: false, hasPreviousPage: false }

/** The page with its rows; a row that was deleted since the page was read is left out. */
export async function toConnection<Node>(
  page: Page = emptyPage,
  load: (ids: string[]) => Promise<readonly (Node | Error | null)[]>,
): Promise<ConnectionShape<Node>> {
  const nodes = await load(page.items.map(({ id }) => id))
  const edges = page.items.flatMap(({ cursor }, index) => {
    const node = nodes[index]
    if (node instanceof Error) throw node
    return node ? [{ cursor, node }] : []
  })
  return {
    edges,
    pageInfo: {
      hasNextPage: page.hasNextPage,
      hasPreviousPage: page.hasPreviousPage,
      startCursor: edges.at(0)?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  }
}

interface PageKey {
  parent: string
  page: PageRequest
}

/** The same list of many parents: one statement per distinct page that is asked for, however many parents ask. */
export class NestedList {
  readonly #listing: Listing
  readonly #pages: DataLoader<PageKey, Page, string>
  readonly #counts: DataLoader<string, number | null>
  readonly #filterOf: (parent: string) => string

  /** `filterOf`: what of a parent a cursor is bound to. */
  constructor(sql: Sql, listing: Listing, where: (bind: Bind) => string, filterOf = (parent: string) => parent) {
    this.#listing = listing
    this.#filterOf = filterOf
    this.#counts = new DataLoader(async (parents) => {
      const counts = await readCounts(sql, { listing, parents, where })
      return parents.map((parent) => counts.get(parent) ?? null)
    })
    this.#pages = new DataLoader((keys) => readNested(sql, { listing, where, keys, filterOf }), {
      cacheKeyFn: ({ parent, page }) => JSON.stringify([parent, page]),
    })
  }

  async load(parent: string, args: PageArgs): Promise<Page> {
    return this.#pages.load({ parent, page: requestPage(this.#listing, this.#filterOf(parent), args) })
  }

  count(parent: string): Promise<number | null> {
    return this.#counts.load(parent)
  }
}

interface NestedQuery {
  listing: Listing
  where: (bind: Bind) => string
  keys: readonly PageKey[]
  filterOf: (parent: string) => string
}

async function readNested(sql: Sql, { listing, where, keys, filterOf }: NestedQuery): Promise<Page[]> {
  const groups = Map.groupBy(keys, ({ page }) => JSON.stringify(page))
  const pages = new Map<string, ReadonlyMap<string, Page>>()
  for (const [text, group] of groups) {
    const page = group[0]?.page
    const parents = [...new Set(group.map(({ parent }) => parent))]
    if (page) pages.set(text, await readPages(sql, { listing, page, parents, filterOf, where }))
  }
  return keys.map(({ parent, page }) => pages.get(JSON.stringify(page))?.get(parent) ?? emptyPage)
}
