import { Link, useNavigate, useRouterState } from '@tanstack/react-router'
import { ExternalLink, Gauge, ListTree, LogOut, Menu, Search, SunMoon } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { openLayer, useLayer } from '../layers/layer-store.ts'
import { Button, Key } from '../parts/button.tsx'
import { formatClockSeconds } from '../parts/format.ts'
import { Toasts } from '../parts/toasts.tsx'
import { useOutage } from './connection.ts'
import { useKeys } from './keys.ts'
import { useShownTitle } from './page-title.ts'
import { readServerFacts, useStart } from './server-facts.ts'
import { session } from './session.ts'
import { changeSettings, readSettings } from './settings.ts'
import styles from './shell.module.css'

const Layers = lazy(() => import('../layers/layers.tsx'))

/** Side bar, top bar, banners, layers, and the page. */
export function Shell({ children }: { children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const layer = useLayer()
  usePageKeys()
  // The drawer closes when another page is opened.
  useEffect(() => setOpen(false), [path])
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#page">
        Skip to the page
      </a>
      <TopBar onMenu={() => setOpen((open) => !open)} />
      <SideBar isOpen={isOpen} />
      <main className={styles.main} id="page">
        <UpdateBanner />
        {children}
      </main>
      <Toasts />
      {layer && (
        <Suspense fallback={null}>
          <Layers />
        </Suspense>
      )}
    </div>
  )
}

function usePageKeys() {
  const navigate = useNavigate()
  useKeys('Everywhere', [
    { keys: '$mod+k', help: 'Search or run a command', run: () => openLayer({ kind: 'PALETTE' }) },
    { keys: '?', help: 'Keys of this page', run: () => openLayer({ kind: 'KEYS' }) },
    { keys: 'Shift+?', help: '', run: () => openLayer({ kind: 'KEYS' }) },
    { keys: 'g o', help: 'Overview', run: () => void navigate({ to: '/' }) },
    { keys: 'g j', help: 'Jobs', run: () => void navigate({ to: '/jobs' }) },
    {
      keys: 't',
      help: 'Times: relative or by the clock',
      run: () => changeSettings({ absoluteTimes: !readSettings().absoluteTimes }),
    },
  ])
}

function TopBar({ onMenu }: { onMenu: () => void }) {
  const { text, parent } = useShownTitle()
  return (
    <header className={styles.top}>
      <Button look="quiet" className={styles.menu ?? ''} aria-label="Menu" onClick={onMenu}>
        <Menu size={16} />
      </Button>
      <h1 className={styles.title}>
        {parent && (
          <>
            <Link to={parent.to}>{parent.text}</Link>
            <span> / </span>
          </>
        )}
        {text}
      </h1>
      <button
        type="button"
        className={styles.command}
        aria-label="Search or run a command"
        onClick={() => openLayer({ kind: 'PALETTE' })}
      >
        <Search size={14} />
        <span>Search or run a command</span>
        <Key>Ctrl K</Key>
      </button>
      <LiveIndicator />
    </header>
  )
}

function LiveIndicator() {
  const outage = useOutage()
  if (!outage)
    return (
      <span className={styles.live} role="status">
        Live
      </span>
    )
  return (
    <span className={`${styles.live} ${styles.away}`} role="status" title={outage.failure.message}>
      Reconnecting since {formatClockSeconds(outage.sinceMs)}
    </span>
  )
}

const themes = { SYSTEM: 'LIGHT', LIGHT: 'DARK', DARK: 'SYSTEM' } as const

function SideBar({ isOpen }: { isOpen: boolean }) {
  const { server, viewer, links } = useStart()
  return (
    <nav className={styles.side} data-open={isOpen} aria-label="Pages">
      <Link to="/" className={styles.brand}>
        <Mark accent={server.accent} />
        Berth
        {server.title !== 'Berth' && <span className={styles.server}>{server.title}</span>}
      </Link>
      <Link to="/" className={styles.link} activeOptions={{ exact: true }}>
        <Gauge size={16} />
        Overview
      </Link>
      <Link to="/jobs" className={styles.link} activeOptions={{ includeSearch: false }}>
        <ListTree size={16} />
        Jobs
      </Link>
      {links
        .filter(({ on, url }) => on === 'MENU' && /^https?:/.test(url))
        .map(({ title, url }) => (
          <a key={url} href={url} target="_blank" rel="noreferrer" className={styles.link}>
            <ExternalLink size={16} />
            {title}
          </a>
        ))}
      <div className={styles.foot}>
        <button
          type="button"
          className={`${styles.link} ${styles.plain}`}
          onClick={() => changeSettings({ theme: themes[readSettings().theme] })}
        >
          <SunMoon size={16} />
          Theme
        </button>
        {!server.singleUser && (
          <button type="button" className={`${styles.link} ${styles.plain}`} onClick={() => session.logOut()}>
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

/** The colour of the installation, so that two are not confused. */
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

/** The server has another version than when the page was loaded. */
function UpdateBanner() {
  const { server } = useStart()
  const outage = useOutage()
  const [version, setVersion] = useState(server.version)
  useEffect(() => {
    if (outage) return
    readServerFacts().then((facts) => setVersion(facts.version), console.warn)
  }, [outage])
  if (version === server.version) return null
  return (
    <div className={styles.banner} role="status">
      Berth was updated to {version}.<Button onClick={() => location.reload()}>Reload</Button>
    </div>
  )
}
