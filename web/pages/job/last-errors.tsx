import { Link } from '@tanstack/react-router'
import { errorQuery } from '../../features/log/log-search.ts'
import { LastErrorsDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'
import styles from './last-errors.module.css'
import type { PageJob } from './use-job.ts'

const linesMax = 5

/** The last lines of a failed run that sound like the cause. */
export function LastErrors({ job, run }: { job: PageJob; run: number }) {
  const { value } = useResource(`errors ${job.id} ${run}`, async (signal) => {
    const variables = { id: job.id, run, query: errorQuery.text, first: linesMax }
    const { job: found } = await client.request(LastErrorsDocument, variables, { attempts: 4, signal })
    return found?.logSearch?.matches.toReversed() ?? []
  })
  if (!value || value.length === 0) return null
  return (
    <section className={styles.errors} aria-label="Last errors">
      <ol>
        {value.map(({ line, text }) => (
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
