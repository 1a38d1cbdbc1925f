import { Link } from '@tanstack/react-router'
import { errorQuery } from '../../features/log/log-search.ts'
import { LastErrorsDocument } from '../../generated/graphql.ts'
import { useQuery } from '../../ground/resource.ts'
import styles from './last-errors.module.css'
import type { PageJob } from './use-job.ts'

const linesMax = 5

/** The last lines of a failed run that contain words such as "error". */
export function LastErrors({ job, run }: { job: PageJob; run: number }) {
  const { value } = useQuery(LastErrorsDocument, { id: job.id, run, query: errorQuery.text, first: linesMax })
  const lines = value?.job?.logSearch?.matches.toReversed() ?? []
  if (lines.length === 0) return null
  return (
    <section className={styles.errors} aria-label="Last errors">
      <ol>
        {lines.map(({ line, text }) => (
          <li key={line}>
            <Link
              to="/jobs/$id/$tab"
              params={{ id: job.id, tab: 'log' }}
              search={{ run: String(run) }}
              hash={`L${line}`}
              className={styles.line}
            >
              <span className={styles.number}>{line}</span>
              <span>{text}</span>
            </Link>
          </li>
        ))}
      </ol>
    </section>
  )
}
