import type { TypedDocument } from '@berth-jobs/berth/client'
import { useRef } from 'react'
import { client } from './connection.ts'
import { type Resource, toCacheKey, useResource } from './resource.ts'

interface Page<Row> {
  nodes: readonly Row[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

interface ReadPages<Row> {
  rows: readonly Row[]
  hasMore: boolean
  /** Number of pages that were read. */
  pages: number
}

export interface Pages<Row> extends Resource<ReadPages<Row>> {
  readMore(): void
}

/** Reads all pages of a list, or at most the given number. */
export async function readPages<Row>(
  readPage: (after: string | null) => Promise<Page<Row>>,
  pagesMax = Number.POSITIVE_INFINITY,
): Promise<ReadPages<Row>> {
  const rows: Row[] = []
  let after: string | null = null
  let hasMore = true
  let pages = 0
  for (; hasMore && pages < pagesMax; pages++) {
    const { nodes, pageInfo }: Page<Row> = await readPage(after)
    rows.push(...nodes)
    after = pageInfo.endCursor
    hasMore = pageInfo.hasNextPage
  }
  return { rows, hasMore, pages }
}

const pageSize = 50
const everyMsUsual = 10_000

/** Reads the first page of a list, and one more page at each `readMore`. A refresh reads all of these pages again. */
export function useList<Result extends object, Variables extends { after?: unknown; first?: unknown }, Row>(
  document: TypedDocument<Result, Variables>,
  variables: Omit<Variables, 'after' | 'first'>,
  choose: (result: Result) => Page<Row>,
  { everyMs = everyMsUsual, isOff = false }: { everyMs?: number; isOff?: boolean } = {},
): Pages<Row> {
  const more = useRef(0)
  const resource = useResource<ReadPages<Row>>(
    `pages of ${toCacheKey(document, variables)}`,
    (signal, _, before) => {
      const pages = Math.max(1, (before?.pages ?? 0) + more.current)
      more.current = 0
      const read = (after: string | null) =>
        client.request(document, { ...variables, after, first: pageSize } as Variables, { signal })
      return readPages(async (after) => choose(await read(after)), pages)
    },
    { everyMs, isOff },
  )
  const readMore = () => {
    more.current = 1
    resource.read()
  }
  return { ...resource, readMore }
}

/** `value` is the row with the id; undefined: the list is loading; null: the list does not have the row. */
export type FoundRow<Row> = Pick<Resource<Row | null>, 'value' | 'failure' | 'read'>

export function findRow<Row extends { id: string }>(list: Pages<Row>, id: string): FoundRow<Row> {
  const found = list.value?.rows.find((row) => row.id === id)
  const { failure, read, isLoading } = list
  return { value: found ?? (isLoading || failure ? undefined : null), failure, read }
}
