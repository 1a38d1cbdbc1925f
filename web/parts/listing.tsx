import type { ReactNode } from 'react'
import type { Pages } from '../ground/list-pages.ts'
import { Button } from './button.tsx'
import styles from './listing.module.css'
import { Empty, Failed, FailedInline, Loading } from './page-states.tsx'

interface ListingProps<Row> {
  list: Pages<Row>
  /** The rows: "users". */
  noun: string
  /** Forgets the filter; false: there is none. */
  clear: (() => void) | false
  /** Without rows and without a filter: what would be here, and the next step. */
  empty: ReactNode
  emptyActions?: ReactNode
  /** The button that reads one more page. */
  moreText?: string
  children: (rows: readonly Row[]) => ReactNode
}

/** A list page by page, in each of its states. */
export function Listing<Row>({ list, noun, clear, empty, emptyActions, ...rest }: ListingProps<Row>) {
  const { value, failure, isLoading, read, readMore } = list
  const { moreText = 'Show more', children } = rest
  if (!value) return failure ? <Failed failure={failure} onRetry={read} /> : isLoading ? <Loading /> : null
  if (value.rows.length === 0 && clear)
    return <Empty title={`No ${noun} match`} actions={<Button onClick={clear}>Clear the filter</Button>} />
  if (value.rows.length === 0)
    return (
      <Empty title={`No ${noun} yet`} actions={emptyActions}>
        {empty}
      </Empty>
    )
  return (
    <>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      {children(value.rows)}
      {value.hasMore && (
        <div className={styles.more}>
          <Button onClick={readMore}>{moreText}</Button>
        </div>
      )}
    </>
  )
}
