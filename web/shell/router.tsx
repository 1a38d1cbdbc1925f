import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { filterKeys } from '../features/jobs/filter/filter-text.ts'
import { markSeen } from '../features/jobs/rows/seen-jobs.ts'
import { baseUrl } from '../ground/connection.ts'
import { loadPart } from '../ground/load-part.ts'
import { noteOrigin } from '../ground/origin.ts'
import { usePageTitle } from '../ground/page-title.ts'
import { LogInPage } from '../pages/log-in/log-in.tsx'
import { Missing } from '../parts/page-states.tsx'
import { Shell } from './shell.tsx'

function NoPage() {
  usePageTitle('Not found')
  return <Missing what="This page" />
}

const root = createRootRoute({
  component: () => (
    <Shell>
      <Outlet />
    </Shell>
  ),
  notFoundComponent: NoPage,
})

/** Reads the search parameters with these names. Each page checks their values itself. */
const readTexts =
  <const Key extends string>(...keys: readonly Key[]) =>
  (search: Record<string, unknown>) =>
    Object.fromEntries(keys.flatMap((key) => (typeof search[key] === 'string' ? [[key, search[key]]] : []))) as {
      [Name in Key]?: string | undefined
    }

/** A route of a page, whose code is loaded when it is opened. */
const page = <const Path extends string, Search, Name extends string>(
  path: Path,
  validateSearch: (search: Record<string, unknown>) => Search,
  load: () => Promise<Record<Name, () => ReactNode>>,
  name: Name,
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    validateSearch,
    component: lazyRouteComponent(() => loadPart(load), name),
  })

const readJobsTexts = readTexts(...filterKeys, 'text', 'order', 'group', 'peek')
/** `run`; `at` and `streams` of its log; `as`: the format of the spec; `open`: the open artifact. */
const readJobTexts = readTexts('run', 'at', 'streams', 'as', 'open')

const loadJob = () => import('../pages/job/job.tsx')
const loadWorkload = () => import('../pages/workload/workload.tsx')
const loadCluster = () => import('../pages/cluster/cluster.tsx')
const readPolicies = readTexts('open', 'pool', 'scope', 'type', 'action', 'key')
const readPeople = readTexts('text', 'open', 'order', 'level', 'team', 'status', 'user')
const readAudit = readTexts('operation', 'actor', 'object', 'since', 'until', 'entry')

const routes = [
  page('/', readTexts('rows'), () => import('../pages/overview/overview.tsx'), 'OverviewPage'),
  page('/jobs', readJobsTexts, () => import('../pages/jobs/jobs.tsx'), 'JobsPage'),
  page('/jobs/$id', readJobTexts, loadJob, 'JobPage'),
  page('/jobs/$id/$tab', readJobTexts, loadJob, 'JobPage'),
  page('/jobs/new', readTexts('from', 'view'), () => import('../pages/submit/submit.tsx'), 'SubmitPage'),
  page('/jobs/compare', readTexts('ids', 'with'), () => import('../pages/compare/compare.tsx'), 'ComparePage'),
  page(
    '/sweeps/$key/$value',
    readTexts('x', 'y', 'by', 'metric', 'best'),
    () => import('../pages/sweep/sweep.tsx'),
    'SweepPage',
  ),
  page(
    '/approvals',
    readTexts('tab', 'rule', 'user', 'approval'),
    () => import('../pages/approvals/approvals.tsx'),
    'ApprovalsPage',
  ),
  page('/workload', readTexts<never>(), loadWorkload, 'WorkloadPage'),
  page('/workload/$pool', readTexts('view', 'span', 'reason', 'rows'), loadWorkload, 'WorkloadPage'),
  page('/cluster', readTexts<never>(), loadCluster, 'ClusterPage'),
  page('/cluster/$pool', readTexts('node', 'fits', 'color', 'view'), loadCluster, 'ClusterPage'),
  page('/usage', readTexts('from', 'to', 'by', 'pool'), () => import('../pages/usage/usage.tsx'), 'UsagePage'),
  page('/people/$part', readPeople, () => import('../pages/people/people.tsx'), 'PeoplePage'),
  page('/secrets', readTexts('open', 'team'), () => import('../pages/secrets/secrets.tsx'), 'SecretsPage'),
  page('/policies/$part', readPolicies, () => import('../pages/policies/policies.tsx'), 'PoliciesPage'),
  page('/audit', readAudit, () => import('../pages/audit/audit.tsx'), 'AuditPage'),
  page('/settings', readTexts<never>(), () => import('../pages/settings/settings.tsx'), 'SettingsPage'),
  page('/about', readTexts<never>(), () => import('../pages/about/about.tsx'), 'AboutPage'),
  createRoute({ getParentRoute: () => root, path: '/login', component: LogInPage }),
  createRoute({ getParentRoute: () => root, path: '/login/return', component: LogInPage }),
] as const

/** Reads search parameters as plain strings, not as JSON like the router does by default. */
const parseSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text))

function stringifySearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(search).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [[key, String(value)]],
  )
  // Keeps commas and colons readable. Filters contain them, and a query string allows them.
  const text = new URLSearchParams(pairs).toString().replaceAll('%2C', ',').replaceAll('%3A', ':')
  return text === '' ? '' : `?${text}`
}

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: new URL(baseUrl).pathname,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPendingMs: 150,
})

router.subscribe('onResolved', ({ toLocation }) => {
  const [, id] = toLocation.pathname.match(/\/jobs\/(job_\w+)/) ?? []
  if (id !== undefined) markSeen([id])
  else if (!/\/(jobs\/new|login)\b/.test(toLocation.pathname)) noteOrigin()
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
