import { useResource } from '../../ground/resource.ts'
import { formatCount, plural } from '../../parts/format.ts'
import { FailedInline } from '../../parts/page-states.tsx'
import styles from './compare.module.css'
import { type ComparedJob, letters, runsKey } from './compared-job.ts'
import { findLogDifference, type LogDifference } from './log-difference.ts'
import { LogLink } from './log-link.tsx'
import { readLines } from './read-lines.ts'

/** Shows the first line in which the logs of the last runs differ. */
export function FirstLogDifference({ jobs }: { jobs: readonly ComparedJob[] }) {
  const { value, failure, read } = useResource(`log difference ${runsKey(jobs)}`, (signal) =>
    findLogDifference(jobs.length, async (source, fromLine) => {
      const job = jobs[source]
      return job ? readLines(job, fromLine, signal) : []
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
