import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import type { BerthServer } from '../support/berth-server.ts'
import { adminToken, berth, describeConsole, submit } from './support/console.ts'
import { listPages, settle } from './support/pages.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Finds links and checkboxes with a small touch target. Links in sentences, line numbers and bars of a chart may be
 * small. */
const findSmallTargets = `(() => {
  // A pixel less than wanted: the middle of an element may be between two.
  const min = 43
  const targetOf = (element) => element.closest('label') ?? element
  const measure = (element, x, y, dx, dy) => {
    const isHit = (by) => {
      const hit = document.elementFromPoint(x + by * dx, y + by * dy)
      return hit !== null && (element.contains(hit) || hit.closest('label')?.control === element)
    }
    let [before, after] = [0, 0]
    while (before > -min && isHit(before - 1)) before--
    while (after < min && isHit(after + 1)) after++
    return after - before + 1
  }
  return [...document.querySelectorAll('a[href], input[type=checkbox]')].flatMap((element) => {
    const isInText = getComputedStyle(element).display === 'inline' && element.closest('p, li')
    if (isInText || element.closest('[role=log], [aria-label^="Logs of"], [data-job]') || !element.checkVisibility()) return []
    element.scrollIntoView({ block: 'center', inline: 'center' })
    const { left, top, width, height } = targetOf(element).getBoundingClientRect()
    const [x, y] = [left + width / 2, top + height / 2]
    if (!element.contains(document.elementFromPoint(x, y)) && !targetOf(element).contains(document.elementFromPoint(x, y))) return []
    const size = [measure(element, x, y, 1, 0), measure(element, x, y, 0, 1)]
    return size.some((each) => each < min) ? [(element.ariaLabel ?? element.innerText) + ' ' + size.join(' × ')] : []
  })
})()`

const findJumps = `[...document.querySelectorAll('h1, h2, h3, h4')]
  .filter((heading) => heading.checkVisibility())
  .map((heading) => [Number(heading.tagName[1]), heading.innerText])
  .flatMap(([level, text], i, all) => level > (all[i - 1]?.[0] ?? 0) + 1 ? [text] : [])`

describeConsole('the console on a phone', (subject) => {
  let server: BerthServer
  let phone: BrowserContext
  let id: string
  let other: string
  beforeAll(async () => {
    server = await subject.startWithUsers('phone', { console: { title: 'GPU lab' } })
    const options = { viewport: { width: 400, height: 800 }, hasTouch: true, isMobile: true, reducedMotion: 'reduce' }
    phone = await subject.openContext(options as object, { server, token: adminToken })
    id = await submit(server, 'phone', "printf '1 %%\\r2 %%\\r3 %%\\n'; seq 5", adminToken)
    other = await submit(server, 'other', 'seq 4', adminToken)
    for (const seed of ['1', '2', '3', '4', '5', '6'])
      await berth(
        server,
        ['submit', '--mem', '1', '--label', 'sweep=lr', '--label', `seed=${seed}`, '--', 'true'],
        adminToken,
      )
  })
  const visit = async (paths: readonly string[], look: (page: Page) => Promise<readonly string[]>) => {
    const page = await phone.newPage()
    const found: string[] = []
    for (const path of paths) {
      await page.goto(server.url + path)
      await settle(page)
      found.push(...(await look(page)).map((each) => `${path}: ${each}`))
    }
    await page.close()
    return found
  }

  it('has large touch targets for links and checkboxes', async () => {
    const paths = [
      ...['/', '/jobs', `/jobs/${id}`, `/jobs/${id}/events`, '/jobs/compare', `/jobs/compare?ids=${id},${other}`],
      ...['/workload/local', '/cluster/local?view=table', '/sweeps/sweep/lr', '/people/users', '/usage'],
    ]
    expect(await visit(paths, (page) => page.evaluate(findSmallTargets))).toEqual([])
  })

  it('has headings in order on every page', async () => {
    expect(await visit(listPages({ jobId: id }), (page) => page.evaluate(findJumps))).toEqual([])
  })

  it('scrolls a matrix in its own focusable box', async () => {
    const page = await phone.newPage()
    await page.goto(`${server.url}/sweeps/sweep/lr`)
    const box = page.getByRole('region', { name: 'Matrix of the jobs' })
    await box.focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => box.evaluate((each) => each.scrollLeft)).toBeGreaterThan(0)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(400)
    await page.close()
  })

  it('shows the number of updates of a progress line with enough contrast', async () => {
    const page = await phone.newPage()
    await page.goto(`${server.url}/jobs/${id}`)
    await page.getByText('3 updates').waitFor()
    await page.evaluate(axe)
    const wrong = `axe.run(document.querySelector('[role=log]'), { runOnly: ['color-contrast'] })
      .then(({ violations }) => violations.flatMap(({ nodes }) => nodes.map(({ html }) => html)))`
    expect(await page.evaluate(wrong)).toEqual([])
    await page.close()
  })

  it('shows the name of the installation in the log-in dialog', async () => {
    const page = await (await subject.openContext({ viewport: { width: 400, height: 800 } })).newPage()
    await page.goto(server.url)
    await page.getByRole('heading', { name: 'Log in to GPU lab' }).waitFor()
    await page.context().close()
  })
})
