import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Api, connectApi } from '../support/api.ts'
import type { BerthServer } from '../support/berth-server.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { adminToken, berth, describeConsole, localPools, row, submit } from './support/console.ts'

const failures = 8
const users = 101

describeConsole('numbers of the first pages', (subject) => {
  let database: TestDatabase
  let server: BerthServer
  let api: Api
  let page: Page
  beforeAll(async () => {
    database = await createDatabase()
    const env = { DATABASE_URL: database.url, BERTH_BOOTSTRAP_TOKEN: adminToken }
    server = await subject.start('overview', { pools: localPools }, env)
    api = connectApi(server.url, adminToken)
    page = await (await subject.openContext({}, { server, token: adminToken })).newPage()
  })
  afterAll(async () => {
    await page?.context().close()
    await api?.close()
    await server?.end()
    await database?.close()
  })

  it('the overview counts jobs that failed in the last day, also if they were submitted earlier', async () => {
    for (let i = 0; i < failures; i++) await submit(server, `old-${i}`, 'exit 3', adminToken)
    const count = "SELECT count(*)::int AS n FROM job WHERE state = 'FAILED'"
    await until(async () => (await database.db.sql.query<{ n: number }>(count))[0]?.n === failures, {
      what: 'all failed',
    })
    await database.db.transaction(async (sql) => {
      await sql.query('SET LOCAL session_replication_role = replica') // A trigger keeps the time of a submission.
      await sql.query("UPDATE job SET created_at = created_at - interval '3 days'")
    })
    await page.goto(server.url)
    await page.getByRole('link', { name: `${failures} failed in 24 h` }).waitFor()
    await page.getByRole('link', { name: `All ${failures} that failed in 24 h` }).click()
    await row(page, 'old-0').waitFor()
    expect(new URL(page.url()).searchParams.get('ended')).toBe('24h')
  })

  it('the jobs of users beyond the hundredth are counted', async () => {
    const create = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { __typename } }'
    for (let i = 0; i < users; i++) await api.ask(create, { input: { name: `ann${i}`, level: 'RESEARCHER' } })
    await berth(server, ['user', 'create', 'zoe'], adminToken)
    const token = (await berth(server, ['token', 'create', 'test', '--user', 'zoe'], adminToken)).split('\n').at(-1)
    await submit(server, 'of-zoe', 'sleep 600', token)
    await page.goto(`${server.url}/people/users`)
    for (const shown of [50, 100]) {
      await page.getByRole('row').nth(shown).waitFor()
      await page.getByRole('button', { name: 'Show more' }).click()
    }
    await row(page, 'zoe').getByRole('link', { name: '1', exact: true }).waitFor()
  })

  it('a viewer is not offered what is refused', async () => {
    await berth(server, ['user', 'create', 'eve', '--level', 'VIEWER'], adminToken)
    const token =
      (await berth(server, ['token', 'create', 'test', '--user', 'eve'], adminToken)).split('\n').at(-1) ?? ''
    const own = await (await subject.openContext({}, { server, token })).newPage()
    await own.goto(`${server.url}/about`)
    await own.getByRole('heading', { name: 'Self-check' }).waitFor()
    expect(await own.getByRole('button', { name: 'Check the stored data' }).count()).toBe(0)
    await own.goto(`${server.url}/jobs`)
    await own.getByRole('heading', { name: 'Jobs' }).first().waitFor()
    expect(await own.getByRole('link', { name: 'New job' }).count()).toBe(0)
    await own.keyboard.press('n')
    expect(new URL(own.url()).pathname).toBe('/jobs')
    await own.context().close()
  })
})
