import { Link } from '@tanstack/react-router'
import type { JobsSearch } from '../../rows/filter-text.ts'
import styles from './people.module.css'

/** A number of jobs, which leads to them. */
export const JobCount = ({ count, search }: { count: number; search: JobsSearch }) => (
  <Link to="/jobs" search={search} className={count === 0 ? styles.zero : styles.count}>
    {count}
  </Link>
)
