import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import styles from './tabs.module.css'

export interface Tab {
  title: ReactNode
  count?: number | undefined
  isShown: boolean
  to: string
  params?: Record<string, string>
  /** A function keeps the rest of the search part of the URL. */
  search?: Record<string, string | undefined> | ((before: object) => object)
  /** true: keeps the fragment of the URL. */
  hash?: true
}

interface TabsProps {
  label: string
  tabs: readonly Tab[]
  /** `choice`: small, beside a heading; default: `tabs`, a bar above a page. */
  look?: 'tabs' | 'choice'
  children?: ReactNode
}

/** Parts of a page, each with its URL. */
export const Tabs = ({ label, tabs, look = 'tabs', children }: TabsProps) => (
  <nav className={styles[look]} aria-label={label}>
    {tabs.map(({ title, count, isShown, ...target }, i) => (
      <Link
        key={i}
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
