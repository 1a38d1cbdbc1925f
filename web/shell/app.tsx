import { type AnyRoute, RouterProvider } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { type Start, StartContext, startConsole } from '../ground/server-facts.ts'
import { useSession } from '../ground/session.ts'
import { LogIn } from '../pages/log-in/log-in.tsx'
import { Failed, Loading } from '../parts/page-states.tsx'
import { router } from './router.tsx'

type Outcome = { start: Start } | { error: unknown }

const routes: Readonly<Record<string, AnyRoute>> = router.routesById

/** Loads the code of the first page while the facts are read. */
const loadParts = (): Promise<unknown> =>
  Promise.all(
    router
      .matchRoutes(router.latestLocation)
      .flatMap(({ routeId }: { routeId: string }) => routes[routeId] ?? [])
      .map((route) => router.loadRouteChunk(route)),
  )

const begin = (): Promise<Outcome> =>
  Promise.all([startConsole(), loadParts()]).then(
    ([start]) => ({ start }),
    (error: unknown) => ({ error }),
  )

/** Outside of React, which may render twice: the code that an OpenID provider returns is valid once. */
const firstStart = begin()

/** The pages and, while the server requires a log-in, the log-in dialog over them. The pages keep their state. */
export function App() {
  const { needsLogIn } = useSession()
  const [starting, setStarting] = useState(firstStart)
  const outcome = useOutcome(starting)
  return (
    <>
      {outcome && <Pages outcome={outcome} onRetry={() => setStarting(begin())} />}
      {!outcome && !needsLogIn && <Loading />}
      {needsLogIn && <LogIn />}
    </>
  )
}

/** Used instead of Suspense, which delays the content after a fallback by up to 300 ms. */
function useOutcome(starting: Promise<Outcome>): Outcome | null {
  const [known, setKnown] = useState<{ of: Promise<Outcome>; outcome: Outcome } | null>(null)
  useEffect(() => void starting.then((outcome) => setKnown({ of: starting, outcome })), [starting])
  return known?.of === starting ? known.outcome : null
}

function Pages({ outcome, onRetry }: { outcome: Outcome; onRetry: () => void }) {
  if ('error' in outcome) return <Failed failure={outcome.error} onRetry={onRetry} />
  return (
    <StartContext value={outcome.start}>
      <RouterProvider router={router} />
    </StartContext>
  )
}
