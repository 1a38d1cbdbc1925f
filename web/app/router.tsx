import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import { LogInPage } from '../pages/log-in/log-in.tsx'
import { Missing } from '../parts/page-states.tsx'
import { filterKeys, type JobsSearch } from '../rows/filter-text.ts'
import { baseUrl } from './connection.ts'
import { Shell } from './shell.tsx'

const root = createRootRoute({
  component: () => (
    <Shell>
      <Outlet />
    </Shell>
  ),
  notFoundComponent: () => <Missing what="This page" />,
})

const readText = (search: Record<string, unknown>, keys: readonly string[]) =>
  Object.fromEntries(keys.flatMap((key) => (typeof search[key] === 'string' ? [[key, search[key]]] : [])))

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/overview/overview.tsx'), 'OverviewPage'),
})

const jobsRoute = createRoute({
  getParentRoute: () => root,
  path: '/jobs',
  validateSearch: (search: Record<string, unknown>): JobsSearch => readText(search, [...filterKeys, 'text', 'order']),
  component: lazyRouteComponent(() => import('../pages/jobs/jobs.tsx'), 'JobsPage'),
})

export interface JobSearch {
  run?: string | undefined
}

const validateJobSearch = (search: Record<string, unknown>): JobSearch => readText(search, ['run'])

const job = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$id',
  validateSearch: validateJobSearch,
  component: lazyRouteComponent(() => import('../pages/job/job.tsx'), 'JobPage'),
})

const jobTab = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$id/$tab',
  validateSearch: validateJobSearch,
  component: lazyRouteComponent(() => import('../pages/job/job.tsx'), 'JobPage'),
})

const logIn = createRoute({
  getParentRoute: () => root,
  path: '/login',
  component: LogInPage,
})

/** Plain `key=value` pairs, as people read and write them. */
const parseSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text))

function stringifySearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(search).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [[key, String(value)]],
  )
  // Commas and colons are part of filters; they need no escape in a query.
  const text = new URLSearchParams(pairs).toString().replaceAll('%2C', ',').replaceAll('%3A', ':')
  return text === '' ? '' : `?${text}`
}

export const router = createRouter({
  routeTree: root.addChildren([overview, jobsRoute, job, jobTab, logIn]),
  basepath: new URL(baseUrl).pathname,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPendingMs: 150,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
