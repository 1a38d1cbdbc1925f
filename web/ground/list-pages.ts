import { useRef } from 'react'
import { type Resource, useResource } from './resource.ts'

interface Page<Row> {
  nodes: readonly Row[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

export interface Pages<Row> extends Resource<{ rows: readonly Row[]; hasMore: boolean }> {
  readMore(): void
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
    async (signal) => {
      const rows: Row[] = []
      let after: string | null = null
      let hasMore = true
      for (let page = 0; hasMore && page < wanted.current.pages; page++) {
        const { nodes, pageInfo }: Page<Row> = await readPage(after, signal)
        rows.push(...nodes)
        after = pageInfo.endCursor
        hasMore = pageInfo.hasNextPage
      }
      return { rows, hasMore }
    },
    options,
  )
  const readMore = () => {
    wanted.current.pages++
    resource.read()
  }
  return { ...resource, readMore }
}
