import type { BrowserContext } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import type { BerthProcess } from '../support/berth-process.ts'
import type { BerthServer } from '../support/berth-server.ts'
import { adminToken, describeConsole, row, submit } from './support/console.ts'

describeConsole('the console', (subject) => {
  describe('of a single user', () => {
    let server: BerthProcess
    let context: BrowserContext
    beforeAll(async () => {
      server = await subject.startProcess('single')
      context = await subject.openContext()
    })

    it('lists jobs live, follows the log of one, and cancels it', async () => {
      const page = await context.newPage()
      await page.goto(server.url)
      await page.getByRole('link', { name: 'Jobs' }).click()
      await page.getByText('No jobs yet').waitFor()
      await submit(
        server,
        'train',
        'i=0; while :; do i=$((i+1)); printf "\\033[32mstep %d\\033[0m\\n" $i; sleep 0.2; done',
      )
      await row(page, 'train').getByText('Running').waitFor()
      await row(page, 'train').getByRole('link').click()
      const log = page.getByRole('log')
      await log.getByText('step 5', { exact: true }).waitFor()
      expect(await log.getByText('step 5', { exact: true }).getAttribute('style')).toContain('--ansi-2')
      await page.keyboard.press('c')
      const dialog = page.getByRole('alertdialog')
      await dialog.getByText('Stops 1 running job').waitFor()
      await dialog.getByText('berth cancel job_').waitFor()
      await dialog.getByRole('button', { name: 'Cancel job' }).click()
      await page.getByText('Cancelled', { exact: true }).waitFor()
      await page.getByRole('link', { name: 'Events' }).click()
      await page.getByRole('cell', { name: 'Submitted' }).waitFor()
      await page.close()
    })

    it('does not move the rows under the pointer until the user asks for the changes', async () => {
      await submit(server, 'first', 'sleep 600')
      const page = await context.newPage()
      await page.goto(`${server.url}/jobs`)
      const first = row(page, 'first')
      await first.hover()
      const before = await first.boundingBox()
      await submit(server, 'second', 'sleep 600')
      await page.getByRole('button', { name: '1 change' }).waitFor()
      expect(await first.boundingBox()).toEqual(before)
      await page.getByRole('button', { name: '1 change' }).click()
      await row(page, 'second').waitFor()
      await page.close()
    })

    it('cancels the selected jobs by keyboard', async () => {
      const page = await context.newPage()
      await page.goto(`${server.url}/jobs?state=running`)
      await row(page, 'first').waitFor()
      for (const key of ['j', 'x', 'j', 'x', 'c']) await page.keyboard.press(key)
      const dialog = page.getByRole('alertdialog')
      await dialog.getByRole('heading', { name: 'Cancel 2 jobs?' }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByText('No job matches').waitFor()
      await page.close()
    })

    it('opens a log at the line that a link names, without loading the lines before it', async () => {
      const id = await submit(server, 'numbers', 'seq 300000')
      const page = await context.newPage()
      await page.goto(`${server.url}/jobs/${id}#L150000`)
      const line = page.locator('[data-selected=true]')
      await line.getByText('150000').first().waitFor()
      expect(await line.innerText()).toMatch(/^150000\s*150000$/)
      await page.getByText('300,000 lines').waitFor()
      await page.keyboard.press('Shift+G')
      await page.getByRole('log').getByText('300000').first().waitFor()
      await page.keyboard.press('/')
      await page.getByLabel('Search the log').fill('^12345')
      await page.getByRole('button', { name: '.*' }).click()
      await page.getByText('1 of 11').waitFor()
      await page.locator('[data-match=true]').getByText('12345').first().waitFor()
      await page.getByRole('button', { name: 'Next match' }).click()
      await page.getByText('2 of 11').waitFor()
      await page.close()
    })

    it('shows an outage of the connection, keeps its content, and reconnects without a click', async () => {
      const page = await context.newPage()
      await page.goto(`${server.url}/jobs`)
      await row(page, 'numbers').waitFor()
      await page.getByRole('status').getByText('Live', { exact: true }).waitFor()
      const port = Number(new URL(server.url).port)
      await server.end('SIGKILL')
      await page.getByRole('status').getByText('Reconnecting since').waitFor()
      expect(await row(page, 'numbers').count()).toBe(1)
      server = await subject.restart('single', port)
      await page.getByRole('status').getByText('Live', { exact: true }).waitFor()
      await submit(server, 'after', 'true')
      await row(page, 'after').getByText('Succeeded').waitFor()
      await page.close()
    })

    it('loads the stylesheet of a page again after a failure', async () => {
      const page = await context.newPage()
      await page.goto(`${server.url}/jobs`)
      await row(page, 'numbers').waitFor()
      let tries = 0
      await page.route('**/assets/settings-*.css', (route) => (++tries === 1 ? route.abort() : route.continue()))
      await page.evaluate('window.isFirst = true')
      await page.getByRole('link', { name: 'Settings' }).click()
      const title = page.getByRole('heading', { level: 2, name: 'Appearance' })
      await title.waitFor()
      expect(await title.evaluate((each) => getComputedStyle(each).fontSize)).toBe('15px')
      expect([tries, await page.evaluate('window.isFirst')]).toEqual([2, true])
      await page.close()
    })

    it('fits the screen of a phone', async () => {
      const phone = await subject.openContext({ viewport: { width: 400, height: 800 } })
      const page = await phone.newPage()
      for (const path of ['/', '/jobs', `/jobs/${await submit(server, 'phone', 'echo hello')}`]) {
        await page.goto(server.url + path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForLoadState('networkidle')
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400)
      }
      await phone.close()
    })
  })

  describe('of a server with users, if documents.freeText is NONE', () => {
    let server: BerthServer
    beforeAll(async () => {
      server = await subject.startWithUsers('users', { server: { documents: { freeText: 'NONE' } } })
    })

    it('asks for a token, then shows the requested page, and shares the token with another tab', async () => {
      const id = await submit(server, 'shown', 'echo seen', adminToken)
      const context = await subject.openContext()
      const page = await context.newPage()
      await page.goto(`${server.url}/jobs/${id}`)
      await page.getByLabel('Token').fill('wrong')
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.getByText('does not know this token').waitFor()
      await page.getByLabel('Token').fill(adminToken)
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.getByRole('log').getByText('seen').waitFor()
      expect(page.url()).toBe(`${server.url}/jobs/${id}`)
      expect(await page.evaluate('JSON.stringify(localStorage) + document.cookie')).not.toContain(adminToken)

      const other = await context.newPage()
      await other.goto(`${server.url}/jobs`)
      await row(other, 'shown').waitFor()
      await other.getByRole('button', { name: 'Log out' }).click()
      for (const each of [page, other]) await each.getByLabel('Token').waitFor()
      await context.close()
    })
  })
})
