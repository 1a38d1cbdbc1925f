import { CompareLinesDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'
import { formatCount, plural } from '../../parts/format.ts'
import { FailedInline } from '../../parts/page-states.tsx'
import styles from './compare.module.css'
import { type ComparedJob, letters } from './compared-job.ts'
import { findLogDifference, type LogDifference, linesPerRead } from './log-difference.ts'
import { LogLink } from './log-link.tsx'

/** The first line in which the logs of the last runs differ. */
export function FirstLogDifference({ jobs }: { jobs: readonly ComparedJob[] }) {
  const key = jobs.map(({ id, attempt, stateCategory }) => `${id} ${attempt} ${stateCategory}`).join()
  const { value, failure, read } = useResource(`log difference ${key}`, (signal) =>
    findLogDifference(jobs.length, async (source, fromLine) => {
      const job = jobs[source]
      if (!job) return []
      const variables = { id: job.id, run: job.attempt, fromLine, first: linesPerRead }
      const { job: found } = await client.request(CompareLinesDocument, variables, { attempts: 4, signal })
      return found?.logs?.lines ?? []
    }),
  )
  return (
    <section aria-label="Log">
      <h2 className={styles.heading}>First difference of the logs</h2>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      {!value && !failure && <p className={styles.faint}>Reading the logs …</p>}
      {value && <Found jobs={jobs} difference={value} />}
    </section>
  )
}

function Found({ jobs, difference }: { jobs: readonly ComparedJob[]; difference: LogDifference }) {
  const { line, texts, compared, isWhole } = difference
  if (line === null)
    return (
      <p className={styles.faint}>
        {isWhole
          ? `The logs are equal: ${plural(compared, 'line')}.`
          : `The first ${formatCount(compared)} lines are equal.`}
      </p>
    )
  return (
    <ol className={styles.lines}>
      {jobs.map(({ id, attempt }, i) => (
        <li key={id}>
          <b className={styles.letter} data-letter={letters[i]}>
            {letters[i]}
          </b>
          {texts[i] === undefined ? (
            <span className={styles.faint}>ends before line {formatCount(line)}</span>
          ) : (
            <LogLink id={id} run={attempt} line={line}>
              <span className={styles.faint}>{line}</span> {texts[i]}
            </LogLink>
          )}
        </li>
      ))}
    </ol>
  )
}
