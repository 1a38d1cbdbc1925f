import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import type { BerthServer } from '../support/berth-server.ts'
import { berth, describeConsole } from './support/console.ts'

describeConsole('the console', (subject) => {
  let server: BerthServer
  let context: BrowserContext
  const run = (flags: readonly string[], script: string) =>
    berth(server, ['submit', '--mem', '1', ...flags, '--', 'sh', '-c', script])
  const small = ['--cpu', '0.05']
  const open = async (path: string): Promise<Page> => {
    const page = await context.newPage()
    await page.goto(server.url + path)
    return page
  }
  beforeAll(async () => {
    const nodes = [{ name: 'n1', cpu: 3, memoryGib: 16 }]
    server = await subject.start('jobs', { pools: [{ name: 'local', executor: 'local', jobsAsRoot: true, nodes }] })
    context = await subject.openContext()
  })

  it('shows how a job ended, its last errors, and a change that would have helped', async () => {
    const id = await run(['--name', 'late', ...small, '--max-run-time', '2s'], 'echo "ValueError: no data"; sleep 60')
    const page = await open(`/jobs/${id}`)
    await page.getByText('Failed on n1').waitFor()
    await page.getByText('stopped at its limit of 2 s').waitFor()
    await page.getByRole('region', { name: 'Last errors' }).getByText('ValueError: no data').click()
    await page.waitForURL(/#L1$/)
    await page.getByRole('link', { name: 'Change and submit with a limit of 4 s' }).waitFor()
    await page.keyboard.press('r')
    await page.waitForURL(/maxRunTimeSeconds%22%3A4/)
    await page.close()
  })

  it('opens the form with the spec of a failed job by a button and by a key', async () => {
    const id = await run(['--name', 'broken\u202Etxt', ...small], 'exit 3')
    const page = await open(`/jobs/${id}`)
    const form = `${server.url}/jobs/new?from=${id}`
    await page.getByRole('heading', { level: 2, name: 'broken⟨U+202E⟩txt' }).waitFor()
    await page.getByText('No error lines').waitFor()
    expect(await page.getByText(/code 3/).count()).toBe(1)
    await page.getByRole('link', { name: 'Change and submit' }).click()
    await page.waitForURL(form)
    await page.goBack()
    await page.getByRole('button', { name: 'Retry' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('Change and submit').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('r')
    await page.waitForURL(form)
    await page.close()
  })

  it('shows artifacts as data, the spec in other languages, and a deletion of the job', async () => {
    const markdown = '# Result\\n\\n[bad](javascript:alert(1)) <b>raw</b>'
    const id = await run(
      ['--name', 'report', ...small],
      `printf '${markdown}' | berth artifact report.md --media-type text/markdown --file -`,
    )
    const page = await open(`/jobs/${id}/artifacts`)
    await page.getByRole('button', { name: 'report.md' }).click()
    await page.getByRole('heading', { name: 'Result' }).waitFor()
    expect(await page.locator('aside a[href^="javascript"], aside b').count()).toBe(0)
    await page.getByRole('link', { name: 'Spec' }).click()
    await page.getByRole('button', { name: 'CLI', exact: true }).click()
    await page.getByText('berth submit --name report').waitFor()
    await page.getByText('Succeeded', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete 1 job' }).click()
    await page.getByText('This job was deleted.').waitFor()
    await page.goto(`${server.url}/jobs/${id}`)
    await page.getByText(`Job ${id} does not exist`).waitFor()
    await page.close()
  })

  it('compares jobs, and shows a sweep that is updated live', async () => {
    const submitted = ['0.1', '0.2'].map((lr) =>
      run(['--name', `lr-${lr}`, ...small, '--label', 'sweep=s', '--label', `lr=${lr}`], `echo same; echo lr ${lr}`),
    )
    const [first, second] = await Promise.all(submitted)
    const page = await open(`/sweeps/sweep/s`)
    const matrix = page.getByRole('table', { name: 'Jobs by lr' })
    await matrix.getByText('Succeeded').nth(1).waitFor()
    await run(['--name', 'lr-0.3', ...small, '--label', 'sweep=s', '--label', 'lr=0.3'], 'exit 1')
    await matrix.getByRole('columnheader', { name: '0.3' }).waitFor()
    await matrix.getByText('Failed').waitFor()
    await page.goto(`${server.url}/jobs/compare?ids=${first},${second}`)
    await page.getByRole('row', { name: 'labels.lr 0.1 0.2' }).waitFor()
    await page.getByRole('region', { name: 'Log', exact: true }).getByText('lr 0.2').waitFor()
    await page.close()
  })

  it('shows why a job waits, and opens the form with a change', async () => {
    const holder = await run(['--name', 'holder', '--cpu', '2'], 'sleep 600')
    const id = await run(['--name', 'waiter', '--cpu', '2'], 'true')
    const page = await open(`/jobs/${id}`)
    const panel = page.getByRole('region', { name: 'Why it waits' })
    await panel.getByText('Asked: 2 cores · 1 GiB').waitFor()
    await panel.getByText('Free now: 1 core').waitFor()
    await panel.getByRole('row', { name: /^1 core now, on / }).waitFor()
    await panel.getByRole('link', { name: 'Use 1 core' }).click()
    await page.waitForURL(/\/jobs\/new\?from=job_\w+#spec=/)
    await page.getByRole('button', { name: 'Copy as' }).click()
    await page.getByRole('menuitem', { name: 'CLI' }).click()
    await page.getByText('Copied CLI').waitFor()
    await page.getByRole('button', { name: 'Submit', exact: true }).click()
    await page.getByText('waiter still waits.').waitFor()
    await page.getByRole('button', { name: 'Cancel it' }).click()
    await page.getByRole('button', { name: 'Cancel job' }).click()
    await page.getByText('Cancelling waiter').waitFor()
    await berth(server, ['cancel', holder])
    await page.getByText('Succeeded', { exact: true }).first().waitFor()
    await page.goto(`${server.url}/jobs/${id}`)
    await page.getByText('Cancelled', { exact: true }).first().waitFor()
    await page.close()
  })

  it('opens the next and the previous job of the list by the keys ] and [', async () => {
    const page = await open('/jobs')
    const rows = page.locator('[role=row][data-id]')
    await rows.nth(1).waitFor()
    const [first, second] = await rows.evaluateAll((all) => all.slice(0, 2).map((each) => each.getAttribute('data-id')))
    await rows.first().getByRole('link').first().click()
    const expectJob = (id: string | null | undefined) => expect.poll(() => page.url()).toContain(`/jobs/${id}`)
    await expectJob(first)
    await page.getByRole('log').waitFor()
    await page.keyboard.press(']')
    await expectJob(second)
    // The key has no effect until the second job is drawn.
    const goBack = async () => {
      await page.keyboard.press('[')
      return page.url()
    }
    await expect.poll(goBack).toContain(`/jobs/${first}`)
    await page.close()
  })

  it('completes label keys in the filter, then their values with the number of jobs', async () => {
    for (const color of ['red', 'red', 'blue'])
      await run(['--name', color, ...small, '--label', `color=${color}`, '--label', 'kind=paint'], 'true')
    const page = await open('/jobs')
    const filter = page.getByRole('combobox', { name: 'Filter' })
    const choose = (label: string) => page.getByRole('option', { name: label }).click()
    await filter.fill('label:col')
    await choose('color= 3')
    await page.getByRole('option', { name: 'color=blue 1' }).waitFor()
    await choose('color=red 2')
    await page.waitForURL(`${server.url}/jobs?label=color%3Dred`)
    await page.getByRole('link', { name: 'Cancelled 0' }).waitFor()
    await page.getByRole('link', { name: 'Succeeded 2' }).waitFor()
    await page.close()
  })

  it('goes from a job back to the list by Esc, with its filter and scroll position', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
    await run(['--name', 'later', ...small, '--not-before', tomorrow, '--sweep', 'i=1..60'], 'true')
    const page = await open('/')
    await page.getByRole('link', { name: 'Jobs' }).click()
    const filter = page.getByRole('combobox', { name: 'Filter' })
    await filter.fill('later')
    await filter.press('Enter')
    const box = page.getByRole('table', { name: 'Jobs' }).locator('..')
    await page.waitForURL(`${server.url}/jobs?text=later`)
    await page.getByRole('link', { name: 'Succeeded 0' }).waitFor()
    const link = page.locator('[role=row][aria-rowindex="35"]').getByRole('link')
    // The list begins at its top again when the filtered rows arrive.
    const scroll = async () => {
      await box.evaluate((each) => each.scrollTo({ top: 900 }))
      return link.count()
    }
    await expect.poll(scroll).toBe(1)
    await link.click()
    const why = page.getByRole('region', { name: 'Why it waits' })
    await why.getByText(/^Waiting until \d\d? \w+ \d\d:\d\d$/).waitFor()
    expect(await why.innerText()).not.toMatch(/\dT\d/)
    await page.keyboard.press('Escape')
    await expect.poll(() => box.evaluate((each) => each.scrollTop)).toBe(900)
    expect(await link.evaluate((each) => each === document.activeElement)).toBe(true)
    await link.click()
    await page.getByRole('link', { name: 'Events' }).click()
    await page.reload()
    await page.getByRole('cell', { name: 'Submitted' }).waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL(`${server.url}/jobs?text=later`)
    await page.close()
  })
})
