import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BerthProcess } from '../support/berth-process.ts'
import { adminToken, berth, describeConsole, localPools } from './support/console.ts'
import { goInside, listPages, settle } from './support/pages.ts'
import { seedJobs, seedPolicies, settings } from './support/seed.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const noJob = 'job_00000000000000000000000000'

/** Serious and critical findings of axe, with the places that have them. */
const findBarriers = (page: Page): Promise<string[]> =>
  page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
    .filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target.join(' '))))`)

/** Parts beyond the right edge of the page, which would make it scroll sideways. */
const findOverflow = (page: Page): Promise<string[]> =>
  page.evaluate(`[document.documentElement, document.querySelector('main')]
    .filter((box) => box.scrollWidth > box.clientWidth)
    .map((box) => box.tagName + ' ' + box.scrollWidth + ' > ' + box.clientWidth)`)

describeConsole('every page, for everyone', (subject) => {
  let full: BerthProcess
  let empty: BerthProcess
  let jobId: string
  beforeAll(async () => {
    const env = { BERTH_BOOTSTRAP_TOKEN: adminToken }
    ;[full, empty] = await Promise.all([
      subject.start('full', settings, env),
      subject.start('empty', { pools: localPools }, env),
    ])
    jobId = await seedJobs(full)
    await seedPolicies(full)
  })
  afterAll(async () => {
    if (jobId) berth(full, ['cancel', jobId], adminToken)
    await Promise.all([full?.end(), empty?.end()])
  })

  /** Shows each page without a load of the document, so that what is injected stays. */
  async function visit(
    server: BerthProcess,
    options: Parameters<typeof subject.openContext>[0],
    { isFailing = false, look }: { isFailing?: boolean; look: (page: Page) => Promise<string[]> },
  ): Promise<string[]> {
    const context = await subject.openContext(options, { server, token: adminToken })
    const page = await context.newPage()
    await page.goto(server.url)
    await settle(page)
    await page.evaluate(axe)
    if (isFailing) await page.route('**/graphql', (route) => route.fulfill({ json: refusal }))
    const found: string[] = []
    for (const url of listPages({ jobId: server === full ? jobId : noJob })) {
      await goInside(page, url)
      await settle(page)
      found.push(...(await look(page)).map((each) => `${url}: ${each}`))
    }
    await context.close()
    return found
  }
  const refusal = { errors: [{ message: 'The database does not answer.', extensions: { code: 'UNAVAILABLE' } }] }

  describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
    it.each([
      { width: 400, data: 'data' },
      { width: 1600, data: 'data' },
      { width: 400, data: 'nothing' },
      { width: 1600, data: 'nothing' },
      { width: 400, data: 'failures' },
      { width: 1600, data: 'failures' },
    ])('has no barrier that axe finds at $width px with $data', async ({ width, data }) => {
      const server = data === 'nothing' ? empty : full
      const view = { viewport: { width, height: 900 }, colorScheme }
      const look = async (page: Page) => [...(await findBarriers(page)), ...(await findOverflow(page))]
      expect(await visit(server, view, { isFailing: data === 'failures', look })).toEqual([])
    })
  })
})
