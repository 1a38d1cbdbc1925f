import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, it } from 'vitest'
import { reveal } from '../../web/parts/server-text.ts'
import type { BerthServer } from '../support/berth-server.ts'
import { hostileMarkup } from '../support/hostile-texts.ts'
import { until } from '../support/until.ts'
import { adminToken, berth, describeConsole, row, submit } from './support/console.ts'
import { listPages, settle } from './support/pages.ts'

describeConsole('the console and other pages', (subject) => {
  let server: BerthServer
  beforeAll(async () => {
    server = await subject.start('single')
  })

  it('can be opened by a link on another site, which cannot embed it, read it or post to it', async () => {
    const id = await submit(server, 'linked', 'echo seen')
    const html = `<a href="${server.url}/jobs/${id}">job</a> <img src="${server.url}/favicon.svg">
      <iframe src="${server.url}/about"></iframe> <iframe name="target"></iframe>
      <form method="post" action="${server.url}/graphql" enctype="text/plain" target="target"><button>send</button></form>
      <script>globalThis.read = fetch('${server.url}/settings').then(() => 'read', () => 'refused')</script>`
    const other = createServer((_request, response) => response.end(`<!doctype html>${html}`))
    await new Promise<void>((resolve) => other.listen(0, 'localhost', resolve))
    // The console of this context has the errors of the refused page.
    const context = await subject.browser.newContext()
    const page = await context.newPage()
    const statuses = new Map<string, number>()
    page.on('response', (response) => statuses.set(new URL(response.url()).pathname, response.status()))
    await page.goto(`http://localhost:${(other.address() as AddressInfo).port}/`)
    await page.getByRole('button', { name: 'send' }).click()
    await until(() => ['/about', '/graphql'].every((path) => statuses.has(path)), { what: 'the server answers' })
    expect([statuses.get('/about'), statuses.get('/graphql')]).toEqual([403, 403])
    expect(await page.evaluate('read')).toBe('refused')
    expect(await page.evaluate('document.images[0].naturalWidth')).toBe(0)
    await page.getByRole('link', { name: 'job' }).click()
    await page.getByRole('log').getByText('seen').waitFor()
    await context.close()
    await new Promise((resolve) => other.close(resolve))
  })

  it('reloads a page once if one of its scripts is missing after an update of the server', async () => {
    const context = await subject.openContext()
    const page = await context.newPage()
    await page.goto(server.url)
    await settle(page)
    let loads = 0
    page.on('domcontentloaded', () => loads++)
    await page.route(/assets\/jobs-[^/]+\.js/, (route) =>
      loads === 0 ? route.fulfill({ status: 404 }) : route.continue(),
    )
    await page.keyboard.press('g')
    await page.keyboard.press('j')
    await row(page, 'linked').waitFor()
    expect(page.url()).toBe(`${server.url}/jobs`)
    expect(loads).toBe(1)
    await context.close()
  })

  it('shows a message and a next step for each broken URL', async () => {
    const id = await submit(server, 'broken', 'echo one')
    const context = await subject.openContext()
    const page = await context.newPage()
    const urls = [
      '/jobs/nonsense',
      '/jobs/job_00000000000000000000000000',
      `/jobs/${id}/nonsense`,
      `/jobs/${id}?run=99`,
      `/jobs/${id}?run=x`,
      `/jobs/${id}#L99999999`,
      '/jobs?state=nonsense&since=never',
      '/jobs?order=nonsense&group=nonsense&peek=nonsense',
      '/jobs/compare?ids=nonsense',
      '/jobs/new?from=nonsense',
      '/sweeps/none/none?x=nonsense',
      '/approvals?tab=nonsense',
      '/workload/nonsense',
      '/cluster/nonsense?node=none',
      '/usage?from=nonsense&to=nonsense&by=nonsense',
      '/people/nonsense',
      '/policies/nonsense',
      '/audit?since=nonsense',
      '/jobs/a/b/c/d',
    ]
    const silent: string[] = []
    for (const url of urls) {
      await page.goto(server.url + url)
      await settle(page).catch(() => silent.push(url))
      const ways = page.locator('main').locator('a, button, input, select')
      if ((await ways.count()) === 0) silent.push(`${url}: no way on`)
    }
    expect(silent).toEqual([])
    await context.close()
  })

  it('computes relative times by the clock of the server', async () => {
    await submit(server, 'clock', 'sleep 600')
    const context = await subject.openContext()
    await context.addInitScript(`{
      const offMs = 3 * 3_600_000, Real = Date
      globalThis.Date = class extends Real {
        constructor(...parts) { parts.length === 0 ? super(Real.now() + offMs) : super(...parts) }
        static now() { return Real.now() + offMs }
      }
    }`)
    const page = await context.newPage()
    await page.goto(`${server.url}/jobs`)
    await row(page, 'clock').getByText('Running').waitFor()
    expect(await row(page, 'clock').innerText()).not.toMatch(/\b[23] h\b/)
    await context.close()
  })

  it('shows HTML in the texts of a job as text', async () => {
    const script = `berth progress 0.5 -m "$0"
      printf %s "$0" | berth artifact "$0" --media-type text/markdown --file -
      echo "$0"; head -c 65536 /dev/zero | tr '\\0' x`
    const submitted = hostileMarkup.map((text) => {
      const facts = ['--name', text, '--label', `sweep=${text}`, '--cpu', '0.01', '--mem', '1']
      return berth(server, ['submit', ...facts, '--', 'sh', '-c', script, text])
    })
    const ids = await Promise.all(submitted)
    const context = await subject.openContext()
    const page = await context.newPage()
    page.on('dialog', (dialog) => subject.complaints.push(`dialog: ${dialog.message()}`))
    await page.goto(`${server.url}/jobs`)
    for (const text of hostileMarkup) await row(page, reveal(text.trim())).first().waitFor()
    const urls = [
      ...listPages({ jobId: ids[0] ?? '' }),
      `/jobs/compare?ids=${ids.slice(0, 4).join()}`,
      ...ids.flatMap((id) => [`/jobs/${id}`, `/jobs/${id}/artifacts`]),
    ]
    for (const url of urls) {
      await page.goto(server.url + url)
      await settle(page)
      const traces = `[globalThis.hit ?? null, document.querySelectorAll('img[src="x"], a[href^="javascript:"], main script').length,
        document.documentElement.scrollWidth > innerWidth]`
      expect([url, await page.evaluate(traces)]).toEqual([url, [null, 0, false]])
    }
    await context.close()
  })
})

