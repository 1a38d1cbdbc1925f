import { RequestFailed } from '@berth-jobs/berth/client'
import type { ReactNode } from 'react'
import { useOutage } from '../ground/connection.ts'
import { Button } from './button.tsx'
import styles from './page-states.module.css'
import { formatServerText } from './server-text.ts'

/** What a page shows instead of its data: loading, empty, failed, forbidden, gone. */

const skeletonLines = [1, 2, 3, 4, 5, 6, 7, 8]

/** A skeleton. During an outage it shows the reason instead. */
export function Loading() {
  const outage = useOutage()
  if (outage)
    return (
      <div className={styles.outage}>
        <Failed failure={outage.failure} />
      </div>
    )
  return (
    <div className={styles.skeleton} role="status" aria-label="Loading">
      {skeletonLines.map((line) => (
        <span key={line} />
      ))}
    </div>
  )
}

export function Empty({ title, children, actions }: { title: string; children?: ReactNode; actions?: ReactNode }) {
  return (
    <section className={styles.state}>
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {actions && <div className={styles.actions}>{actions}</div>}
    </section>
  )
}

interface FailedProps {
  failure: unknown
  onRetry?: () => void
}

const titles: Readonly<Record<string, string>> = {
  UNREACHABLE: 'The server is unreachable',
  UNAVAILABLE: 'The server cannot serve this now',
  RATE_LIMITED: 'Too many requests',
  FORBIDDEN: 'You may not see this',
  NOT_FOUND: 'Not found',
}

const describe = (failure: unknown) =>
  failure instanceof RequestFailed
    ? {
        title: titles[failure.code] ?? 'This could not be read',
        text: formatServerText(failure.message),
        id: failure.requestId,
        isRepeated: failure.retryable,
      }
    : { title: 'The page has an error', text: String(failure), id: null, isRepeated: false }

export function Failed({ failure, onRetry }: FailedProps) {
  const { title, text, id, isRepeated } = describe(failure)
  return (
    <section className={styles.state} role="alert">
      <h2>{title}</h2>
      <p>{text}</p>
      {id && (
        <p>
          Request <code>{id}</code>
        </p>
      )}
      {isRepeated && <p>Berth tries again by itself.</p>}
      {onRetry && (
        <div className={styles.actions}>
          <Button onClick={onRetry}>Try again</Button>
        </div>
      )}
    </section>
  )
}

/** A failure above older data, which stays visible. */
export function FailedInline({ failure, onRetry }: FailedProps) {
  const { title, text } = describe(failure)
  return (
    <div className={styles.inline} role="alert">
      <strong>{title}</strong>
      <span>{text}</span>
      {onRetry && (
        <Button look="quiet" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

export function Missing({ what }: { what: string }) {
  return (
    <Empty title={`${what} does not exist`} actions={<Button href="./jobs">All jobs</Button>}>
      It was deleted, or you may not see it.
    </Empty>
  )
}

/** Shown instead of a part whose data is missing: loading, or why reading it failed. */
export const NotRead = ({ of: { failure, read } }: { of: { failure: unknown; read: () => void } }) =>
  failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
