import type { BrowserContext, Request } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import type { BerthProcess } from '../support/berth-process.ts'
import { berth, describeConsole } from './support/console.ts'

describeConsole('the page of a new job', (subject) => {
  let server: BerthProcess
  let context: BrowserContext
  beforeAll(async () => {
    server = await subject.startProcess('submit')
    context = await subject.openContext()
  })

  const countJobs = async (name: string): Promise<number> =>
    JSON.parse(await berth(server, ['ls', '-o', 'json', '--name', name])).length

  const openForm = async (name: string) => {
    const page = await context.newPage()
    await page.goto(`${server.url}/jobs/new`)
    await page.getByRole('textbox', { name: 'Command' }).fill('sleep 600')
    await page.getByLabel('CPU cores', { exact: true }).fill('0.05')
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByText('Starts now').first().waitFor()
    return page
  }
  const isSubmission = (request: Request) => request.postData()?.includes('submitJob') === true
  const restart = async () => {
    server = await subject.restart('submit', Number(new URL(server.url).port))
  }

  it('submits only one job despite a double click, a lost response and a reload', async () => {
    const page = await openForm('once')
    // The server gets the submission; its answer never arrives.
    let lost = 0
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('submitJob')) return route.fallback()
      await route.fetch()
      lost += 1
      return route.abort()
    })
    await page.getByRole('button', { name: 'Submit' }).dblclick()
    await expect.poll(() => lost).toBeGreaterThan(0)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.reload()
    await page.waitForURL(/\/jobs\/job_/)
    await page.getByText('was submitted before').waitFor()
    expect(await countJobs('once')).toBe(1)
    await page.goto(`${server.url}/jobs/new`)
    expect(await page.getByRole('textbox', { name: 'Command' }).inputValue()).toBe('')
    await page.close()
  })

  it('submits one job if the server is killed before it stores the job', async () => {
    const page = await openForm('unstored')
    process.kill(server.pid, 'SIGSTOP')
    const sent = page.waitForRequest(isSubmission)
    await page.getByRole('button', { name: 'Submit' }).click()
    await sent
    await server.end('SIGKILL')
    await restart()
    await page.waitForURL(/\/jobs\/job_/)
    expect(await countJobs('unstored')).toBe(1)
    await page.close()
  })

  it.each(['waits', 'stops and submits again'])(
    'submits one job when the server is killed after it has stored the job, and the user %s',
    async (user) => {
      const page = await openForm(user)
      let stored = 0
      await page.route('**/graphql', async (route) => {
        if (!isSubmission(route.request()) || stored > 0) return route.fallback()
        await route.fetch()
        await server.end('SIGKILL')
        stored += 1
        return route.abort()
      })
      await page.getByRole('button', { name: 'Submit' }).click()
      await expect.poll(() => stored, { timeout: 30_000 }).toBe(1)
      if (user !== 'waits') await page.getByRole('button', { name: 'Stop' }).click()
      await restart()
      if (user !== 'waits') await page.getByRole('button', { name: 'Submit' }).click()
      await page.waitForURL(/\/jobs\/job_/)
      await page.getByText('was submitted before').waitFor()
      expect(stored).toBe(1)
      expect(await countJobs(user)).toBe(1)
      await page.close()
    },
  )

  it('shows a violation at its field while the user types, and keeps the form over a reload', async () => {
    const page = await context.newPage()
    await page.goto(`${server.url}/jobs/new`)
    await page.getByRole('textbox', { name: 'Command' }).fill('true')
    const cpu = page.getByLabel('CPU cores', { exact: true })
    await cpu.fill('many')
    await page.getByText('Must be a number (given: "many")').first().waitFor()
    expect(await cpu.getAttribute('aria-invalid')).toBe('true')
    await cpu.fill('0')
    await page.getByText('Must be at least 0.001').first().waitFor()
    await page.reload()
    expect(await cpu.inputValue()).toBe('0')
    await cpu.fill('')
    await page.getByText('Starts now').first().waitFor()
    await page.close()
  })

  it('marks a violation at its line in the YAML, and submits a sweep', async () => {
    const page = await context.newPage()
    await page.goto(
      `${server.url}/jobs/new?view=yaml#spec=${encodeURIComponent('{"name":"swept","command":["true"]}')}`,
    )
    await page.locator('.cm-content').click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('bid: 1.5\n')
    await page.locator('.cm-lintRange-error').getByText('1.5').waitFor()
    await page.keyboard.press('Backspace')
    for (const _ of 'bid: 1.5') await page.keyboard.press('Backspace')
    await page.getByLabel('Sweep').fill('seed = 1..3')
    await page.getByRole('button', { name: 'Submit 3 jobs' }).click()
    await page.waitForURL(/\/sweeps\/sweep\/swept-/)
    expect(await countJobs('swept-*')).toBe(3)
    await page.close()
  })
})