describeConsole('a new token', (subject) => {
  let server: BerthServer
  beforeAll(async () => {
    server = await subject.startWithUsers('tokens')
  })

  it('is requested in a dialog when the old one ends, and the page keeps its input', async () => {
    const token = await berth(server, ['token', 'create', 'short', '--user', 'admin'], adminToken)
    const context = await subject.openContext()
    const page = await context.newPage()
    await page.goto(`${server.url}/jobs`)
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByText('No jobs yet').waitFor()
    await page.getByRole('combobox', { name: 'Filter' }).fill('kept')
    const listed = await berth(server, ['token', 'ls', '--user', 'admin', '-o', 'json'], adminToken)
    const { prefix } = JSON.parse(listed).find(({ name }: { name: string }) => name === 'short')
    await berth(server, ['token', 'revoke', prefix], adminToken)
    await page.getByText('Your log-in has ended').waitFor()
    await page.getByLabel('Token').fill(adminToken)
    await page.keyboard.press('Enter')
    await page.getByText('Your log-in has ended').waitFor({ state: 'detached' })
    expect(await page.getByRole('combobox', { name: 'Filter' }).inputValue()).toBe('kept')
    await submit(server, 'kept', 'true', adminToken)
    await row(page, 'kept').waitFor()
    await context.close()
  })
})
