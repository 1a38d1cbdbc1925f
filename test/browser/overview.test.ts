import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Api, connectApi } from '../support/api.ts'
import type { BerthServer } from '../support/berth-server.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { adminToken, berth, describeConsole, localPools, row, submit } from './support/console.ts'
import { createPerson, simulate, submitSpecs } from './support/seed.ts'

const gpus = [
  { model: 'A100', memoryGib: 40, count: 4 },
  { model: 'H100', memoryGib: 80, count: 2 },
]
const pools = [
  ...localPools,
  {
    name: 'gpu',
    executor: 'simulated',
    policy: 'FAIR_SHARE',
    scheduling: { nonPreemptableFraction: 1 },
    limits: { maxConcurrent: null, userMaxConcurrent: null },
    nodes: [{ name: 'g1', cpu: 64, memoryGib: 512, gpus }],
  },
]
const queues = [
  { name: 'default', pool: 'local' },
  { name: 'gpu', pool: 'gpu' },
]

const failures = 8
const users = 101

interface OverviewFacts {
  pool: {
    workload: { running: number; depth: number; byReason: { count: number }[] }
    accounts: { account: string; occupancy: number; running: number }[]
    gpusByModel: {
      model: string
      count: number
      allocated: number
      byUser: { count: number; user: { name: string } }[]
    }[]
  }
  jobCounts: { rows: { key: string; count: number }[] }
}

describeConsole('the console', (subject) => {
  let database: TestDatabase
  let server: BerthServer
  let api: Api
  let page: Page
  beforeAll(async () => {
    database = await createDatabase()
    const env = { DATABASE_URL: database.url, BERTH_BOOTSTRAP_TOKEN: adminToken }
    server = await subject.start('overview', { pools, queues }, env)
    api = connectApi(server.url, adminToken)
    page = await (await subject.openContext({}, { server, token: adminToken })).newPage()
  })
  afterAll(async () => {
    await page?.context().close()
    await api?.close()
    await server?.end()
    await database?.close()
  })

  it('shows to an operator the users of GPUs, the waiting jobs, and the jobs of the last day', async () => {
    const [ann, ben] = [await createPerson(server, 'ann'), await createPerson(server, 'ben')]
    const long = { SIM_RUN_SECONDS: '600' }
    const h100 = simulate('on-h100', 2, long)
    await submitSpecs(server, ann, [
      { ...h100, resources: { ...h100.resources, gpuModel: ['H100'] } },
      simulate('on-a100', 3, long),
    ])
    await submitSpecs(server, ben, [simulate('crashes', 1, { SIM_EXIT_CODE: '3' }), simulate('waits', 4, long)])
    const query = `{ pool(name: "gpu") {
      workload { running depth byReason { count } } accounts { account occupancy running }
      gpusByModel { model count allocated byUser { count user { name } } }
    } jobCounts(by: STATE) { rows { key count } } }`
    const read = () => api.ask<OverviewFacts>(query)
    const isSettled = async () => {
      const { pool, jobCounts } = await read()
      const hasFailed = jobCounts.rows.some(({ key }) => key === 'FAILED')
      return (
        hasFailed &&
        pool.workload.running === 2 &&
        pool.workload.byReason.length > 0 &&
        pool.accounts
          .map(({ running }) => running)
          .toSorted()
          .join() === '0,2'
      )
    }
    await until(isSettled, { what: 'two jobs run, one failed, and one waits' })
    const { pool, jobCounts } = await read()
    await page.goto(server.url)
    for (const { key, count } of jobCounts.rows) {
      const word = key === 'FAILED' ? 'failed in 24 h' : key.toLowerCase()
      await page
        .getByRole('region', { name: 'Jobs of all users' })
        .getByRole('link', { name: `${count} ${word}` })
        .waitFor()
    }
    const card = page.getByRole('article', { name: 'gpu' })
    for (const { count, allocated } of pool.gpusByModel) await card.getByText(`${allocated} of ${count} GPUs`).waitFor()
    const holders = pool.gpusByModel.flatMap((each) => each.byUser.map(({ user, count }) => `${user.name} ${count}`))
    expect(holders.toSorted()).toEqual(['ann 2', 'ann 3'])
    for (const holder of holders) await card.getByRole('link', { name: holder }).waitFor()
    await card.getByRole('link', { name: `${pool.workload.depth} wait` }).waitFor()
    for (const { account, occupancy } of pool.accounts)
      await card.getByText(`${account}${Math.round(occupancy * 1_000) / 10} % of 50 %`).waitFor()
    expect(await page.getByRole('main').locator('strong').allInnerTexts()).not.toContain('0')
  })

  it('describes the job of a bar of the last day, and opens the job by a click', async () => {
    await page.goto(`${server.url}/?rows=user`)
    const day = page.getByRole('region', { name: 'Last 24 hours' })
    await day.getByRole('link', { name: 'ben', exact: true }).waitFor()
    const bar = day.getByRole('link', { name: /^crashes \(ben, gpu\): failed/ })
    await bar.hover()
    await day.getByText(/^crashes \(ben, gpu\): failed/).waitFor()
    await bar.click()
    await page.waitForURL(/\/jobs\/job_/)
    await page
      .getByRole('heading', { name: /crashes/ })
      .first()
      .waitFor()
  })

  it('counts jobs that failed in the last day, also if they were submitted earlier', async () => {
    for (let i = 0; i < failures; i++) await submit(server, `old-${i}`, 'exit 3', adminToken)
    const count = "SELECT count(*)::int AS n FROM job WHERE state = 'FAILED'"
    await until(async () => (await database.db.sql.query<{ n: number }>(count))[0]?.n === failures + 1, {
      what: 'all failed',
    })
    await database.db.transaction(async (sql) => {
      await sql.query('SET LOCAL session_replication_role = replica') // A trigger keeps the time of a submission.
      await sql.query("UPDATE job SET created_at = created_at - interval '3 days' WHERE state = 'FAILED'")
    })
    await page.goto(server.url)
    await page.getByRole('link', { name: `${failures} failed in 24 h` }).waitFor()
    await page.getByRole('link', { name: `All ${failures} that failed in 24 h` }).click()
    await row(page, 'old-0').waitFor()
    expect(new URL(page.url()).searchParams.get('ended')).toBe('24h')
  })

  it('counts the jobs of all users if there are more than a hundred', async () => {
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

  it('does not offer a viewer actions that the server would refuse', async () => {
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
