import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import type { BerthServer } from '../support/berth-server.ts'
import { adminToken, berth, describeLongConsole, row, submit } from './support/console.ts'
import { readFocus } from './support/focus.ts'
import { settle } from './support/pages.ts'

const ticks = 'sh -c "for i in $(seq 600); do echo tick $i; sleep 0.2; done"'
/** true: the focus is on an element, and has not left the page after the last control. */
const hasStop = 'document.activeElement !== document.body'

describeLongConsole('the console by keyboard alone', (subject) => {
  let server: BerthServer
  beforeAll(async () => {
    server = await subject.startWithUsers('keyboard', {
      approvalRules: [{ name: 'big', condition: { name: 'big-*' } }],
    })
  })

  const open = async (token: string) => {
    const context = await subject.openContext({ reducedMotion: 'reduce' }, { server, token })
    const page = await context.newPage()
    await page.goto(server.url)
    await settle(page)
    return page
  }
  /** Presses the keys one after the other. */
  const press = async (page: Page, ...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  /** Waits until the element with this name has a visible focus. */
  const expectFocus = (page: Page, name: string | RegExp) => expect.poll(() => readFocus(page)).toMatch(name)

  it('submits a job, reads and searches its log, and cancels it', async () => {
    const page = await open(adminToken)
    await press(page, 'n')
    await expectFocus(page, 'textarea Command')
    await page.keyboard.type(ticks)
    await page.getByText('Starts now').first().waitFor()
    await press(page, 'Control+Enter')
    await page.waitForURL(/\/jobs\/job_/)
    await page.getByRole('log').getByText('tick 12', { exact: true }).waitFor()
    await expectFocus(page, 'main')

    await press(page, '/')
    await expectFocus(page, 'input Search the log')
    await page.keyboard.type('tick 1$')
    await press(page, 'Tab')
    await expectFocus(page, /^button \.\*/)
    await press(page, 'Space', 'Shift+Tab')
    await page.getByRole('status').getByText('1 of 1').waitFor()
    await press(page, 'Enter')
    await page.locator('[data-match=true]').getByText('tick 1').waitFor()
    await expectFocus(page, 'input Search the log')
    await press(page, 'Escape')
    await expectFocus(page, 'log Output')
    await press(page, 'n')
    await page.getByText('1 of 1').waitFor()
    expect(page.url()).toMatch(/\/jobs\/job_/)

    await press(page, 'c')
    await expectFocus(page, 'button Cancel job')
    await press(page, 'Shift+Tab')
    await expectFocus(page, 'button Keep')
    await press(page, 'Tab', 'Enter')
    await page.getByRole('main').getByText('Cancelled', { exact: true }).waitFor()
    await expectFocus(page, 'log Output')
    await page.context().close()
  })

  it('approves a request', async () => {
    await berth(server, ['user', 'create', 'ann', '--level', 'RESEARCHER'], adminToken)
    const token =
      (await berth(server, ['token', 'create', 'test', '--user', 'ann'], adminToken)).split('\n').at(-1) ?? ''
    for (const name of ['big-one', 'big-two']) await submit(server, name, 'true', token)
    const page = await open(adminToken)
    await press(page, 'g', 'a')
    await row(page, 'big-two').waitFor()
    await expectFocus(page, 'main')
    await press(page, 'j')
    await expectFocus(page, 'button big-one')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    // `g a` opens the same page again; its second key approves nothing.
    await press(page, 'g', 'a', 'j')
    await expectFocus(page, /button big-/)
    expect((await berth(server, ['ls', '--state', 'blocked', '-o', 'ids'], adminToken)).split('\n')).toHaveLength(2)
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await press(page, 'a')
    await page.getByText('You approved this').first().waitFor()
    await expectFocus(page, /button big-/)
    await page.context().close()
  })

  it('reaches every page, the palette and the help, and shows the focus at each stop', async () => {
    const page = await open(adminToken)
    for (const [key, title] of [
      ['j', 'Jobs'],
      ['w', 'Workload local'],
      ['c', 'Cluster local'],
      ['u', 'Usage'],
      ['o', 'Overview'],
    ] as const) {
      await press(page, 'g', key)
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      await settle(page)
      const stops: string[] = []
      for (await press(page, 'Tab'); await page.evaluate(hasStop); await press(page, 'Tab'))
        stops.push(await readFocus(page))
      expect(stops.length, stops.join()).toBeGreaterThan(2)
    }
    await press(page, '?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await press(page, 'Escape', 'Control+k')
    await expectFocus(page, 'combobox Search or run')
    await page.keyboard.type('audit')
    await page.getByRole('option', { name: 'Audit log' }).waitFor()
    await press(page, 'Enter')
    await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
    await page.context().close()
  })
})
