import { useRef } from 'react'
import { type Resource, useResource } from './resource.ts'

interface Page<Row> {
  nodes: readonly Row[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

export interface Pages<Row> extends Resource<{ rows: readonly Row[]; hasMore: boolean }> {
  readMore(): void
}

/** The rows of a list, page by page until its end, or of its first pages. */
export async function readPages<Row>(
  readPage: (after: string | null) => Promise<Page<Row>>,
  pagesMax = Number.POSITIVE_INFINITY,
): Promise<{ rows: Row[]; hasMore: boolean }> {
  const rows: Row[] = []
  let after: string | null = null
  let hasMore = true
  for (let page = 0; hasMore && page < pagesMax; page++) {
    const { nodes, pageInfo }: Page<Row> = await readPage(after)
    rows.push(...nodes)
    after = pageInfo.endCursor
    hasMore = pageInfo.hasNextPage
  }
  return { rows, hasMore }
}

/** A list, page by page: one page first, one more at each `readMore`. Each read reads all of them again. */
export function usePages<Row>(
  key: string,
  readPage: (after: string | null, signal: AbortSignal) => Promise<Page<Row>>,
  options: { everyMs?: number; isOff?: boolean } = {},
): Pages<Row> {
  const wanted = useRef({ key, pages: 1 })
  if (wanted.current.key !== key) wanted.current = { key, pages: 1 }
  const resource = useResource(
    key,
    (signal) => readPages((after) => readPage(after, signal), wanted.current.pages),
    options,
  )
  const readMore = () => {
    wanted.current.pages++
    resource.read()
  }
  return { ...resource, readMore }
}
