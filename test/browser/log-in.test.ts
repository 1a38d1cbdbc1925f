import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BerthServer } from '../support/berth-server.ts'
import { Issuer } from '../support/issuer.ts'
import { until } from '../support/until.ts'
import { adminToken, describeConsole, localPools, row, submit } from './support/console.ts'

/** Tokens are renewed every 9 s. */
const idTokenSeconds = 12

describeConsole('the log-in by OpenID', (subject) => {
  const issuer = new Issuer()
  let server: BerthServer
  let jobId: string
  beforeAll(async () => {
    const oidc = { issuer: await issuer.listen(), audience: 'berth-web', clientId: 'berth-web' }
    const auth = { oidc: { ...oidc, levelClaim: 'groups', levels: { research: 'LEAD' } } }
    server = await subject.start('open-id', { pools: localPools, auth }, { BERTH_BOOTSTRAP_TOKEN: adminToken })
    await issuer.serve(server.url, { idTokenSeconds })
    jobId = await submit(server, 'counts', 'for i in $(seq 3000); do echo line $i; sleep 0.1; done', adminToken)
  })
  afterAll(async () => {
    await server?.end()
    await issuer.close()
  })

  const logInAtProvider = async (page: Page) => {
    await page.getByPlaceholder('Enter any login').fill('ann')
    await page.getByPlaceholder('and password').fill('any')
    await page.getByRole('button', { name: 'Sign-in' }).click()
    await page.getByRole('button', { name: 'Continue' }).click()
  }

  const logIn = async (page: Page) => {
    await page.getByRole('button', { name: 'Log in with localhost' }).click()
    await logInAtProvider(page)
  }

  /** Collects everything that a page of the server may leave in the browser. */
  const traces = async (context: BrowserContext, page: Page) => [
    page.url(),
    await page.evaluate('JSON.stringify(localStorage) + document.cookie + document.referrer'),
    JSON.stringify((await context.cookies(server.url)).map(({ value }) => value)),
  ]

  it('returns to the page, renews its token without a gap in a live log, and ends in all tabs', async () => {
    const context = await subject.openContext()
    const page = await context.newPage()
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.url(), request.headers()['referer'] ?? ''))
    await page.goto(`${server.url}/jobs/${jobId}#L2`)
    await logIn(page)
    await page.locator('[data-selected=true]').getByText('line 2').first().waitFor()
    expect(page.url()).toBe(`${server.url}/jobs/${jobId}#L2`)
    const first = String(await page.evaluate('sessionStorage.getItem("berth-token")'))
    expect(first.split('.')).toHaveLength(3)

    const other = await context.newPage()
    await other.goto(`${server.url}/jobs`)
    await row(other, 'counts').getByText('Running').waitFor()

    await page.goto(`${server.url}/jobs/${jobId}`)
    const log = page.getByRole('log')
    const begun = issuer.renewals
    await until(() => issuer.renewals >= begun + 2, { what: 'two renewals', timeoutMs: 60_000 })
    const shown = Number(String(await log.innerText()).match(/line (\d+)\s*$/)?.[1])
    await log.getByText(`line ${shown + 20}`, { exact: true }).waitFor()
    const numbers = [...(await log.innerText()).matchAll(/line (\d+)$/gm)].map(([, number]) => Number(number))
    expect(numbers.slice(1)).toEqual(numbers.slice(0, -1).map((number) => number + 1))
    for (const tab of [page, other])
      await until(async () => (await tab.evaluate('sessionStorage.getItem("berth-token")')) !== first, {
        what: 'renewed',
      })

    const secrets = String(await page.evaluate('JSON.stringify(sessionStorage)')).match(/[\w-]{40,}/g) ?? []
    expect(secrets.length).toBeGreaterThan(1)
    const left = [...(await traces(context, page)), ...sent, server.output()].join('\n')
    expect([first, ...secrets].filter((secret) => left.includes(secret))).toEqual([])

    await other.getByRole('button', { name: 'Log out' }).click()
    for (const tab of [page, other]) await tab.getByRole('button', { name: 'Log in with localhost' }).waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    await context.close()
  })

  it.each([
    ['state', /does not belong to a log-in/],
    ['nonce', /not valid/],
    ['code_verifier', /refused the log-in/],
  ])('is refused if the provider redirects back with another %s', async (name, reason) => {
    const context = await subject.openContext()
    const page = await context.newPage()
    await page.goto(`${server.url}/jobs`)
    await page.getByRole('button', { name: 'Log in with localhost' }).click()
    await page.getByPlaceholder('Enter any login').waitFor()
    await page.addInitScript(`for (const [key, text] of Object.entries(sessionStorage)) {
      if (!key.startsWith('berth-open-id.')) continue
      sessionStorage.removeItem(key)
      const changed = { ...JSON.parse(text), ${name}: 'x'.repeat(43) }
      sessionStorage.setItem('${name}' === 'state' ? key + 'x' : key, JSON.stringify(changed))
    }`)
    await logInAtProvider(page)
    await page.getByRole('alert').getByText(reason).waitFor()
    expect(await page.evaluate('sessionStorage.getItem("berth-token")')).toBeNull()
    expect(page.url()).not.toContain('code=')
    await context.close()
  })

  it('is repeated in a dialog when the provider ends it, and the page keeps its input', async () => {
    const context = await subject.openContext()
    const page = await context.newPage()
    await page.goto(`${server.url}/jobs`)
    await logIn(page)
    await row(page, 'counts').waitFor()
    const filter = page.getByRole('combobox').first()
    await filter.fill('counts')
    issuer.hasEnded = true
    await page.getByText('Your log-in has ended').waitFor()
    issuer.hasEnded = false
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      page.getByRole('button', { name: 'Log in with localhost' }).click(),
    ])
    await page.getByText('Your log-in has ended').waitFor({ state: 'detached' })
    if (!tab.isClosed()) await tab.waitForEvent('close')
    expect(await filter.inputValue()).toBe('counts')
    const name = `after-${Date.now()}`
    await submit(server, name, 'true', adminToken)
    await filter.fill('')
    await filter.press('Enter')
    await row(page, name).waitFor()
    await context.close()
  })
})
