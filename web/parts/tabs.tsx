import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import styles from './tabs.module.css'

export interface Tab {
  title: ReactNode
  count?: number | undefined
  isShown: boolean
  to: string
  params?: Record<string, string>
  /** Search parameters of the link. A function changes the current ones. */
  search?: Record<string, string | undefined> | ((before: object) => object)
  /** true: keeps the fragment of the URL. */
  hash?: true
}

interface TabsProps {
  label: string
  tabs: readonly Tab[]
  /** `tabs` (default): a bar above a page. `choice`: small, beside a heading. */
  look?: 'tabs' | 'choice'
  children?: ReactNode
}

/** Links to the parts of a page. */
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
