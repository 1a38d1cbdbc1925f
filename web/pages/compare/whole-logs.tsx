import { useSearch } from '@tanstack/react-router'
import { loadPart } from '../../ground/load-part.ts'
import { useResource } from '../../ground/resource.ts'
import { formatCount, plural } from '../../parts/format.ts'
import { FailedInline } from '../../parts/page-states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import styles from './compare.module.css'
import { type ComparedJob, letters, runsKey } from './compared-job.ts'
import { joinParts } from './log-difference.ts'
import { LogLink } from './log-link.tsx'
import type { Fold, LogRow } from './log-rows.ts'
import { readLines } from './read-lines.ts'

const linesMax = 5_000

/** Reads the first lines of the last run's log, at most `linesMax`. */
async function readLog(job: ComparedJob, signal: AbortSignal) {
  const lines: string[] = []
  for (let isEnd = false; !isEnd && lines.length < linesMax; ) {
    const found = [...joinParts(await readLines(job, lines.length + 1, signal)).values()]
    lines.push(...found)
    isEnd = found.length === 0
  }
  return { lines: lines.slice(0, linesMax), isCut: lines.length >= linesMax }
}

/** Compares the log of the first job with the log of another, line by line. */
export function WholeLogs({ jobs }: { jobs: readonly ComparedJob[] }) {
  const { with: asked } = useSearch({ strict: false }) as { with?: string }
  const [first, ...others] = jobs
  const second = others.find((job) => job.id === asked) ?? others[0]
  if (!first || !second) return null
  return (
    <section aria-label="Whole logs">
      <header className={styles.sides}>
        <h2 className={styles.heading}>Logs of A and {letters[jobs.indexOf(second)]}, line by line</h2>
        {others.length > 1 && (
          <Tabs
            look="choice"
            label="Jobs compared"
            tabs={others.map((job, i) => ({
              title: `A and ${letters[i + 1]}`,
              to: '/jobs/compare',
              search: { ids: jobs.map(({ id }) => id).join(','), with: job.id },
              isShown: job === second,
            }))}
          />
        )}
      </header>
      <Difference first={first} second={second} letter={letters[jobs.indexOf(second)] ?? ''} />
    </section>
  )
}

interface DifferenceProps {
  first: ComparedJob
  second: ComparedJob
  letter: string
}

function Difference({ first, second, letter }: DifferenceProps) {
  const { value, failure, read } = useResource(`whole logs ${runsKey([first, second])}`, async (signal) => {
    const [a, b, { diffLogs }] = await Promise.all([
      readLog(first, signal),
      readLog(second, signal),
      loadPart(() => import('./log-rows.ts')),
    ])
    return { found: diffLogs(a.lines, b.lines), isCut: a.isCut || b.isCut }
  })
  if (!value)
    return failure ? (
      <FailedInline failure={failure} onRetry={read} />
    ) : (
      <p className={styles.faint}>Reading the logs …</p>
    )
  const { found, isCut } = value
  const bound = isCut && ` Only the first ${formatCount(linesMax)} lines of each log were compared.`
  if (!found) return <p className={styles.faint}>The logs have too little in common to be compared.{bound}</p>
  if (found.added + found.removed === 0) return <p className={styles.faint}>The logs are equal.{bound}</p>
  return (
    <>
      <p className={styles.faint}>
        {plural(found.removed, 'line')} only in A, {formatCount(found.added)} only in {letter}.{bound}
        {found.isCut && ' Only the first differences are shown.'}
      </p>
      <table className={styles.diff} aria-label={`Logs of A and ${letter}`}>
        <tbody>
          {found.rows.map((row, i) => (
            <DiffRow key={i} row={row} jobs={[first, second]} />
          ))}
        </tbody>
      </table>
    </>
  )
}

const signs = { BOTH: '', FIRST: '−', SECOND: '+' }

function DiffRow({ row, jobs }: { row: LogRow | Fold; jobs: readonly [ComparedJob, ComparedJob] }) {
  if (row.kind === 'FOLD')
    return (
      <tr data-kind="FOLD">
        <td colSpan={4}>{plural(row.count, 'equal line')}</td>
      </tr>
    )
  return (
    <tr data-kind={row.kind}>
      {row.lines.map((line, i) => (
        <td key={i} className={styles.lineNumber}>
          {line !== null && (
            <LogLink id={jobs[i]?.id ?? ''} run={jobs[i]?.attempt ?? 1} line={line}>
              {line}
            </LogLink>
          )}
        </td>
      ))}
      <td>{signs[row.kind]}</td>
      <td>{row.text}</td>
    </tr>
  )
}
