import { Link, useRouterState } from '@tanstack/react-router'
import {
  ChartColumn,
  ExternalLink,
  Gauge,
  Hand,
  Info,
  KeyRound,
  ListOrdered,
  ListTree,
  LogOut,
  type LucideIcon,
  Menu,
  Scale,
  ScrollText,
  Server,
  Settings,
  SunMoon,
  Users,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { usePendingDecisions } from '../features/policies/pending-decisions.ts'
import { closeOpenedPorts } from '../ground/opened-ports.ts'
import { useStart } from '../ground/server-facts.ts'
import { session } from '../ground/session.ts'
import { changeSettings, readSettings } from '../ground/settings.ts'
import { useMay } from '../ground/use-may.ts'
import { formatCount } from '../parts/format.ts'
import styles from './side-bar.module.css'
import { ViewLinks } from './view-links.tsx'

const themes = { SYSTEM: 'LIGHT', LIGHT: 'DARK', DARK: 'SYSTEM' } as const

export function SideBar({ isOpen }: { isOpen: boolean }) {
  const { server, viewer, links } = useStart()
  return (
    <nav className={styles.side} data-open={isOpen} aria-label="Pages">
      <Link to="/" className={styles.brand}>
        <Mark accent={server.accent} />
        Berth
        {server.title !== 'Berth' && <span className={styles.server}>{server.title}</span>}
      </Link>
      <PageLinks />
      <ViewLinks />
      {links
        .filter(({ on, url }) => on === 'MENU' && /^https?:/.test(url))
        .map(({ title, url }) => (
          <a key={url} href={url} target="_blank" rel="noreferrer" className={styles.link}>
            <ExternalLink size={16} />
            {title}
          </a>
        ))}
      <div className={styles.foot}>
        <PageLink to="/settings" icon={Settings}>
          Settings
        </PageLink>
        <PageLink to="/about" icon={Info}>
          About
        </PageLink>
        <button
          type="button"
          className={`${styles.link} ${styles.plain}`}
          onClick={() => changeSettings({ theme: themes[readSettings().theme] })}
        >
          <SunMoon size={16} />
          Theme
        </button>
        {!server.singleUser && (
          <button
            type="button"
            className={`${styles.link} ${styles.plain}`}
            onClick={() => void closeOpenedPorts().then(() => session.logOut())}
          >
            <LogOut size={16} />
            Log out
          </button>
        )}
        <div className={styles.person}>
          <span>{viewer.user.displayName ?? viewer.user.name}</span>
          <small>{server.singleUser ? 'single user' : viewer.user.level.toLowerCase()}</small>
        </div>
      </div>
    </nav>
  )
}

/** On a phone, links to the most used pages. The drawer has the others. */
export function BottomBar({ onMore }: { onMore: () => void }) {
  return (
    <nav className={styles.bottom} aria-label="Main pages">
      <MainLinks pending={0} />
      <button type="button" className={`${styles.link} ${styles.plain}`} onClick={onMore}>
        <Menu size={16} />
        More
      </button>
    </nav>
  )
}

const mainPages = [
  { to: '/', icon: Gauge, text: 'Overview', exact: true },
  { to: '/jobs', icon: ListTree, text: 'Jobs' },
  { to: '/approvals', icon: Hand, text: 'Approvals' },
  { to: '/workload', icon: ListOrdered, text: 'Workload' },
]

const MainLinks = ({ pending }: { pending: number }) =>
  mainPages.map(({ text, ...page }) => (
    <PageLink key={page.to} {...page}>
      {text}
      {page.to === '/approvals' && pending > 0 && <span className={styles.badge}>{formatCount(pending)}</span>}
    </PageLink>
  ))

/** Links to the pages that the viewer may use, grouped by purpose. */
function PageLinks() {
  const { server, viewer } = useStart()
  const pending = usePendingDecisions(viewer.pendingDecisions)
  const may = useMay()
  const isAdmin = may('USER_WRITE')
  const peopleParams = { part: isAdmin ? 'users' : 'tokens' }
  const hasPolicies = may('LIMITS_WRITE', 'QUOTA_WRITE', 'RULE_WRITE', 'RESERVATION_WRITE')
  const pages = [
    { to: '/cluster', icon: Server, text: 'Cluster' },
    { to: '/usage', icon: ChartColumn, text: 'Usage' },
    may('SECRET_OWN', 'SECRET_TEAM') && { to: '/secrets', icon: KeyRound, text: 'Secrets' },
    !server.singleUser &&
      (isAdmin || may('TOKEN_OWN')) && { to: '/people/$part', params: peopleParams, icon: Users, text: 'People' },
    hasPolicies && { to: '/policies/$part', params: { part: 'limits' }, icon: Scale, text: 'Policies' },
    may('AUDIT_READ') && { to: '/audit', icon: ScrollText, text: 'Audit log' },
  ].filter((page) => page !== false)
  return (
    <>
      <MainLinks pending={pending} />
      {pages.map(({ text, ...page }) => (
        <PageLink key={page.to} {...page}>
          {text}
        </PageLink>
      ))}
    </>
  )
}

interface PageLinkProps {
  to: string
  params?: Record<string, string>
  icon: LucideIcon
  exact?: boolean
  children: ReactNode
}

function PageLink({ icon: Icon, exact = false, children, ...target }: PageLinkProps) {
  // The link opens one part of the page, and is marked as current on all parts.
  const [page = '', part] = target.to.split('$part')
  const isShown = useRouterState({ select: ({ location }) => part === '' && location.pathname.includes(page) })
  return (
    <Link
      {...target}
      className={styles.link}
      activeOptions={{ exact, includeSearch: false }}
      {...(isShown && { 'data-status': 'active', 'aria-current': 'page' })}
    >
      <Icon size={16} />
      {children}
    </Link>
  )
}

/** A mark in the colour of the installation, so that users do not confuse two installations. */
function Mark({ accent }: { accent: string | null }) {
  return (
    <svg width="20" height="20" viewBox="0 0 16 16" aria-hidden="true">
      <rect width="16" height="16" rx="4" fill={accent ?? '#1a4fd6'} />
      <path
        d="M5 3.5v9h3.4a2.6 2.6 0 0 0 .9-5.05A2.4 2.4 0 0 0 7.7 3.5zM5 7.6h3.2"
        fill="none"
        stroke="#fff"
        strokeWidth="1.6"
        strokeLinejoin="round"
      />
    </svg>
  )
}
