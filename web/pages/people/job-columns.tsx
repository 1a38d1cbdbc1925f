import { Link } from '@tanstack/react-router'
import type { JobsSearch } from '../../features/jobs/filter/filter-text.ts'
import { type JobNumbers, noJobs } from '../../features/jobs/rows/count-jobs.ts'
import { formatCount } from '../../parts/format.ts'
import type { Column } from '../../parts/table.tsx'
import styles from './people.module.css'

interface JobColumns<Row> {
  /** Numbers of jobs by `keyOf`; undefined: not read yet. */
  numbers: ReadonlyMap<string, JobNumbers> | undefined
  keyOf: (row: Row) => string
  searchOf: (row: Row) => JobsSearch
}

/** Returns columns with the numbers of running and waiting jobs of each row, linked to these jobs. */
export function listJobColumns<Row>({ numbers, keyOf, searchOf }: JobColumns<Row>): readonly Column<Row>[] {
  const toCell = (part: 'active' | 'waiting') => (row: Row) => {
    if (!numbers) return <span className={styles.zero}>…</span>
    const count = (numbers.get(keyOf(row)) ?? noJobs)[part]
    return (
      <Link to="/jobs" search={{ ...searchOf(row), state: part }} className={count === 0 ? styles.zero : styles.count}>
        {formatCount(count)}
      </Link>
    )
  }
  return [
    { title: 'Running', isNumber: true, cell: toCell('active') },
    { title: 'Waiting', isNumber: true, cell: toCell('waiting') },
  ]
}
