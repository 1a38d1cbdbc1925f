import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Api, connectApi } from '../support/api.ts'
import type { BerthServer } from '../support/berth-server.ts'
import { until } from '../support/until.ts'
import { adminToken, describeConsole, row } from './support/console.ts'
import { settle } from './support/pages.ts'
import { createPerson, simulate, submitSpecs } from './support/seed.ts'

/** Each frequent task begins on the overview, and needs at most this number of actions. */
const actionsMax = 5

const gpus = [{ model: 'A100', memoryGib: 40, count: 8 }]
const settings = {
  pools: [
    {
      name: 'gpu',
      executor: 'simulated',
      policy: 'FAIR_SHARE',
      scheduling: { nonPreemptableFraction: 1 },
      limits: { maxConcurrent: 3, userMaxConcurrent: null },
      nodes: ['gpu1', 'gpu2'].map((name) => ({ name, cpu: 256, memoryGib: 2048, gpus })),
    },
    { name: 'office', executor: 'local', jobsAsRoot: true, nodes: [{ name: 'desk1', cpu: 4, memoryGib: 8 }] },
  ],
  queues: [
    { name: 'desk', pool: 'office' },
    { name: 'gpu', pool: 'gpu' },
  ],
  approvalRules: [{ name: 'big', condition: { name: 'big-*' } }],
}

const warnedLine = 9_000
const lines = 20_000
const failure = 'ValueError: loss is nan'
const steps = (from: number, to: number) => `seq ${from} ${to} | sed 's/^/step /'`
const warning = 'Warning: gradient norm 812.5'
const longLog = `${steps(1, warnedLine - 1)}; echo '${warning}'; ${steps(warnedLine + 1, lines - 1)}`

const script = (name: string, lr: string, text: string, labels: readonly { key: string; value: string }[] = []) => ({
  name,
  queue: 'desk',
  command: ['sh', '-c', text],
  resources: { cpu: 0.1, memoryGib: 1 },
  environment: [{ name: 'LR', value: lr }],
  labels,
})
const sweepJob = (lr: string, text: string) =>
  script(`lr-${lr}`, lr, text, [
    { key: 'sweep', value: 'grid' },
    { key: 'lr', value: lr },
  ])

const long = { SIM_RUN_SECONDS: '7200' }
const old = 40
const others = 160
const manyJobs = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => simulate(`${name}-${i + 1}`, 8, long))

/** true: a user sees the middle of the element without scrolling. */
const isSeen = (element: Element): boolean => {
  const { left, top, width, height } = element.getBoundingClientRect()
  const hit = document.elementFromPoint(left + width / 2, top + height / 2)
  return element.contains(hit)
}

/** Waits until a user sees the element without scrolling. */
const see = async (target: Locator): Promise<void> => {
  await target.waitFor()
  await expect.poll(() => target.evaluate(isSeen), { message: `${target} is on the screen` }).toBe(true)
}

/** Acts like a user, and counts the actions: a click or a tap, a key, or a text in a field. */
class Hands {
  readonly page: Page
  readonly #taps: boolean
  #count = 0

  constructor(page: Page, taps: boolean) {
    this.page = page
    this.#taps = taps
  }

  click(target: Locator): Promise<void> {
    this.#act()
    return this.#taps ? target.tap() : target.click()
  }

  press(key: string): Promise<void> {
    this.#act()
    return this.page.keyboard.press(key)
  }

  type(field: Locator, text: string): Promise<void> {
    this.#act()
    return field.fill(text)
  }

  #act(): void {
    this.#count += 1
    expect(this.#count, 'actions').toBeLessThanOrEqual(actionsMax)
  }
}

interface WaitingJob {
  job: { scheduling: { reasons: { code: string; message: string }[] } }
}

