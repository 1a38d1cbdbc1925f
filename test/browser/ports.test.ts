import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { type BerthServer, freePort } from '../support/berth-server.ts'
import { until } from '../support/until.ts'
import { adminToken, berth, describeConsole } from './support/console.ts'

const program = readFileSync(join(import.meta.dirname, 'support/port-page.py'), 'utf8')

describeConsole('the ports of a job', (subject) => {
  let server: BerthServer
  let context: BrowserContext
  beforeAll(async () => {
    server = await subject.startWithUsers('ports', { server: { jobsHost: 'jobs.localhost' } })
    context = await subject.openContext({}, { server, token: adminToken })
  })

  const serve = async (name: string): Promise<{ id: string; port: number }> => {
    const port = await freePort()
    const flags = ['--name', name, '--cpu', '0.05', '--mem', '1']
    const id = await berth(server, ['submit', ...flags, '--', 'python3', '-c', program, String(port), name], adminToken)
    await until(async () => (await berth(server, ['logs', id], adminToken)).includes('listening'), {
      what: 'it listens',
    })
    return { id, port }
  }

  const openPort = async (from: Page, { id, port }: { id: string; port: number }): Promise<Page> => {
    await from.goto(`${server.url}/jobs/${id}`)
    await from.getByRole('link', { name: 'Ports' }).click()
    await from.getByLabel('Port of the job').fill(String(port))
    const opened = context.waitForEvent('page')
    await from.getByRole('button', { name: 'Open', exact: true }).click()
    const page = await opened
    await page.waitForURL(new RegExp(`^http://${id.slice(4)}-${port}\\.jobs\\.localhost:\\d+/$`))
    return page
  }

  it('are pages of their own origin, with WebSockets and cookies that no other job gets', async () => {
    const from = await context.newPage()
    const [first, second] = [await serve('first'), await serve('second')]
    const page = await openPort(from, first)
    await page.getByText('socket: echo hello').waitFor()
    await page.reload()
    await page.getByText('first got: of=first').waitFor()
    const other = await openPort(from, second)
    await other.getByText('second got: none').waitFor()
    await other.reload()
    await other.getByText('second got: of=second').waitFor()
    expect(await page.evaluate('document.cookie')).toBe('of=first')
    expect(await page.evaluate('opener')).toBeNull()
    expect(await context.cookies(server.url)).toEqual([])
    expect(await page.evaluate(`fetch('/graphql').then((answer) => answer.text())`)).toContain('first got:')
    await from
      .getByRole('row', { name: `Port ${second.port}` })
      .getByRole('button', { name: 'End' })
      .click()
    await expect.poll(async () => (await other.reload())?.status() ?? 0, { timeout: 10_000 }).toBe(403)
    await other.getByText('Open the port again from the page of the job').waitFor()
    await from.getByRole('button', { name: 'Log out' }).click()
    await expect.poll(async () => (await page.reload())?.status() ?? 0, { timeout: 5_000 }).toBe(403)
    await Promise.all([from, page, other].map((each) => each.close()))
  })
})
