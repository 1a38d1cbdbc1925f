import type { ReactNode } from 'react'
import type { Pages } from '../ground/list-pages.ts'
import { Button } from './button.tsx'
import styles from './listing.module.css'
import { Empty, Failed, FailedInline, Loading } from './page-states.tsx'

interface ListingProps<Row> {
  list: Pages<Row>
  /** What the rows are, in plural: "users". */
  noun: string
  /** Clears the filter; false: no filter is set. */
  clear: (() => void) | false
  /** Shown if there are no rows and no filter: what the list is for, and the next step. */
  empty: ReactNode
  emptyActions?: ReactNode
  /** Text of the button that reads one more page. */
  moreText?: string
  children: (rows: readonly Row[]) => ReactNode
}

/** A table that loads page by page, or the reason why there are no rows. */
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
