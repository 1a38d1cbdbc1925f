import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import type { BerthServer } from '../support/berth-server.ts'
import { berth, describeConsole, submit } from './support/console.ts'

/** 1,000,000 lines in groups of two kinds, between lines outside of them. */
const million = `
echo begin
echo '::group::Install packages'; seq 1 499990; echo needle; echo '::endgroup::'
echo between
echo '--- Build'; seq 1 500000
echo '+++ Test'; echo passed
echo '--- Upload'; echo sent`

describeConsole('groups of lines in a log', (subject) => {
  let server: BerthServer
  let context: BrowserContext
  let id: string
  beforeAll(async () => {
    server = await subject.start('log-groups')
    context = await subject.openContext()
    id = await submit(server, 'million', million)
    await berth(server, ['wait', id])
  }, 120_000)
  const line = (page: Page, number: number) => page.locator(`[data-line="${number}"]`)
  const shown = (page: Page) => page.locator('[data-line]').evaluateAll((rows) => rows.map((row) => row.textContent))
  const open = async (rest = '') => {
    const page = await context.newPage()
    await page.goto(`${server.url}/jobs/${id}/log${rest}`)
    return page
  }

  it('are folded in a log of a million lines, and unfold in place', async () => {
    const page = await open()
    await line(page, 2).getByText('499,992 lines').waitFor()
    const build = 499_996
    expect(await shown(page)).toEqual([
      '1begin',
      '2▸Install packages499,992 lines',
      `${build - 1}between`,
      `${build}▸Build500,000 lines`,
      `${build + 500_001}▾Test`,
      `${build + 500_002}passed`,
      `${build + 500_003}▾Upload`,
      `${build + 500_004}sent`,
    ])
    await page.getByRole('button', { name: 'Group Build' }).click()
    await line(page, build + 2)
      .getByText('2', { exact: true })
      .waitFor()
    await page.getByRole('button', { name: 'Group Build' }).click()
    await line(page, build + 500_001).waitFor()
    await page.close()
  })

  it('unfold at a match of the search', async () => {
    const page = await open()
    await line(page, 2).getByText('499,992 lines').waitFor()
    await page.getByLabel('Search the log').fill('needle')
    await page.getByRole('button', { name: 'Next match' }).click()
    await line(page, 499_993).getByText('needle').waitFor()
    await page.close()
  })

  it('unfold at a line that a link names', async () => {
    const page = await open('#L250000')
    await line(page, 250_000).getByText('249998').waitFor()
    expect(await line(page, 250_000).getAttribute('data-selected')).toBe('true')
    await page.getByRole('log').focus()
    await page.keyboard.press('Home')
    await page.getByRole('button', { name: 'Group Install packages', expanded: true }).waitFor()
    await page.close()
  })

  it('fold when the next group begins, but not if the user has scrolled to them', async () => {
    const go = join(subject.directory, 'groups-go')
    const wait = `until [ -e ${go} ]; do sleep 0.1; done`
    const live = await submit(server, 'live', `echo '--- First'; seq 300; ${wait}; echo '--- Second'; seq 5; sleep 600`)
    const path = `${server.url}/jobs/${live}/log`
    const [follower, reader] = [await context.newPage(), await context.newPage()]
    await follower.goto(path)
    await line(follower, 301).waitFor()
    await reader.goto(`${path}#L150`)
    await line(reader, 150).getByText('149').waitFor()
    writeFileSync(go, '')
    await follower.getByRole('button', { name: 'Group First', expanded: false }).waitFor()
    await line(reader, 150).getByText('149').waitFor()
    await berth(server, ['cancel', live, '--yes'])
    await follower.close()
    await reader.close()
  })
})
