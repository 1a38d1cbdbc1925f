import { RouterProvider } from '@tanstack/react-router'
import { Suspense, use, useState } from 'react'
import { LogIn } from '../pages/log-in/log-in.tsx'
import { Failed, Loading } from '../parts/page-states.tsx'
import { router } from './router.tsx'
import { type Start, StartContext, startConsole } from './server-facts.ts'
import { useSession } from './session.ts'

type Outcome = { start: Start } | { error: unknown }

const begin = (): Promise<Outcome> =>
  startConsole().then(
    (start) => ({ start }),
    (error: unknown) => ({ error }),
  )

/** Once, although React may render the first time twice: the return from an OpenID provider is valid once. */
const firstStart = begin()

/** The pages, and over them the log-in while the server wants a token: what is behind it is kept. */
export function App() {
  const { needsLogIn } = useSession()
  const [current, setCurrent] = useState(firstStart)
  return (
    <>
      <Suspense fallback={needsLogIn ? null : <Loading />}>
        <Pages starting={current} onRetry={() => setCurrent(begin())} />
      </Suspense>
      {needsLogIn && <LogIn />}
    </>
  )
}

function Pages({ starting, onRetry }: { starting: Promise<Outcome>; onRetry: () => void }) {
  const outcome = use(starting)
  if ('error' in outcome) return <Failed failure={outcome.error} onRetry={onRetry} />
  return (
    <StartContext value={outcome.start}>
      <RouterProvider router={router} />
    </StartContext>
  )
}
