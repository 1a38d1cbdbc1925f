import { useRef } from 'react'
import { type Resource, useResource } from './resource.ts'

interface Page<Row> {
  nodes: readonly Row[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

interface ReadPages<Row> {
  rows: readonly Row[]
  hasMore: boolean
  /** How many pages were read. */
  pages: number
}

export interface Pages<Row> extends Resource<ReadPages<Row>> {
  readMore(): void
}

/** The rows of a list, page by page until its end, or of its first pages. */
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

/** A list, page by page: one page first, one more at each `readMore`. Each read reads all known pages again. */
export function usePages<Row>(
  key: string,
  readPage: (after: string | null, signal: AbortSignal) => Promise<Page<Row>>,
  options: { everyMs?: number; isOff?: boolean } = {},
): Pages<Row> {
  const more = useRef(0)
  const resource = useResource<ReadPages<Row>>(
    key,
    (signal, _, before) => {
      const pages = Math.max(1, (before?.pages ?? 0) + more.current)
      more.current = 0
      return readPages((after) => readPage(after, signal), pages)
    },
    options,
  )
  const readMore = () => {
    more.current = 1
    resource.read()
  }
  return { ...resource, readMore }
}
