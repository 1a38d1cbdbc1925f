import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { formatBytes } from '../../web/parts/format.ts'
import { type Api, connectApi } from '../support/api.ts'
import type { BerthServer } from '../support/berth-server.ts'
import { until } from '../support/until.ts'
import { adminToken, describeConsole, row, submit } from './support/console.ts'

const print = 'for i in 1 2 3 4 5 6 7 8 9; do echo "step $i"; done'

interface Facts {
  nodes: { state: string; runs: { nodes: { usage: { maxMemoryBytes: number | null } | null }[] } }[]
}

describeConsole('the comparison of two jobs', (subject) => {
  let server: BerthServer
  let api: Api
  let page: Page
  let ids: string[]
  beforeAll(async () => {
    server = await subject.startWithUsers('compare')
    api = connectApi(server.url, adminToken)
    ids = [
      await submit(server, 'good', `${print}; echo done`, adminToken),
      await submit(server, 'bad', `${print}; echo 'ValueError: loss is nan'; exit 3`, adminToken),
    ]
    const context = await subject.openContext({}, { server, token: adminToken })
    page = await context.newPage()
  })
  afterAll(() => api?.close())

  const read = () =>
    api.ask<Facts>(
      'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Job { state runs(last: 1) { nodes { usage { maxMemoryBytes } } } } } }',
      { ids },
    )

  it('shows states, first errors and usage side by side, and marks differences', async () => {
    const isOver = async () => (await read()).nodes.map(({ state }) => state).join() === 'SUCCEEDED,FAILED'
    await until(isOver, { what: 'both jobs ended' })
    await page.goto(`${server.url}/jobs/compare?ids=${ids.join()}`)
    const facts = page.getByRole('table', { name: 'Jobs', exact: true })
    const state = facts.getByRole('row', { name: /^State/ })
    await state.getByText('Failed').waitFor()
    expect(await state.getAttribute('data-differs')).toBe('true')
    expect(await facts.getByRole('row', { name: /^Who/ }).getAttribute('data-differs')).toBe('false')
    await facts
      .getByRole('row', { name: /^First error/ })
      .getByRole('link', { name: 'ValueError: loss is nan' })
      .waitFor()
    for (const { runs } of (await read()).nodes) {
      const bytes = runs.nodes[0]?.usage?.maxMemoryBytes
      if (bytes != null)
        await facts
          .getByRole('row', { name: /^Memory/ })
          .getByText(formatBytes(bytes))
          .first()
          .waitFor()
    }
    await page.getByRole('table', { name: 'Differences of the specs' }).locator('mark').first().waitFor()
  })

  it('compares whole logs line by line, and folds equal lines', async () => {
    await page.getByText('1 line only in A, 1 only in B.').waitFor()
    const diff = page.getByRole('table', { name: 'Logs of A and B' })
    await diff.getByText('6 equal lines').waitFor()
    expect(await diff.locator('tr[data-kind=FIRST]').allInnerTexts()).toEqual([expect.stringContaining('done')])
    await row(page, 'ValueError').last().getByRole('link', { name: '10' }).click()
    await page.waitForURL(/\/log\?run=1#L10/)
  })
})
