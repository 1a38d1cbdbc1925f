import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
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

/** Keeps the search parameters of these names; a page checks their values itself. */
const readTexts =
  <const Key extends string>(...keys: readonly Key[]) =>
  (search: Record<string, unknown>) =>
    Object.fromEntries(keys.flatMap((key) => (typeof search[key] === 'string' ? [[key, search[key]]] : []))) as {
      [Name in Key]?: string | undefined
    }

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: readTexts('rows'),
  component: lazyRouteComponent(() => loadPart(() => import('../pages/overview/overview.tsx')), 'OverviewPage'),
})

const jobsRoute = createRoute({
  getParentRoute: () => root,
  path: '/jobs',
  validateSearch: readTexts(...filterKeys, 'text', 'order', 'group', 'peek'),
  component: lazyRouteComponent(() => loadPart(() => import('../pages/jobs/jobs.tsx')), 'JobsPage'),
})

/** The run, a moment and the streams of its log, the language of the spec, and the artifact that is open. */
const readJobTexts = readTexts('run', 'at', 'streams', 'as', 'open')

const job = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$id',
  validateSearch: readJobTexts,
  component: lazyRouteComponent(() => loadPart(() => import('../pages/job/job.tsx')), 'JobPage'),
})

const jobTab = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$id/$tab',
  validateSearch: readJobTexts,
  component: lazyRouteComponent(() => loadPart(() => import('../pages/job/job.tsx')), 'JobPage'),
})

const submit = createRoute({
  getParentRoute: () => root,
  path: '/jobs/new',
  validateSearch: readTexts('from', 'view'),
  component: lazyRouteComponent(() => loadPart(() => import('../pages/submit/submit.tsx')), 'SubmitPage'),
})

const compare = createRoute({
  getParentRoute: () => root,
  path: '/jobs/compare',
  validateSearch: readTexts('ids', 'with'),
  component: lazyRouteComponent(() => loadPart(() => import('../pages/compare/compare.tsx')), 'ComparePage'),
})

const sweep = createRoute({
  getParentRoute: () => root,
  path: '/sweeps/$key/$value',
  validateSearch: readTexts('x', 'y', 'by', 'metric', 'best'),
  component: lazyRouteComponent(() => loadPart(() => import('../pages/sweep/sweep.tsx')), 'SweepPage'),
})

const approvals = createRoute({
  getParentRoute: () => root,
  path: '/approvals',
  validateSearch: readTexts('tab', 'rule', 'user', 'approval'),
  component: lazyRouteComponent(() => loadPart(() => import('../pages/approvals/approvals.tsx')), 'ApprovalsPage'),
})

const workload = createRoute({
  getParentRoute: () => root,
  path: '/workload',
  component: lazyRouteComponent(() => loadPart(() => import('../pages/workload/workload.tsx')), 'WorkloadPage'),
})

const poolWorkload = createRoute({
  getParentRoute: () => root,
  path: '/workload/$pool',
  validateSearch: readTexts('view', 'span', 'reason', 'rows'),
  component: lazyRouteComponent(() => loadPart(() => import('../pages/workload/workload.tsx')), 'WorkloadPage'),
})

const cluster = createRoute({
  getParentRoute: () => root,
  path: '/cluster',
  component: lazyRouteComponent(() => loadPart(() => import('../pages/cluster/cluster.tsx')), 'ClusterPage'),
})

const poolCluster = createRoute({
  getParentRoute: () => root,
  path: '/cluster/$pool',
  validateSearch: readTexts('node', 'fits', 'color', 'view'),
  component: lazyRouteComponent(() => loadPart(() => import('../pages/cluster/cluster.tsx')), 'ClusterPage'),
})

const usage = createRoute({
  getParentRoute: () => root,
  path: '/usage',
  validateSearch: readTexts('from', 'to', 'by', 'pool'),
  component: lazyRouteComponent(() => loadPart(() => import('../pages/usage/usage.tsx')), 'UsagePage'),
})

const people = createRoute({
  getParentRoute: () => root,
  path: '/people/$part',
  validateSearch: readTexts('text', 'open', 'order', 'level', 'team', 'status', 'user'),
  component: lazyRouteComponent(() => loadPart(() => import('../pages/people/people.tsx')), 'PeoplePage'),
})

const secrets = createRoute({
  getParentRoute: () => root,
  path: '/secrets',
  validateSearch: readTexts('open', 'team'),
  component: lazyRouteComponent(() => loadPart(() => import('../pages/secrets/secrets.tsx')), 'SecretsPage'),
})

const policies = createRoute({
  getParentRoute: () => root,
  path: '/policies/$part',
  validateSearch: readTexts('open', 'pool', 'scope', 'type', 'action', 'key'),
  component: lazyRouteComponent(() => loadPart(() => import('../pages/policies/policies.tsx')), 'PoliciesPage'),
})

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: readTexts('operation', 'actor', 'object', 'since', 'until', 'entry'),
  component: lazyRouteComponent(() => loadPart(() => import('../pages/audit/audit.tsx')), 'AuditPage'),
})

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  component: lazyRouteComponent(() => loadPart(() => import('../pages/settings/settings.tsx')), 'SettingsPage'),
})

const about = createRoute({
  getParentRoute: () => root,
  path: '/about',
  component: lazyRouteComponent(() => loadPart(() => import('../pages/about/about.tsx')), 'AboutPage'),
})

const logIn = createRoute({
  getParentRoute: () => root,
  path: '/login',
  component: LogInPage,
})

const logInReturn = createRoute({
  getParentRoute: () => root,
  path: '/login/return',
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
  routeTree: root.addChildren([
    overview,
    jobsRoute,
    job,
    jobTab,
    submit,
    compare,
    sweep,
    approvals,
    workload,
    poolWorkload,
    cluster,
    poolCluster,
    usage,
    people,
    secrets,
    policies,
    audit,
    settings,
    about,
    logIn,
    logInReturn,
  ]),
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
