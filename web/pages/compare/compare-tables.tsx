import { requireField } from '@berth-jobs/berth/client'
import { Link } from '@tanstack/react-router'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { toSpecInput } from '../../features/spec/spec-input.ts'
import { Button } from '../../parts/button.tsx'
import { formatMoney } from '../../parts/format.ts'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { StateChip } from '../../parts/state-glyph.tsx'
import { describeEnd } from '../../parts/states.ts'
import { Duration, Time } from '../../parts/time.tsx'
import styles from './compare.module.css'
import { type ComparedJob, letters } from './compared-job.ts'
import { findDifferences } from './spec-difference.ts'

interface Row {
  title: string
  cell: (job: ComparedJob) => ReactNode
}

const rows: readonly Row[] = [
  { title: 'State', cell: (job) => <StateChip state={job.state} detail={describeEnd(job)} /> },
  { title: 'Submitted', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    title: 'Waited',
    cell: ({ createdAt, startedAt, finishedAt }) => <Duration from={createdAt} to={startedAt ?? finishedAt} />,
  },
  {
    title: 'Ran',
    cell: ({ currentRun, finishedAt }) =>
      currentRun.startedAt && <Duration from={currentRun.startedAt} to={finishedAt} />,
  },
  { title: 'Runs', cell: ({ attempt }) => attempt },
  { title: 'Where', cell: ({ currentRun, pool }) => currentRun.nodeNames.join(', ') || pool.name },
  { title: 'Who', cell: ({ user }) => user.name },
  { title: 'Cost', cell: ({ cost }) => cost && formatMoney(cost) },
]

interface FactsProps {
  jobs: readonly ComparedJob[]
  onRemove: (id: string) => void
}

/** One column for each job. */
export function Facts({ jobs, onRemove }: FactsProps) {
  return (
    <ScrollBox label="Facts of the jobs">
      <table className={styles.table} aria-label="Jobs">
        <thead>
          <tr>
            <td />
            {jobs.map(({ id, name }, i) => (
              <th key={id} scope="col">
                <span className={styles.head}>
                  <b className={styles.letter} data-letter={letters[i]}>
                    {letters[i]}
                  </b>
                  <Link to="/jobs/$id" params={{ id }} className={styles.link}>
                    {name ?? id}
                  </Link>
                  <Button look="quiet" aria-label={`Leave out ${name ?? id}`} onClick={() => onRemove(id)}>
                    <X size={14} />
                  </Button>
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ title, cell }) => (
            <tr key={title}>
              <th scope="row">{title}</th>
              {jobs.map((job) => (
                <td key={job.id}>{cell(job)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}

/** The fields of the specs that differ, and no others. */
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
                      {value ?? <span className={styles.faint}>–</span>}
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
