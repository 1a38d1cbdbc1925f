import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import styles from './compare.module.css'

export const LogLink = ({
  id,
  run,
  line,
  children,
}: {
  id: string
  run: number
  line: number
  children: ReactNode
}) => (
  <Link
    to="/jobs/$id/$tab"
    params={{ id, tab: 'log' }}
    search={{ run: String(run) }}
    hash={`L${line}`}
    className={styles.line}
  >
    {children}
  </Link>
)
