import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import styles from './tabs.module.css'

export interface Tab {
  title: ReactNode
  count?: number | undefined
  isShown: boolean
  to: string
  params?: Record<string, string>
  search?: Record<string, string | undefined>
  /** true: keeps the fragment of the URL. */
  hash?: true
}

/** Parts of a page, each with its URL. */
export const Tabs = ({ label, tabs, children }: { label: string; tabs: readonly Tab[]; children?: ReactNode }) => (
  <nav className={styles.tabs} aria-label={label}>
    {tabs.map(({ title, count, isShown, ...target }) => (
      <Link
        key={`${target.to} ${JSON.stringify(target.params)} ${JSON.stringify(target.search)}`}
        {...target}
        className={styles.tab}
        activeOptions={{ exact: true, includeSearch: true }}
        aria-current={isShown ? 'page' : undefined}
      >
        {title}
        {count !== undefined && <span className={styles.count}>{count}</span>}
      </Link>
    ))}
    {children && <span className={styles.rest}>{children}</span>}
  </nav>
)
