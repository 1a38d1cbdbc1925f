import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { hasProgram, startTlsNginx } from '../support/balancers.ts'
import { type BerthServer, freePort } from '../support/berth-server.ts'
import { launchChromium } from '../support/chromium.ts'
import { CommandLine } from '../support/command-line.ts'
import { until } from '../support/until.ts'
import { adminToken, berth, describeConsole } from './support/console.ts'

const program = readFileSync(join(import.meta.dirname, 'support/port-page.py'), 'utf8')

/** Starts a job that serves the page on a free port. */
async function servePage(server: BerthServer, name: string): Promise<{ id: string; port: number }> {
  const port = await freePort()
  const flags = ['--name', name, '--cpu', '0.05', '--mem', '0.5']
  const id = await berth(server, ['submit', ...flags, '--', 'python3', '-c', program, String(port), name], adminToken)
  await until(async () => (await berth(server, ['logs', id], adminToken)).includes('listening'), {
    what: 'it listens',
  })
  return { id, port }
}

/** Opens the port in the console at `url`. Returns its page. */
async function openPort(from: Page, url: string, { id, port }: { id: string; port: number }): Promise<Page> {
  await from.goto(`${url}/jobs/${id}`)
  await from.getByRole('link', { name: 'Ports' }).click()
  await from.getByLabel('Port of the job').fill(String(port))
  const opened = from.context().waitForEvent('page')
  await from.getByRole('button', { name: 'Open', exact: true }).click()
  const page = await opened
  await page.waitForURL(new RegExp(`^https?://${id.slice(4)}-${port}\\.jobs\\.\\w+:\\d+/$`))
  return page
}

describeConsole('the ports of a job', (subject) => {
  let server: BerthServer
  let context: BrowserContext
  beforeAll(async () => {
    server = await subject.startWithUsers('ports', { server: { jobsHost: 'jobs.localhost' } })
    context = await subject.openContext({}, { server, token: adminToken })
  })

  it('have their own origins, with WebSockets, and with cookies that other jobs do not receive', async () => {
    const from = await context.newPage()
    const [first, second] = [await servePage(server, 'first'), await servePage(server, 'second')]
    const page = await openPort(from, server.url, first)
    await page.getByText('socket: echo hello').waitFor()
    await page.reload()
    await page.getByText('first got: of=first').waitFor()
    const other = await openPort(from, server.url, second)
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
    // A user has two running jobs.
    await berth(server, ['cancel', first.id, second.id], adminToken)
  })

  it('can be reached through berth forward, also with a WebSocket', async () => {
    const { id, port } = await servePage(server, 'forwarded')
    const commandLine = new CommandLine(subject.directory, { BERTH_URL: server.url, BERTH_TOKEN: adminToken })
    const forward = commandLine.start(['forward', id, `0:${port}`])
    const [, local = ''] = await forward.find(/127\.0\.0\.1:(\d+) leads to/)
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${local}/`)
    await page.getByText('socket: echo hello').waitFor()
    await page.close()
    forward.child.kill('SIGINT')
    expect((await forward.ended).code).toBe(0)
  })
})

describeConsole('the ports of a job over https', (subject) => {
  const run = hasProgram('nginx') ? it : it.skip

  run('are pages whose cookies are sent neither to other jobs nor to the console', async () => {
    const at = await freePort()
    const url = `https://berth.test:${at}`
    const server = await subject.startWithUsers('https', { server: { jobsHost: 'jobs.test', publicUrl: url } })
    await using _ = await startTlsNginx(Number(new URL(server.url).port), ['berth.test', '*.jobs.test'], at)
    const browser = await launchChromium({ args: ['--host-resolver-rules=MAP *.test 127.0.0.1'] })
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    await context.addInitScript(
      `if (location.origin === '${url}') sessionStorage.setItem('berth-token', '${adminToken}')`,
    )
    const [first, second] = [await servePage(server, 'first'), await servePage(server, 'second')]
    const from = await context.newPage()
    const page = await openPort(from, url, first)
    await page.getByText('socket: echo hello').waitFor()
    await page.reload()
    await page.getByText('first got: of=first').waitFor()
    const other = await openPort(from, url, second)
    await other.getByText('second got: none').waitFor()
    await other.getByText('socket: echo hello').waitFor()
    const own = await context.cookies(page.url())
    expect(own.map(({ name, domain }) => [name, domain]).toSorted()).toEqual([
      ['__Host-berth-port', new URL(page.url()).hostname],
      ['of', new URL(page.url()).hostname],
    ])
    const hidden = { name: '__Host-berth-port', secure: true, httpOnly: true, sameSite: 'Lax', path: '/' }
    expect(own).toContainEqual(expect.objectContaining(hidden))
    expect(await page.evaluate('document.cookie')).toBe('of=first')
    expect(await context.cookies(url)).toEqual([])
    // The second page refuses the cookie of the first one.
    const value = own.find(({ name }) => name === hidden.name)?.value ?? ''
    await context.addCookies([{ name: hidden.name, value, url: other.url(), secure: true }])
    expect((await other.reload())?.status()).toBe(403)
    await browser.close()
  })
})
