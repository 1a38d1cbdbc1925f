import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import type { BerthProcess } from '../support/berth-process.ts'
import { adminToken, berth, describeLongConsole, row } from './support/console.ts'

const gpus = [{ model: 'A100', memoryGib: 40, count: 8 }]
const pools = [
  {
    name: 'gpu',
    executor: 'simulated',
    limits: { maxConcurrent: 1, userMaxConcurrent: null },
    nodes: ['a1', 'a2'].map((name) => ({ name, cpu: 64, memoryGib: 512, gpus })),
  },
]
const queues = [{ name: 'default', pool: 'gpu' }]

describeLongConsole('the console for pools', (subject) => {
  let server: BerthProcess
  let context: BrowserContext
  let page: Page
  beforeAll(async () => {
    server = await subject.startProcess('pools', { pools, queues }, { BERTH_BOOTSTRAP_TOKEN: adminToken })
    context = await subject.openContext({}, { server, token: adminToken })
    page = await context.newPage()
  })

  const run = (...args: string[]) => berth(server, args, adminToken)
  const submit = (name: string, gpu = '2') =>
    run('submit', '--name', name, '--gpu', gpu, '--env', 'SIM_RUN_SECONDS=600', '--max-run-time', '2h', '--', 'true')
  const open = (path: string) => page.goto(server.url + path)
  const line = (name: string) => row(page, name).filter({ hasText: /Queued/ })

  it('updates the workload page for jobs of other users, which start when a limit is changed', async () => {
    await submit('first')
    await submit('second')
    await open('/workload/gpu')
    await line('second').getByText('1').first().waitFor()
    await submit('third')
    await line('third').waitFor()
    await page.getByRole('link', { name: 'pool limit' }).waitFor()
    await page.getByRole('link', { name: 'Limits', exact: true }).click()
    await page.getByRole('button', { name: 'Change: Running jobs of the pool' }).click()
    const field = page.getByRole('textbox', { name: 'Running jobs of the pool' })
    await field.fill('some')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('Write a whole number').waitFor()
    await field.fill('5')
    await field.press('Enter')
    await field.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Line and forecast' }).click()
    await page.getByText('No job waits.').waitFor()
    await page.getByRole('button', { name: 'Table' }).click()
    await row(page, 'third').getByText('at most').waitFor()
    await page.getByRole('link', { name: 'third' }).click()
    await page.waitForURL(/\/jobs\/job_/)
  })

  it('shows a refused change beside its form, and keeps the input', async () => {
    await run('user', 'create', 'eve', '--level', 'ADMIN')
    const token = await run('token', 'create', 'eve', '--user', 'eve')
    const own = await subject.openContext({}, { server, token })
    const other = await own.newPage()
    await other.goto(`${server.url}/workload/gpu?view=limits`)
    await other.getByRole('button', { name: 'Change: Running jobs of the pool' }).click()
    await run('user', 'set', 'eve', '--level', 'VIEWER')
    const field = other.getByRole('textbox', { name: 'Running jobs of the pool' })
    await field.fill('9')
    await field.press('Enter')
    await other.getByRole('alert').getByText('limits.write').waitFor()
    expect(await field.inputValue()).toBe('9')
    await other.reload()
    await other.getByText('needs the permission limits.write').waitFor()
    expect(await other.getByRole('button', { name: 'Change: Running jobs of the pool' }).count()).toBe(0)
    await own.close()
  })

  it('shows on the cluster page the users and changes of nodes, also after the server was killed', async () => {
    await open('/cluster/gpu?view=table')
    await row(page, 'first').getByText('6 of 8').waitFor()
    await run('node', 'cordon', 'a2', '--reason', 'new cables')
    await row(page, 'a2').getByText('cordoned').waitFor()
    const port = Number(new URL(server.url).port)
    await server.end('SIGKILL')
    await page.getByRole('status').getByText('Reconnecting since').waitFor()
    expect(await row(page, 'a2').count()).toBe(1)
    server = await subject.restart('pools', port, { BERTH_BOOTSTRAP_TOKEN: adminToken })
    await run('node', 'uncordon', 'a2')
    await row(page, 'a2').getByText('ready').waitFor()
    await page.getByRole('button', { name: 'a1' }).click()
    const panel = page.getByRole('complementary', { name: 'Details' })
    await panel.getByRole('link', { name: 'second' }).waitFor()
    await panel.getByRole('button', { name: 'Drain…' }).click()
    await page.getByLabel('Reason').fill('to the workshop')
    await page.getByRole('button', { name: 'Drain the node' }).click()
    await panel.getByText('to the workshop').waitFor()
    await row(page, 'a1').getByText('draining').waitFor()
  })

  it('shows the same nodes on the map as in the table, and opens a node by a click', async () => {
    await open('/cluster/gpu?fits=4+GPU+>=+80+GiB')
    await page.getByText('0 of 2 nodes have room now').waitFor()
    const map = page.getByRole('img', { name: 'Map of 2 nodes with 16 GPUs' })
    await map.click({ position: { x: 24, y: 72 } })
    await page.waitForURL(/node=a1/)
    await page.getByRole('complementary', { name: 'Details' }).getByRole('heading', { name: 'a1' }).waitFor()
    await open('/cluster/gpu')
    await page.getByRole('link', { name: 'a2', exact: true }).click()
    await page.waitForURL(/node=a2/)
    await open('/cluster/gpu?fits=many+big+ones&node=none')
    await page.getByText('is not a request').waitFor()
    await page.getByText('The pool has no node none').waitFor()
  })

  it('fits the pages of a pool on a phone', async () => {
    const phone = await subject.openContext({ viewport: { width: 400, height: 800 } }, { server, token: adminToken })
    const narrow = await phone.newPage()
    for (const path of ['/workload', '/cluster', '/usage?from=1h']) {
      await narrow.goto(server.url + path)
      await narrow.getByRole('heading', { level: 1 }).waitFor()
      await narrow.waitForLoadState('networkidle')
      expect(await narrow.evaluate('document.querySelector("main").scrollWidth')).toBeLessThanOrEqual(400)
    }
    await phone.close()
  })
})
