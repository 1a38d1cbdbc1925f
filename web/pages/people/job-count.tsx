import { Link } from '@tanstack/react-router'
import type { JobsSearch } from '../../features/jobs/filter/filter-text.ts'
import { type JobNumbers, noJobs } from '../../features/jobs/rows/count-jobs.ts'
import { formatCount } from '../../parts/format.ts'
import styles from './people.module.css'

interface JobCountProps {
  /** undefined: not counted yet. */
  numbers: ReadonlyMap<string, JobNumbers> | undefined
  of: string
  part: keyof JobNumbers
  search: JobsSearch
}

/** A number of jobs, which leads to them. */
export function JobCount({ numbers, of, part, search }: JobCountProps) {
  if (!numbers) return <span className={styles.zero}>…</span>
  const count = (numbers.get(of) ?? noJobs)[part]
  return (
    <Link to="/jobs" search={search} className={count === 0 ? styles.zero : styles.count}>
      {formatCount(count)}
    </Link>
  )
}
