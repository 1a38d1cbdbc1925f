import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import type { BerthServer } from '../support/berth-server.ts'
import { startProxy } from '../support/proxy.ts'
import { until } from '../support/until.ts'
import { adminToken, berth, describeConsole, submit } from './support/console.ts'
import { createPerson } from './support/seed.ts'

describeConsole('the terminal of a job', (subject) => {
  let server: BerthServer
  let context: BrowserContext
  let job: string
  beforeAll(async () => {
    server = await subject.startWithUsers('terminal')
    context = await subject.openContext(
      { permissions: ['clipboard-read', 'clipboard-write'] },
      { server, token: adminToken },
    )
    job = await submit(server, 'entered', 'sleep 600', adminToken)
    await berth(server, ['wait', job, '--state', 'running'], adminToken)
  })

  const open = async (): Promise<Page> => {
    const page = await context.newPage()
    await page.goto(`${server.url}/jobs/${job}`)
    await page.getByRole('link', { name: 'Terminal' }).click()
    await page.getByText('Connected', { exact: true }).waitFor()
    return page
  }
  const readScreen = (page: Page) => page.evaluate<string>(`document.querySelector('.xterm-rows').innerText`)
  const shows = (page: Page, pattern: RegExp) =>
    until(async () => pattern.exec(await readScreen(page)), { what: `the terminal shows ${pattern}` })

  it('runs a shell in its size and with colours, and shows how the shell ended', async () => {
    const page = await open()
    await page.getByText('not what is typed or printed').waitFor()
    await page.keyboard.type('stty size; printf "\\033[31mred \\033[38;2;250;250;1mtrue\\033[0m\\n"\n')
    const [, rows] = (await shows(page, /(\d+) \d{2,3}\s+red/)) ?? []
    await page.setViewportSize({ width: 1280, height: 560 })
    await page.keyboard.type('clear; stty size\n')
    await until(async () => Number(/^(\d+) \d+\s*$/m.exec(await readScreen(page))?.[1] ?? rows) < Number(rows), {
      what: 'the size is smaller',
    })
    await page.keyboard.type('exit 7\n')
    await page.getByText('Ended with exit code 7').waitFor()
    await page.getByRole('button', { name: 'Open a new terminal' }).click()
    await page.getByText('Connected', { exact: true }).waitFor()
    await page.close()
  })

  it('sends a pasted text, in parts if it is large', async () => {
    const page = await open()
    await page.keyboard.type('stty -echo; head -c 300000 | wc -c\n')
    await page.evaluate(`(() => {
      const data = new DataTransfer()
      data.setData('text/plain', ('y'.repeat(99) + '\\n').repeat(3000))
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }))
    })()`)
    await shows(page, /300000/)
    await page.close()
  })

  it('does not let escape sequences of the job act outside of the terminal', async () => {
    const page = await open()
    await page.evaluate(`navigator.clipboard.writeText('untouched')`)
    const title = await page.title()
    await page.keyboard.type(
      `printf '\\033]0;evil\\007\\033]2;evil\\007\\033]52;c;ZXZpbA==\\007\\033[21tdone\\n' | tee /dev/null; echo over\n`,
    )
    await shows(page, /over\s/)
    expect(await page.title()).toBe(title)
    expect(await page.evaluate(`navigator.clipboard.readText()`)).toBe('untouched')
    await page.close()
  })

  it('reconnects after a lost connection without losing output', async () => {
    const proxy = await startProxy(server.url)
    const far = await subject.openContext({}, { server: { ...server, url: proxy.url }, token: adminToken })
    const page = await far.newPage()
    await page.goto(`${proxy.url}/jobs/${job}/terminal`)
    await page.getByText('Connected', { exact: true }).waitFor()
    await page.keyboard.type('for i in $(seq 1 60); do echo "line $i"; sleep 0.1; done; echo fini""shed\n')
    await shows(page, /line 5\b/)
    proxy.blocked.add('websocket')
    proxy.cut()
    await page.getByText('Reconnecting…').waitFor()
    proxy.blocked.clear()
    await page.getByText('Connected', { exact: true }).waitFor()
    const [text = ''] = (await shows(page, /line 41\s[\s\S]*line 60\s+finished/)) ?? []
    expect(text.match(/line \d+/g)).toEqual(Array.from({ length: 20 }, (_, i) => `line ${i + 41}`))
    await page.close()
    await proxy.close()
  })

  it('is accompanied by the command berth forward if ports have no host names', async () => {
    const page = await context.newPage()
    await page.goto(`${server.url}/jobs/${job}/ports`)
    await page.getByLabel('Port of the job').fill('6006')
    await page.getByText(`berth forward ${job} 6006 --open`).waitFor()
    await page.close()
  })

  it('is offered only to users who may open sessions in the job', async () => {
    const token = await createPerson(server, 'eve')
    const other = await subject.openContext({}, { server, token })
    const own = await submit(server, 'own', 'sleep 600', token)
    await berth(server, ['wait', own, '--state', 'running'], token)
    const page = await other.newPage()
    await page.goto(`${server.url}/jobs/${own}`)
    await page.getByRole('link', { name: 'Terminal' }).waitFor()
    await page.goto(`${server.url}/jobs/${job}/terminal`)
    await page.getByText('does not exist').waitFor()
    await berth(server, ['cancel', own], token)
    await page.goto(`${server.url}/jobs/${own}/terminal`)
    await page.getByText('The job is not running').waitFor()
    await page.close()
  })
})
