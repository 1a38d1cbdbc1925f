import { Link, useNavigate, useRouter, useRouterState } from '@tanstack/react-router'
import { Menu, Search } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { useOutage } from '../ground/connection.ts'
import { everywhere, useKeys } from '../ground/keys.ts'
import { openLayer, useLayer } from '../ground/layer-store.ts'
import { loadPart } from '../ground/load-part.ts'
import { useShownTitle } from '../ground/page-title.ts'
import { readServerFacts, useStart } from '../ground/server-facts.ts'
import { changeSettings, readSettings } from '../ground/settings.ts'
import { useMay } from '../ground/use-may.ts'
import { Button, Key } from '../parts/button.tsx'
import { formatClockSeconds } from '../parts/format.ts'
import { Toasts } from '../parts/toasts.tsx'
import styles from './shell.module.css'
import { BottomBar, SideBar } from './side-bar.tsx'

const Layers = lazy(() => loadPart(() => import('./layers.tsx')))

/** The frame of every page: side bar, top bar, banners and dialogs. */
export function Shell({ children }: { children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const layer = useLayer()
  usePageKeys()
  // Closes the drawer when another page opens.
  useEffect(() => setOpen(false), [path])
  const main = useFocusOnPage()
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#page">
        Skip to the page
      </a>
      <TopBar onMenu={() => setOpen((open) => !open)} />
      <SideBar isOpen={isOpen} />
      <BottomBar onMore={() => setOpen((open) => !open)} />
      <main ref={main} className={styles.main} id="page" tabIndex={-1} aria-labelledby="page-title">
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

/** When another page opens, moves the focus into it, so that Tab continues there, unless another element has the focus. */
function useFocusOnPage() {
  const main = useRef<HTMLElement>(null)
  const router = useRouter()
  useEffect(
    () =>
      router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
        const isOther = fromLocation !== undefined && pathChanged
        if (isOther && document.activeElement === document.body) main.current?.focus({ preventScroll: true })
      }),
    [router],
  )
  return main
}

function usePageKeys() {
  const navigate = useNavigate()
  const may = useMay()
  useKeys(everywhere, [
    { keys: '$mod+k', help: 'Search or run a command', run: () => openLayer({ kind: 'PALETTE' }) },
    { keys: '?', help: 'Keys of this page', run: () => openLayer({ kind: 'KEYS' }) },
    { keys: 'Shift+?', help: '', run: () => openLayer({ kind: 'KEYS' }) },
    { keys: 'g o', help: 'Overview', run: () => void navigate({ to: '/' }) },
    { keys: 'g j', help: 'Jobs', run: () => void navigate({ to: '/jobs' }) },
    { keys: 'g a', help: 'Approvals', run: () => void navigate({ to: '/approvals' }) },
    { keys: 'g w', help: 'Workload', run: () => void navigate({ to: '/workload' }) },
    { keys: 'g c', help: 'Cluster', run: () => void navigate({ to: '/cluster' }) },
    { keys: 'g u', help: 'Usage', run: () => void navigate({ to: '/usage' }) },
    ...(may('JOB_SUBMIT') ? [{ keys: 'n', help: 'New job', run: () => void navigate({ to: '/jobs/new' }) }] : []),
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
      <h1 className={styles.title} id="page-title">
        {parent && (
          <>
            <Link to={parent.to} activeOptions={{ exact: true }}>
              {parent.text}
            </Link>
            <span> / </span>
          </>
        )}
        {text}
      </h1>
      <button
        type="button"
        className={styles.command}
        title="Search or run a command"
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

/** Shown if the server has been updated since the page was loaded. */
function UpdateBanner() {
  const { server } = useStart()
  const outage = useOutage()
  const [version, setVersion] = useState(server.release)
  useEffect(() => {
    if (outage) return
    readServerFacts().then((facts) => setVersion(facts.release), console.warn)
  }, [outage])
  if (version === server.release) return null
  return (
    <div className={styles.banner} role="status">
      Berth was updated to {version}.<Button onClick={() => location.reload()}>Reload</Button>
    </div>
  )
}
