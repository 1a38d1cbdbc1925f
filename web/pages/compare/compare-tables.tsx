import { requireField } from '@berth-jobs/berth/client'
import { Link } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { lazy, type ReactNode, Suspense } from 'react'
import { errorQuery } from '../../features/log/log-search.ts'
import { toSpecInput } from '../../features/spec/spec-input.ts'
import { FirstErrorDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { loadPart } from '../../ground/load-part.ts'
import { useResource } from '../../ground/resource.ts'
import { useNow } from '../../ground/server-clock.ts'
import { Button } from '../../parts/button.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { nameJob } from '../../parts/server-text.ts'
import { StateChip } from '../../parts/state-glyph.tsx'
import { describeEnd } from '../../parts/states.ts'
import { Time } from '../../parts/time.tsx'
import styles from './compare.module.css'
import { type ComparedJob, letters, runsKey } from './compared-job.ts'
import { type Amount, amounts, describeChange, differ } from './facts.ts'
import { LogLink } from './log-link.tsx'
import { findDifferences } from './spec-difference.ts'

const ChangedWords = lazy(async () => ({ default: (await loadPart(() => import('./changed-words.tsx'))).ChangedWords }))

interface Row {
  title: string
  cell: (job: ComparedJob) => ReactNode
  /** Returns a text that is the same for jobs with the same value; absent: the values always count as different. */
  key?: (job: ComparedJob) => string
}

const readPlace = ({ currentRun, pool }: ComparedJob) => currentRun.nodeNames.join(', ') || pool.name

const rows: readonly Row[] = [
  {
    title: 'State',
    cell: (job) => <StateChip state={job.state} detail={describeEnd(job)} />,
    key: (job) => `${job.state} ${describeEnd(job)}`,
  },
  { title: 'Who', cell: ({ user }) => user.name, key: ({ user }) => user.id },
  { title: 'Where', cell: readPlace, key: readPlace },
  { title: 'Runs', cell: ({ attempt }) => attempt, key: ({ attempt }) => String(attempt) },
  { title: 'Submitted', cell: ({ createdAt }) => <Time at={createdAt} /> },
]

interface FactsProps {
  jobs: readonly ComparedJob[]
  onRemove: (id: string) => void
}

export function Facts({ jobs, onRemove }: FactsProps) {
  return (
    <ScrollBox label="Facts of the jobs">
      <table className={styles.table} aria-label="Jobs">
        <thead>
          <tr>
            <td />
            {jobs.map((job, i) => (
              <th key={job.id} scope="col">
                <span className={styles.head}>
                  <b className={styles.letter} data-letter={letters[i]}>
                    {letters[i]}
                  </b>
                  <Link to="/jobs/$id" params={{ id: job.id }} className={styles.link}>
                    {nameJob(job)}
                  </Link>
                  <Button look="quiet" aria-label={`Leave out ${nameJob(job)}`} onClick={() => onRemove(job.id)}>
                    <X size={14} />
                  </Button>
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ title, cell, key }) => (
            <tr key={title} data-differs={key !== undefined && new Set(jobs.map(key)).size > 1}>
              <th scope="row">{title}</th>
              {jobs.map((job) => (
                <td key={job.id}>{cell(job)}</td>
              ))}
            </tr>
          ))}
          <FirstErrors jobs={jobs} />
          {amounts.map((amount) => (
            <AmountRow key={amount.title} amount={amount} jobs={jobs} />
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}

/** A number of each job with its difference to the first job. Hidden if the number is unknown for all jobs. */
function AmountRow({ amount: { title, read, format }, jobs }: { amount: Amount; jobs: readonly ComparedJob[] }) {
  const nowMs = useNow()
  const values = jobs.map((job) => read(job, nowMs))
  const texts = jobs.map((job, i) => formatOrDash(values[i] ?? null, (value) => format(value, job)))
  const [first = null] = values
  if (values.every((value) => value === null)) return null
  return (
    <tr data-differs={new Set(texts).size > 1 && differ(values)}>
      <th scope="row">{title}</th>
      {jobs.map(({ id }, i) => (
        <td key={id}>
          {texts[i]}{' '}
          {texts[i] !== texts[0] && <small className={styles.change}>{describeChange(values[i] ?? null, first)}</small>}
        </td>
      ))}
    </tr>
  )
}

const formatOrDash = (value: number | null, format: (value: number) => string) => (value === null ? '–' : format(value))

/** The first line with an error in the last run of each job. */
function FirstErrors({ jobs }: { jobs: readonly ComparedJob[] }) {
  const { value } = useResource(`first errors ${runsKey(jobs)}`, (signal) =>
    Promise.all(
      jobs.map(async ({ id, attempt }) => {
        const variables = { id, run: attempt, query: errorQuery.text }
        const { job } = await client.request(FirstErrorDocument, variables, { attempts: 4, signal })
        return job?.logSearch?.matches[0] ?? null
      }),
    ),
  )
  return (
    <tr data-differs={new Set(value?.map((each) => each?.text)).size > 1}>
      <th scope="row">First error</th>
      {jobs.map(({ id, attempt }, i) => {
        const error = value?.[i]
        return (
          <td key={id} className={styles.value}>
            {error ? (
              <LogLink id={id} run={attempt} line={error.line}>
                {error.text}
              </LogLink>
            ) : (
              <span className={styles.faint}>{value && 'none'}</span>
            )}
          </td>
        )
      })}
    </tr>
  )
}

/** A table of the spec fields that differ. */
export function SpecDifferences({ jobs }: { jobs: readonly ComparedJob[] }) {
  const differences = findDifferences(jobs.map(({ spec }) => toSpecInput(requireField(spec))))
  return (
    <section aria-label="Spec">
      <h2 className={styles.heading}>Spec</h2>
      {differences.length === 0 ? (
        <p className={styles.faint}>The specs are equal.</p>
      ) : (
        <ScrollBox label="Fields that differ">
          <table className={styles.table} aria-label="Differences of the specs">
            <thead>
              <tr>
                <td />
                {jobs.map(({ id }, i) => (
                  <th key={id} scope="col">
                    {letters[i]}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {differences.map(({ path, values }) => (
                <tr key={path}>
                  <th scope="row">{path}</th>
                  {values.map((value, i) => (
                    <td key={jobs[i]?.id} className={styles.value}>
                      {value === undefined ? (
                        <span className={styles.faint}>–</span>
                      ) : i === 0 || values[0] === undefined ? (
                        value
                      ) : (
                        <Suspense fallback={value}>
                          <ChangedWords from={values[0]} to={value} />
                        </Suspense>
                      )}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollBox>
      )}
    </section>
  )
}
