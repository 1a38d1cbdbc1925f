import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import type { BerthProcess } from '../support/berth-process.ts'
import type { CuttingProxy } from '../support/proxy.ts'

/** One page as a person uses it. */
export interface Drive {
  browser: Browser
  berth: BerthProcess
  proxy: CuttingProxy
  name: string
  url: string
}

const waitMsMax = 30_000

export async function drive({ browser, proxy, name, url }: Drive) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, colorScheme: 'light' })
  context.setDefaultTimeout(waitMsMax)
  await context.addInitScript('const { now } = Date; Date.now = () => now() + 3 * 3_600_000')
  const page = await openPage(context, url)
  if ((await rows(page).count()) === 0) await page.getByText('No jobs yet').waitFor()
  await photograph(page, `${name}-empty`)

  const title = `train ${name}`
  await submits(page, title, String.raw`printf '\033[1;32mgreen\033[0m plain\n'; sleep 2; echo done`)
  await follows(page, title)
  await photograph(page, `${name}-output`)
  await refuses(page)
  await progresses(page, name)
  await waitsForServer(page, proxy, name)
  await cancels(page)
  await deletes(page)
  await fitsPhones(page, name)
  await context.close()
  demandNoComplaints()
}

export async function openPage(context: BrowserContext, url: string): Promise<Page> {
  const page = await openAddress(context, url)
  await page.getByRole('button', { name: 'Submit job' }).waitFor()
  return page
}

/** Messages of Chromium about failed requests and connections. */
const ofNetwork = /^(Failed to load resource|WebSocket connection to|Access to fetch at)/

/** Errors of the pages, and warnings in their consoles. */
const complaints: Error[] = []
export const demandNoComplaints = () => assert.deepEqual(complaints, [])

export async function openAddress(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage()
  page.on('pageerror', (error) => complaints.push(error))
  page.on('console', (message) => {
    const isWarning = ['warning', 'error'].includes(message.type()) && !ofNetwork.test(message.text())
    if (isWarning) complaints.push(new Error(`${page.url()}: ${message.text()}`))
  })
  await page.goto(url)
  return page
}

export const rows = (page: Page): Locator => page.locator('tbody tr')
const rowOf = (page: Page, title: string) => rows(page).filter({ hasText: title }).first()
const panel = (page: Page) => page.locator('section.panel')
const stateOf = (within: Locator) => within.locator('.state').first()

async function submits(page: Page, title: string, script: string) {
  await page.getByLabel('Name').fill(title)
  await page.getByLabel('Shell script').fill(script)
  await page.getByLabel('Shell script').press('Control+Enter')
  await rowOf(page, title).waitFor()
  assert.doesNotMatch(await rowOf(page, title).innerText(), /\dh ago/, 'the age is by the clock of the browser')
}

/** By the keyboard: a job is a link. */
async function opens(page: Page, title: string) {
  await rowOf(page, title).getByRole('link').focus()
  await page.keyboard.press('Enter')
  await panel(page).getByRole('heading', { name: title }).waitFor()
}

async function follows(page: Page, title: string) {
  await opens(page, title)
  const output = page.getByRole('log')
  await output.getByText('green').waitFor()
  assert.equal(await output.getByText('green').getAttribute('class'), 'bold ansi2')
  for (const place of [panel(page), rowOf(page, title)]) await stateOf(place).filter({ hasText: 'Succeeded' }).waitFor()
  assert.equal((await output.innerText()).trimEnd(), 'green plain\ndone')
  await panel(page).locator('.events').getByText('Succeeded').waitFor()
}

async function refuses(page: Page) {
  await page.getByLabel('Name').fill('x'.repeat(256))
  await page.getByLabel('Shell script').fill('true')
  await page.getByRole('button', { name: 'Submit job' }).click()
  const alert = page.getByRole('alert')
  await alert.getByText('spec.name: ').waitFor()
  await alert.getByRole('button', { name: 'Dismiss' }).click()
  assert.equal(await alert.count(), 0)
}

async function progresses(page: Page, name: string) {
  await page.getByRole('button', { name: 'Progress' }).click()
  await page.getByRole('button', { name: 'Submit job' }).click()
  await rowOf(page, 'progress').locator('progress[value]').waitFor()
  await opens(page, 'progress')
  await panel(page).locator('progress[value="30"]').waitFor()
  await photograph(page, name)
}

/** Connections are cut and streams blocked: the page shows the outage and the return. */
async function waitsForServer(page: Page, proxy: CuttingProxy, name: string) {
  proxy.blocked.add('websocket').add('sse')
  proxy.cut()
  await page.getByRole('status').getByText('Reconnecting…').waitFor()
  await page.getByText('What you see is from before').waitFor()
  await page.waitForTimeout(800)
  await photograph(page, `${name}-away`)
  proxy.blocked.clear()
  await page.getByRole('status').getByText('Live').waitFor()
}

async function cancels(page: Page) {
  await submits(page, 'long', 'sleep 600')
  await opens(page, 'long')
  await panel(page).getByRole('button', { name: 'Cancel' }).click()
  for (const place of [panel(page), rowOf(page, 'long')])
    await stateOf(place).filter({ hasText: 'Cancelled' }).waitFor()
}

async function deletes(page: Page) {
  const before = await rows(page).count()
  await panel(page).getByRole('button', { name: 'Delete' }).click()
  await page.getByText('This job was deleted').waitFor()
  await rows(page)
    .nth(before - 1)
    .waitFor({ state: 'detached' })
}

async function fitsPhones(page: Page, name: string) {
  await submits(page, `import ${name}`, 'echo reading; printf "\\033[31merror:\\033[0m no such file\\n" >&2; exit 3')
  await submits(page, `nightly ${name}`, 'sleep 60')
  await page.setViewportSize({ width: 375, height: 780 })
  await page.getByRole('link', { name: 'All jobs' }).click()
  await fits(page)
  await photograph(page, `${name}-375`)
  await opens(page, `import ${name}`)
  await page.getByRole('log').getByText('no such file').waitFor()
  await fits(page)
  await photograph(page, `${name}-375-job`)
}

async function fits(page: Page) {
  const needed = Number(await page.evaluate('document.documentElement.scrollWidth'))
  const there = Number(await page.evaluate('innerWidth'))
  assert.ok(needed <= there, `the page is ${needed} px wide on ${there} px`)
}

export async function photograph(page: Page, name: string) {
  const folder = process.env['BERTH_TEST_SCREENSHOTS']
  if (folder === undefined) return
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) })
  }
}
