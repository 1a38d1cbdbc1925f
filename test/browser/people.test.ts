import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import type { BerthServer } from '../support/berth-server.ts'
import { adminToken, berth, describeLongConsole, row, submit } from './support/console.ts'

describeLongConsole('the console for administrators', (subject) => {
  let server: BerthServer
  let context: BrowserContext
  let page: Page
  beforeAll(async () => {
    server = await subject.startWithUsers('people')
    context = await subject.openContext({}, { server, token: adminToken })
    page = await context.newPage()
  })

  it('creates a user and a token, with which the user sees less than the administrator', async () => {
    await page.goto(`${server.url}/people/users`)
    await page.getByRole('button', { name: 'New user' }).click()
    await page.getByLabel('Log-in name').fill('admin')
    await page.getByRole('button', { name: 'Create user' }).click()
    await page.getByRole('alert').first().waitFor()
    expect(await page.getByLabel('Log-in name').inputValue()).toBe('admin')
    await page.getByLabel('Log-in name').fill('ann')
    await page.getByRole('button', { name: 'Create user' }).click()
    await row(page, 'ann').getByText('researcher').waitFor()

    await page.getByRole('link', { name: 'Tokens of ann' }).click()
    await page.getByRole('button', { name: 'New token' }).click()
    const panel = page.getByRole('complementary', { name: 'Details' })
    await panel.getByLabel('Name').fill('laptop')
    await panel.getByRole('button', { name: 'Create token' }).click()
    await panel.getByText('not shown again').waitFor()
    const secret = await panel.getByRole('code').first().innerText()
    await panel.getByRole('button', { name: 'Done' }).click()
    await row(page, 'laptop').waitFor()
    expect(await page.getByRole('link', { name: 'People' }).getAttribute('aria-current')).toBe('page')
    expect(await page.content()).not.toContain(secret)

    const other = await subject.openContext()
    const own = await other.newPage()
    await own.goto(`${server.url}/audit`)
    await own.getByLabel('Token').fill(secret)
    await own.getByRole('button', { name: 'Log in' }).click()
    await own.getByRole('heading', { name: 'You may not read the audit log' }).waitFor()
    await own.getByText('audit.read').waitFor()
    await own.getByRole('link', { name: 'People' }).click()
    await row(own, 'laptop').waitFor()
    expect(await own.getByRole('link', { name: 'Audit log' }).count()).toBe(0)
    await own.goto(`${server.url}/people/users`)
    await row(own, 'ann').waitFor()
    expect(await row(own, 'admin').count()).toBe(0)
    expect(await own.getByRole('button', { name: 'New user' }).count()).toBe(0)
    await other.close()
  })

  it('sets, replaces and deletes a secret of a team without showing its value', async () => {
    await berth(server, ['team', 'create', 'ml'], adminToken)
    await page.goto(`${server.url}/secrets?open=new`)
    const panel = page.getByRole('complementary', { name: 'Details' })
    await panel.getByLabel('Name').fill('PATH')
    await panel.getByLabel('Value').fill('value-of-the-team')
    await panel.getByRole('button', { name: 'Set secret' }).click()
    await panel.getByText('Must not be a variable that Berth or the system sets', { exact: true }).waitFor()
    await panel.getByLabel('Name').fill('API_KEY')
    await panel.getByLabel('Owner').selectOption('Team ml')
    await panel.getByRole('button', { name: 'Set secret' }).click()
    await row(page, 'API_KEY').getByText('Team ml').waitFor()
    await panel.getByRole('button', { name: 'Replace value…' }).click()
    await panel.getByLabel('Value').fill('newer-value-of-the-team')
    await panel.getByRole('button', { name: 'Replace value', exact: true }).click()
    await panel.getByRole('button', { name: 'Replace value…' }).waitFor()
    expect(await page.content()).not.toContain('value-of-the-team')
    expect(await berth(server, ['secret', 'ls', '--team', 'ml'], adminToken)).toMatch(
      /API_KEY +team ml .* admin +never/,
    )
    await page.goto(`${server.url}/people/teams`)
    await row(page, 'ml').getByRole('button').first().click()
    await panel.getByRole('link', { name: 'Secrets of the team' }).click()
    await row(page, 'API_KEY').getByRole('button').click()
    await panel.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete secret' }).click()
    await page.getByText('No secrets match').waitFor()
  })

  it('names the user who changed an object in the meantime, and keeps the input', async () => {
    await page.goto(`${server.url}/people/users`)
    await page.getByRole('button', { name: 'ann', exact: true }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Display name').fill('Ann Example')
    await berth(server, ['user', 'set', 'ann', '--email', 'ann@example.org'], adminToken)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/admin changed this .*email was empty and is ann@example.org/).waitFor()
    expect(await page.getByLabel('Display name').inputValue()).toBe('Ann Example')
    await page.getByRole('button', { name: 'Save' }).click()
    await row(page, 'Ann Example').waitFor()
    expect(await berth(server, ['user', 'info', 'ann'], adminToken)).toContain('ann@example.org')
  })

  it('previews a rule, and lists and verifies the changes in the audit log', async () => {
    for (const name of ['train-1', 'train-2', 'eval']) await submit(server, name, 'true', adminToken)
    await page.goto(`${server.url}/policies/rules?open=new`)
    const panel = page.getByRole('complementary', { name: 'Details' })
    await panel.getByLabel('Name', { exact: true }).fill('training')
    await panel.getByLabel('A job needs an approval if').selectOption('name')
    await panel.getByLabel('Name of the job').fill('train-*')
    await panel.getByText('Would have matched 2 of the last 3 jobs.').waitFor()
    await panel.getByRole('button', { name: 'Create rule' }).click()
    await row(page, 'is named train-*').waitFor()
    await panel.getByRole('button', { name: 'Delete…' }).click()
    const dialog = page.getByRole('alertdialog')
    await dialog.getByText('0 requests of it').waitFor()
    await dialog.getByRole('button', { name: 'Delete rule' }).click()
    await page.getByText('No rules yet').waitFor()

    await page.goto(`${server.url}/audit?operation=rule.*`)
    await row(page, 'rule.delete').waitFor()
    await page.getByRole('button', { name: 'rule.create' }).click()
    await panel.getByText('training').first().waitFor()
    expect(await row(page, 'job.submit').count()).toBe(0)
    await panel.getByRole('button', { name: 'All by admin' }).click()
    await page.getByRole('button', { name: 'Verify' }).click()
    await panel.getByRole('button', { name: 'Verify' }).click()
    await panel.getByText(/^Unchanged: entries 1 to \d+ of \d+\.$/).waitFor()
  })

  it('shows the effect of a limit before it is saved', async () => {
    await page.goto(`${server.url}/policies/limits?open=pool`)
    await page.getByLabel('Running jobs', { exact: true }).fill('0')
    await page.getByText('Pauses the pool: 0 running jobs continue').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await row(page, 'Running jobs of the pool').getByRole('cell', { name: '0', exact: true }).first().waitFor()
    await expect.poll(() => berth(server, ['limits'], adminToken)).toMatch(/running jobs +0/)
  })

  it('fits the screen of a phone', async () => {
    const phone = await subject.openContext({ viewport: { width: 400, height: 800 } }, { server, token: adminToken })
    const small = await phone.newPage()
    const paths = [
      'people/users?open=new',
      'people/tokens',
      'secrets?open=new',
      'policies/limits',
      'policies/quotas',
      'audit',
      'settings',
      'about',
    ]
    for (const path of paths) {
      await small.goto(`${server.url}/${path}`)
      await small.getByRole('heading', { level: 1 }).filter({ hasText: /./ }).waitFor()
      await small.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' })
      expect(await small.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(400)
    }
    await phone.close()
  })
})