describeConsole('a user of the console, with few actions from the overview,', (subject) => {
  let server: BerthServer
  let api: Api
  let own: Api
  const tokens: Record<string, string> = { admin: adminToken }
  const ids: Record<'good' | 'bad' | 'big', string> = { good: '', bad: '', big: '' }

  beforeAll(async () => {
    server = await subject.startWithUsers('tasks', settings)
    api = connectApi(server.url, adminToken)
    for (const name of ['ann', 'ben', 'cleo']) tokens[name] = await createPerson(server, name)
    const { ann = '', ben = '', cleo = '' } = tokens
    own = connectApi(server.url, ann)
    const [good = ''] = await submitSpecs(server, ann, [script('train', '0.01', 'echo done')])
    const [bad = ''] = await submitSpecs(server, ann, [script('train', '0.1', `${longLog}; echo '${failure}'; exit 3`)])
    const metric = (loss: string) => `berth progress --metric loss=${loss}`
    await submitSpecs(server, ann, [
      sweepJob('0.1', metric('0.9')),
      sweepJob('0.01', metric('0.3')),
      sweepJob('0.001', `${metric('0.6')}; sleep 600`),
    ])
    await submitSpecs(server, ann, [simulate('eval', 8, long)])
    await submitSpecs(server, ben, [simulate('finetune', 4, long), simulate('tune', 2, long)])
    const [big = ''] = await submitSpecs(server, ben, [simulate('big-llm', 8, long)])
    Object.assign(ids, { good, bad, big })
    const isPrepared = async () => {
      const { pool, nodes, sweep } = await api.ask<{
        pool: { workload: { running: number } }
        nodes: { state: string }[]
        sweep: { nodes: { state: string }[] }
      }>(
        `query ($ids: [ID!]!) { pool(name: "gpu") { workload { running } } nodes(ids: $ids) { ... on Job { state } }
          sweep: jobs(filter: { labels: [{ key: "sweep", value: "grid" }] }) { nodes { state } } }`,
        { ids: [good, bad] },
      )
      const states = [...nodes, ...sweep.nodes].map(({ state }) => state)
      return pool.workload.running === 3 && states.toSorted().join() === 'FAILED,RUNNING,SUCCEEDED,SUCCEEDED,SUCCEEDED'
    }
    await until(isPrepared, { what: 'the jobs run or have ended' })
    for (const jobs of [manyJobs('old', old), manyJobs('new', others / 2), manyJobs('new', others / 2)])
      await submitSpecs(server, cleo, jobs)
    const isConsidered = async () => {
      const { pool } = await api.ask<{ pool: { workload: { byReason: { code: string; count: number }[] } } }>(
        '{ pool(name: "gpu") { workload { byReason { code count } } } }',
      )
      return pool.workload.byReason.some(({ code, count }) => code === 'GLOBAL_LIMIT' && count === old + others)
    }
    await until(isConsidered, { what: 'the scheduler has considered all jobs' })
  })
  afterAll(() => Promise.all([api?.close(), own?.close()]))

  const perform = async (
    who: string,
    task: (hands: Hands, page: Page) => Promise<void>,
    options: BrowserContextOptions = {},
  ) => {
    const context = await subject.openContext(options, { server, token: tokens[who] ?? '' })
    const page = await context.newPage()
    await page.goto(server.url)
    await settle(page)
    await task(new Hands(page, options.hasTouch === true), page)
    await context.close()
  }
  const needs = (page: Page) => page.getByRole('region', { name: 'Needs you' })
  const failedJob = (page: Page) => needs(page).locator(`a[href$="${ids.bad}"]`)
  const line = (page: Page, number: number) => page.locator(`[data-line="${number}"]`)

  it('finds a failed job, and why it failed', () =>
    perform('ann', async (hands, page) => {
      await hands.click(failedJob(page))
      await see(page.getByText('code 3').first())
      await see(page.getByRole('region', { name: 'Last errors' }).getByRole('link', { name: failure }))
    }))

  it('compares the failed job with the run that worked', () =>
    perform('ann', async (hands, page) => {
      await hands.click(failedJob(page))
      await hands.click(page.getByRole('button', { name: 'More' }))
      await hands.click(page.getByRole('menuitem', { name: 'Compare with another job' }))
      await hands.click(row(page, 'Succeeded').getByRole('link', { name: 'train' }))
      await page.waitForURL(new RegExp(`ids=${ids.bad}(,|%2C)${ids.good}`))
      const difference = page.getByRole('table', { name: 'Differences of the specs' }).getByRole('row', { name: /LR/ })
      await see(difference)
      expect(await difference.innerText()).toMatch(/0\.1\s.*0\.01$/s)
    }))

  it('searches a long log, and lands on the match', () =>
    perform('ann', async (hands, page) => {
      await hands.click(failedJob(page))
      await hands.type(page.getByLabel('Search the log'), 'gradient norm')
      await hands.press('Enter')
      await see(page.getByRole('status').getByText('1 of 1'))
      await see(page.locator('[data-match=true]').getByText(warning))
      expect(await page.locator('[data-match=true]').getAttribute('data-line')).toBe(String(warnedLine))
    }))

  it('links to a line of a log', () =>
    perform(
      'ann',
      async (hands, page) => {
        await hands.click(failedJob(page))
        await hands.type(page.getByLabel('Search the log'), 'gradient norm')
        await hands.click(line(page, warnedLine).getByRole('link', { name: String(warnedLine) }))
        await page.waitForURL(new RegExp(`#L${warnedLine}$`))
        await hands.press('y')
        await page.getByText('Link copied').waitFor()
        const link = await page.evaluate<string>('navigator.clipboard.readText()')
        expect(link).toBe(page.url())
        const other = await page.context().newPage()
        await other.goto(link)
        await see(line(other, warnedLine).getByText(warning))
        expect(await line(other, warnedLine).getAttribute('data-selected')).toBe('true')
      },
      { permissions: ['clipboard-read', 'clipboard-write'] },
    ))

  it('submits a changed copy of a job', () =>
    perform('ann', async (hands, page) => {
      await hands.click(failedJob(page))
      await hands.click(page.getByRole('link', { name: 'Change and submit' }))
      await hands.type(page.getByLabel('Environment variables'), 'LR=0.02')
      await hands.click(page.getByRole('button', { name: 'Submit', exact: true }))
      await page.waitForURL(/\/jobs\/job_\w+$/)
      const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
      expect(id).not.toBe(ids.bad)
      await see(page.getByRole('heading', { level: 2, name: 'train' }))
      const query = 'query ($id: ID!) { job(id: $id) { spec { command environment { name value } } } }'
      // Others, also administrators, do not see the values.
      const { job } = await own.ask<{ job: { spec: object } }>(query, { id })
      expect(job.spec).toMatchObject({
        command: ['sh', '-c', expect.stringContaining(failure)],
        environment: [{ name: 'LR', value: '0.02' }],
      })
    }))

  it('cancels forty of two hundred jobs', () =>
    perform('cleo', async (hands, page) => {
      await hands.click(page.getByRole('link', { name: `${old + others} queued` }))
      await hands.type(page.getByRole('combobox', { name: 'Filter' }), 'state:queued user:me old')
      await page.getByRole('link', { name: `Queued ${old}` }).waitFor()
      await hands.click(page.getByLabel('Select all rows'))
      await hands.click(page.getByRole('toolbar', { name: 'Selected jobs' }).getByRole('button', { name: 'Cancel' }))
      await hands.click(page.getByRole('button', { name: `Cancel ${old} jobs` }))
      await see(page.getByRole('link', { name: `Cancelled ${old}` }))
      const count = async (text: string) => {
        const query = `query ($text: String!) {
          jobCounts(by: STATE, filter: { pools: ["gpu"], text: $text }) { rows { key count } } }`
        return (await api.ask<{ jobCounts: { rows: object[] } }>(query, { text })).jobCounts.rows
      }
      expect(await count('old')).toEqual([{ key: 'CANCELLED', count: old }])
      expect(await count('new')).toEqual([{ key: 'QUEUED', count: others }])
    }))

  it('approves a job that waits for an approval', () =>
    perform('admin', async (hands, page) => {
      await hands.click(needs(page).getByRole('link', { name: /^1 approval/ }))
      await hands.click(row(page, 'big-llm').getByRole('button'))
      await hands.click(page.getByRole('button', { name: 'Approve' }))
      await see(page.getByText('You approved this').first())
      const query = 'query ($id: ID!) { job(id: $id) { state approval { status decidedBy { name } } } }'
      const { job } = await api.ask<{ job: object }>(query, { id: ids.big })
      expect(job).toEqual({ state: 'QUEUED', approval: { status: 'APPROVED', decidedBy: { name: 'admin' } } })
    }))

  it('sees who holds the GPUs, and whether that is fair', () =>
    perform('admin', async (_hands, page) => {
      const query = '{ pool(name: "gpu") { accounts { account occupancy } } }'
      const { pool } = await api.ask<{ pool: { accounts: { account: string; occupancy: number }[] } }>(query)
      expect(pool.accounts.map(({ account }) => account).toSorted()).toEqual(['users.ann', 'users.ben', 'users.cleo'])
      const card = page.getByRole('article', { name: 'gpu' })
      await card.getByText('Fair shares').waitFor()
      for (const holder of ['ann 8', 'ben 6']) await see(card.getByRole('link', { name: holder }))
      for (const { account, occupancy } of pool.accounts)
        await see(card.getByText(`${account}${Math.round(occupancy * 1_000) / 10} % of 33.3 %`))
    }))

  it('drains a node', () =>
    perform('admin', async (hands, page) => {
      await hands.click(page.getByRole('link', { name: 'Cluster', exact: true }))
      await hands.click(page.getByRole('link', { name: 'gpu2', exact: true }))
      await hands.click(page.getByRole('button', { name: 'Drain…' }))
      await hands.type(page.getByLabel('Reason'), 'new cables')
      await hands.click(page.getByRole('button', { name: 'Drain the node' }))
      const panel = page.getByRole('complementary', { name: 'Details' })
      await see(panel.getByText('new cables'))
      const query = '{ pool(name: "gpu") { nodes(first: 9) { nodes { name state } } } }'
      const { pool } = await api.ask<{ pool: { nodes: { nodes: object[] } } }>(query)
      expect(pool.nodes.nodes).toContainEqual({ name: 'gpu2', state: 'DRAINING' })
    }))

  it('follows a sweep, and stops it', () =>
    perform('ann', async (hands, page) => {
      await hands.click(page.getByRole('region', { name: 'Running' }).getByRole('link', { name: /lr-0\.001/ }))
      await hands.click(page.getByRole('link', { name: 'grid', exact: true }))
      const states = page.getByRole('main')
      await see(states.getByRole('link', { name: 'Succeeded 2' }))
      await see(states.getByRole('link', { name: 'Running 1' }))
      const best = page.getByRole('table', { name: 'Jobs', exact: true }).getByRole('row').nth(1)
      await see(best.getByRole('link', { name: 'lr-0.01' }))
      await see(best.getByText('0.3'))
      await hands.click(page.getByRole('button', { name: 'Cancel 1 job…' }))
      await hands.click(page.getByRole('button', { name: 'Cancel 1 job', exact: true }))
      await see(states.getByRole('link', { name: 'Cancelled 1' }))
      const query = '{ jobs(filter: { labels: [{ key: "sweep", value: "grid" }] }) { nodes { name state } } }'
      const { jobs } = await api.ask<{ jobs: { nodes: object[] } }>(query)
      expect(jobs.nodes).toContainEqual({ name: 'lr-0.001', state: 'CANCELLED' })
    }))

  it('sees on a phone why a job waits', () =>
    perform(
      'cleo',
      async (hands, page) => {
        await hands.click(page.getByRole('region', { name: 'Waiting' }).getByRole('link').first())
        await page.waitForURL(/\/jobs\/job_\w+$/)
        const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
        const query = 'query ($id: ID!) { job(id: $id) { scheduling { reasons { code message } } } }'
        const { job } = await api.ask<WaitingJob>(query, { id })
        const [reason] = job.scheduling.reasons
        expect(reason?.code).toBe('GLOBAL_LIMIT')
        await see(page.getByRole('region', { name: 'Why it waits' }).getByText(reason?.message ?? ''))
      },
      { viewport: { width: 400, height: 800 }, hasTouch: true, isMobile: true },
    ))

  it('raises a limit', () =>
    perform('admin', async (hands, page) => {
      await hands.click(page.getByRole('article', { name: 'gpu' }).getByRole('link', { name: /pool limit/ }))
      await hands.click(page.getByRole('link', { name: 'Limits', exact: true }))
      await hands.click(page.getByRole('button', { name: 'Change: Running jobs of the pool' }))
      await hands.type(page.getByRole('textbox', { name: 'Running jobs of the pool' }), '4')
      await hands.press('Enter')
      await see(page.getByRole('button', { name: /4. Change: Running jobs of the pool/ }))
      const query = '{ pool(name: "gpu") { limits { maxConcurrent } } }'
      expect(await api.ask(query)).toEqual({ pool: { limits: { maxConcurrent: 4 } } })
    }))
})
