import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { tokenScopes, userLevels } from '../../src/domain/access.ts'
import type { BerthServer } from '../support/berth-server.ts'
import { ask } from '../support/client.ts'
import { until } from '../support/until.ts'
import { adminToken, berth, describeLongConsole, localPools, submit } from './support/console.ts'
import { goInside, settle } from './support/pages.ts'

interface Action {
  /** The page, and the button that only viewers with the permission see. */
  path: string
  button: string
  permission: string
  /** The permission that a refusal names, if it differs. */
  forced?: string
  /** The steps between the button and the mutation. */
  finish?: (page: Page) => Promise<unknown>
}

const press = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).last().click()
const fillAndPress = (values: Readonly<Record<string, string>>, name: string) => async (page: Page) => {
  for (const [label, value] of Object.entries(values)) await page.getByLabel(label, { exact: true }).last().fill(value)
  await press(name)(page)
}

/** An action of each page that changes something, except actions on jobs, which depend on the job. */
const actions: readonly Action[] = [
  { path: '/workload/local', button: 'Process now', permission: 'POOL_PLAN' },
  { path: '/workload/local', button: 'Pause…', permission: 'LIMITS_WRITE', finish: press('Pause the pool') },
  // The form counts the jobs as soon as it opens.
  { path: '/workload/local', button: 'Clean up…', permission: 'JOB_DELETE_ALL', forced: 'JOB_DELETE_OWN' },
  {
    path: '/cluster/gpu',
    button: 'Add node…',
    permission: 'NODE_WRITE',
    finish: fillAndPress({ Name: 'n9', Cores: '2', 'Memory in GiB': '2' }, 'Add node'),
  },
  {
    path: '/people/users',
    button: 'New user',
    permission: 'USER_WRITE',
    finish: fillAndPress({ 'Log-in name': 'zoe' }, 'Create user'),
  },
  {
    path: '/people/teams',
    button: 'New team',
    permission: 'USER_WRITE',
    finish: fillAndPress({ Name: 'night' }, 'Create team'),
  },
  {
    path: '/people/tokens',
    button: 'New token',
    permission: 'TOKEN_OWN',
    // The page creates tokens of the administrator.
    forced: 'TOKEN_ANY',
    finish: fillAndPress({ Name: 'laptop' }, 'Create token'),
  },
  {
    path: '/secrets',
    button: 'New secret',
    permission: 'SECRET_OWN',
    finish: fillAndPress({ Name: 'API_KEY', Value: 'x' }, 'Set secret'),
  },
  {
    path: '/policies/limits',
    button: 'New limit',
    permission: 'LIMITS_WRITE',
    finish: fillAndPress({ Name: 'default', 'Running jobs': '3' }, 'Save'),
  },
  {
    path: '/policies/quotas',
    button: 'New quota',
    permission: 'QUOTA_WRITE',
    finish: fillAndPress({ 'At most': '5' }, 'Create quota'),
  },
  {
    path: '/policies/rules',
    button: 'New rule',
    permission: 'RULE_WRITE',
    finish: async (page) => {
      await page.getByLabel('A job needs an approval if').selectOption('First job of the user')
      await fillAndPress({ Name: 'night' }, 'Create rule')(page)
    },
  },
  {
    path: '/policies/reservations',
    button: 'New reservation',
    permission: 'RESERVATION_WRITE',
    finish: async (page) => {
      await page.getByRole('checkbox', { name: /^[gn]1$/ }).check()
      const window = { From: '2035-01-01T00:00', Until: '2035-01-02T00:00' }
      await fillAndPress({ Name: 'night', Project: 'vision', ...window }, 'Create reservation')(page)
    },
  },
]

/** The pool `gpu` is one to which nodes can be added. */
const pools = [...localPools, { name: 'gpu', executor: 'simulated', nodes: [{ name: 'g1', cpu: 8, memoryGib: 8 }] }]

const levelsWithScopes = userLevels.flatMap((level) => tokenScopes.map((scope) => ({ level, scope })))

describeLongConsole('an action without its permission', (subject) => {
  let server: BerthServer
  let jobId: string
  const tokens = new Map<string, string>()
  const nameOf = (level: string) => `a-${level.toLowerCase()}`

  beforeAll(async () => {
    server = await subject.startWithUsers('permissions', { pools })
    const run = (...args: string[]) => berth(server, args, adminToken)
    for (const level of userLevels) {
      await run('user', 'create', nameOf(level), '--level', level)
      for (const scope of tokenScopes)
        tokens.set(`${level} ${scope}`, await run('token', 'create', scope, '--user', nameOf(level), '--scopes', scope))
    }
    jobId = await submit(server, 'of-the-administrator', 'sleep 600', adminToken)
  })

  /** Opens a page without a reload, and waits for its title. */
  const visit = async (page: Page, path: string) => {
    if (new URL(page.url()).pathname === path) return
    const before = await page.title()
    await goInside(page, path)
    await until(async () => (await page.title()) !== before, { what: `${path} is drawn` })
    await settle(page)
  }

  const open = async (token: string) => {
    const context = await subject.openContext({}, { server, token })
    const page = await context.newPage()
    await page.goto(server.url)
    await settle(page)
    return { page, close: () => context.close() }
  }

  it.each(levelsWithScopes)('is not offered to a $level with a token of the scope $scope', async ({ level, scope }) => {
    const token = tokens.get(`${level} ${scope}`) ?? ''
    const query = `{ viewer { permissions } job(id: "${jobId}") { allowedActions } }`
    const { data } = await ask(server.url, query, {}, token)
    const { viewer, job } = data as { viewer: { permissions: string[] }; job: { allowedActions: string[] } | null }
    const { page, close } = await open(token)
    const expectOffer = async (path: string, button: string, isOffered: boolean) => {
      await visit(page, path)
      const found = page.getByRole('button', { name: button, exact: true })
      const message = `${button} on ${path}`
      await expect.poll(async () => (await found.count()) > 0, { message }).toBe(isOffered)
    }
    for (const { path, button, permission } of actions)
      await expectOffer(path, button, viewer.permissions.includes(permission))
    await expectOffer('/jobs/new', 'Submit', viewer.permissions.includes('JOB_SUBMIT'))
    await expectOffer(`/jobs/${jobId}`, 'Cancel', job?.allowedActions.includes('CANCEL') ?? false)
    await close()
  })

  describe('that is sent nevertheless', () => {
    const weak = { 'a viewer': 'VIEWER ADMIN', 'a token with the scope READ': 'ADMIN READ' } as const

    it.each(Object.entries(weak))('shows the refusal with the reason beside the action, for %s', async (_who, key) => {
      const { page, close } = await open(adminToken)
      // The page is that of an administrator; its mutations arrive with the other token.
      await page.route('**/graphql', (route) => {
        const isMutation = route.request().postData()?.includes('mutation ')
        if (!isMutation) return route.continue()
        return route.continue({ headers: { ...route.request().headers(), authorization: `Bearer ${tokens.get(key)}` } })
      })
      for (const { path, button, permission, forced, finish } of actions) {
        await page.goto(server.url + path)
        await page.getByRole('button', { name: button, exact: true }).first().click()
        await finish?.(page)
        const needed = (forced ?? permission).toLowerCase().replaceAll('_', '.')
        const words = key === 'ADMIN READ' ? 'Your token needs the scope' : `You need the permission ${needed}`
        const message = `${words} after ${button} on ${path}`
        await expect.poll(() => page.getByText(words).count(), { message, timeout: 20_000 }).toBeGreaterThan(0)
      }
      await close()
    })
  })
})
