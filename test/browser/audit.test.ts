import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { formatMoment } from '../../web/parts/format.ts'
import { type Api, connectApi } from '../support/api.ts'
import type { BerthServer } from '../support/berth-server.ts'
import { adminToken, berth, describeConsole, row, submit } from './support/console.ts'

interface Facts {
  auditLog: { nodes: { at: string; operation: string }[] }
  job: { id: string; events: { nodes: { at: string }[] } }
}

describeConsole('the console', (subject) => {
  let server: BerthServer
  let api: Api
  let page: Page
  let jobId: string
  beforeAll(async () => {
    server = await subject.startWithUsers('audit')
    api = connectApi(server.url, adminToken)
    jobId = await submit(server, 'first', 'true', adminToken)
    for (const name of ['second', 'third', 'fourth']) await submit(server, name, 'true', adminToken)
    await berth(server, ['user', 'create', 'ann'], adminToken)
    page = await (await subject.openContext({}, { server, token: adminToken })).newPage()
  })
  afterAll(() => api?.close())

  const read = () =>
    api.ask<Facts>(
      'query ($id: ID!) { auditLog(first: 1) { nodes { at operation } } job(id: $id) { id events(first: 1) { nodes { at } } } }',
      { id: jobId },
    )
  const formatAt = (at = '') => formatMoment(Date.parse(at), Date.now())

  it('shows names and times with seconds in the audit log, and folds equal entries', async () => {
    await page.goto(`${server.url}/audit`)
    const [newest] = (await read()).auditLog.nodes
    await row(page, 'ann').filter({ hasText: 'user.create' }).getByText(formatAt(newest?.at)).waitFor()
    await row(page, 'fourth').getByRole('button', { name: '4 equal rows' }).click()
    await row(page, 'second').getByRole('link', { name: 'second' }).waitFor()
    await row(page, 'first').getByRole('button', { name: 'job.submit' }).click()
    const panel = page.getByRole('complementary', { name: 'Details' })
    await panel.getByRole('link', { name: 'first' }).waitFor()
    await panel.getByText(jobId).waitFor()
    await row(page, 'fourth').getByRole('button', { name: '4 equal rows' }).click()
    expect(await row(page, 'first').count()).toBe(1)
  })

  it('shows in the audit log that the users could not be read, and retries', async () => {
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('query FindUsers')
        ? route.fulfill({ json: { errors: [{ message: 'Not now.', extensions: { code: 'FORBIDDEN' } }] } })
        : route.continue(),
    )
    await page.goto(`${server.url}/audit?actor=admin`)
    await page.getByText('Not now.').waitFor()
    expect(await page.getByText('No user has the name').count()).toBe(0)
    await page.unroute('**/graphql')
    await page.getByRole('button', { name: 'Try again' }).click()
    await row(page, 'ann').filter({ hasText: 'user.create' }).waitFor()
  })

  it('filters the audit log only by whole user names', async () => {
    await page.goto(`${server.url}/audit?actor=an`)
    await page.getByText('No user has the name an.').waitFor()
    await page.goto(`${server.url}/audit?actor=ann,%20admin`)
    await row(page, 'ann').filter({ hasText: 'user.create' }).waitFor()
  })

  it('shows the times of the events of a job with seconds', async () => {
    await page.goto(`${server.url}/jobs/${jobId}/events`)
    const [created] = (await read()).job.events.nodes
    await row(page, 'Submitted').getByText(formatAt(created?.at)).waitFor()
  })
})
