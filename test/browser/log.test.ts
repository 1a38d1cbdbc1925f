import { globSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import type { BerthServer } from '../support/berth-server.ts'
import { berth, describeConsole, submit } from './support/console.ts'

const hostile = String.raw`
printf '<script>window.wasRun=1</script><img src=x onerror="window.wasRun=1">\n'
printf '\033]8;;javascript:window.wasRun=1\007script\033]8;;\007 \033]8;;https://example.org/\007site\033]8;;\007\n'
printf '\033]0;title\007\033[2J\033[1;1H\033[31mred\033[0m nul\000 \342\200\256reversed\n'
head -c 65536 /dev/zero | tr '\0' x; echo
printf '10 %%\r20 %%\r30 %%\n'
echo '{"level":"info","loss":0.41}'
sleep 0.5; echo 'a failure' >&2; sleep 0.5
seq 2000`

describeConsole('the log of a job in the console', (subject) => {
  let server: BerthServer
  let context: BrowserContext
  let id: string
  beforeAll(async () => {
    server = await subject.start('log')
    context = await subject.openContext()
    id = await submit(server, 'hostile', hostile)
  })
  const open = async (rest: string): Promise<Page> => {
    const page = await context.newPage()
    await page.goto(`${server.url}/jobs/${id}/log${rest}`)
    await page.getByText('without a gap').waitFor()
    return page
  }
  const readRunId = async (jobId: string): Promise<string> =>
    JSON.parse(await berth(server, ['api', `{ job(id: "${jobId}") { currentRun { id } } }`])).job.currentRun.id
  const line = (page: Page, number: number) => page.locator(`[data-line="${number}"]`)

  it('shows HTML and control characters in the output as text', async () => {
    const page = await open('#L1')
    await line(page, 1).getByText('<script>window.wasRun=1</script><img').waitFor()
    const links = line(page, 2).locator('[data-text] a')
    expect(await links.allTextContents()).toEqual(['site'])
    expect(await links.getAttribute('href')).toBe('https://example.org/')
    expect(await links.getAttribute('rel')).toBe('noreferrer')
    expect(await line(page, 3).locator('[data-text]').textContent()).toBe('red nul␀ ⟨U+202E⟩reversed')
    await line(page, 4).getByRole('button', { name: '62.0 KiB more' }).click()
    await line(page, 4).getByRole('button', { name: 'less' }).waitFor()
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(await page.title()).not.toContain('title')
    await page.close()
  })

  it('shows the first match while the user types, and moves on when the search has results', async () => {
    const page = await open('#L1000')
    const release = Promise.withResolvers<void>()
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('1[34]34')) await release.promise
      return route.continue()
    })
    const field = page.getByLabel('Search the log')
    const expectMatch = async (place: string, text: string) => {
      await page.getByRole('status').getByText(place).waitFor()
      await page.locator('[data-match=true]').getByText(text, { exact: true }).waitFor()
    }
    await field.fill('1234')
    await expectMatch('1 of 1', '1234')
    await field.fill('1[34]34')
    await page.getByRole('button', { name: '.*' }).click()
    // The first one asks for the match that nobody has seen yet.
    for (const key of ['Enter', 'Enter']) await field.press(key)
    release.resolve()
    await expectMatch('2 of 2', '1434')
    await field.press('Enter')
    await expectMatch('1 of 2', '1334')
    await page.close()
  })

  it('shows a gap at its position, and does not call the log of an ended job with a gap complete', async () => {
    const go = join(subject.directory, 'go')
    const lossy = await submit(server, 'lossy', `seq 100; until [ -e ${go} ]; do sleep 0.1; done; seq 101 150`)
    const page = await context.newPage()
    await page.goto(`${server.url}/jobs/${lossy}/log`)
    await line(page, 100).waitFor()
    const foot = page.locator('footer')
    await foot.getByText('live').waitFor()
    const [output = ''] = globSync(`log/**/${await readRunId(lossy)}/stdout`, { cwd: subject.directory })
    truncateSync(join(subject.directory, output))
    await page.getByRole('note').getByText('missing: lost with the node or its files').waitFor()
    writeFileSync(go, '')
    await line(page, 150).waitFor()
    await foot.getByText('ended, not complete').waitFor()
    expect(await foot.getByText('complete, bytes').count()).toBe(0)
    await foot.getByRole('button', { name: 'missing in 1 gap' }).click()
    await page.getByRole('note').waitFor()
    const rows = await page.locator('[data-line], [role=note]').allTextContents()
    const gapAt = rows.findIndex((text) => text.includes('missing'))
    expect(rows.slice(gapAt - 1, gapAt + 2)).toEqual(['100100', expect.stringContaining('missing'), '101101'])
    await page.reload()
    await foot.getByText('ended, not complete').waitFor()
    await page.close()
  })
})
