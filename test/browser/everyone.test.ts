import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BerthServer } from '../support/berth-server.ts'
import { adminToken, berth, describeLongConsole, localPools, row } from './support/console.ts'
import { readFocus } from './support/focus.ts'
import { findDifferences, showStates } from './support/glyphs.ts'
import { draw, goInside, listPages, loadParts, settle } from './support/pages.ts'
import { seedJobs, seedPolicies, settings } from './support/seed.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const noJob = 'job_00000000000000000000000000'
const panels = [
  '/jobs?peek=$id',
  '/jobs?group=user',
  '/cluster/gpu?node=gpu1',
  '/people/users?open=new',
  '/policies/quotas?open=new',
  '/policies/rules?open=new',
  '/policies/reservations?open=new',
]
/** Keys of the page of a job, and the dialog that each opens. */
const layers = [
  ['?', 'dialog'],
  ['Control+k', 'dialog'],
  ['c', 'alertdialog'],
] as const
const refusal = { errors: [{ message: 'The database does not answer.', extensions: { code: 'UNAVAILABLE' } }] }

const themes = ['light', 'dark'] as const
/** Rules that depend on the theme. The light theme is checked by all rules, the dark one only by these. */
const colorRules = ['color-contrast', 'link-in-text-block']

/** Returns the serious and critical findings of axe, with their elements. */
const findBarriers = (page: Page, theme: (typeof themes)[number]): Promise<string[]> =>
  page.evaluate(`axe.run(document, ${JSON.stringify(theme === 'light' ? {} : { runOnly: colorRules })}).then(({ violations }) => violations
    .filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target.join(' '))))`)

/** Finds elements that make the page scroll sideways, and controls that are cut off. */
const findCuts = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const name = (element) => element.tagName.toLowerCase() + ' ' + (element.ariaLabel ?? element.innerText ?? '').slice(0, 40)
    const wide = [document.documentElement, document.querySelector('main')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    const isCut = (control) => {
      const { left, right, width } = control.getBoundingClientRect()
      for (let box = control.parentElement; box && width > 0; box = box.parentElement) {
        const { overflowX, position } = getComputedStyle(box)
        if (['auto', 'scroll'].includes(overflowX) || position === 'fixed') return false
        const edge = box.getBoundingClientRect()
        if (overflowX !== 'visible' && (right > edge.right + 1 || left < edge.left - 1)) return true
      }
      return right > innerWidth + 1
    }
    const controls = [...document.querySelectorAll('main :is(a, button, input, select, textarea)')]
    return [...wide.map((box) => 'scrolls: ' + name(box)), ...controls.filter(isCut).map((each) => 'cut: ' + name(each))]
  })()`)

describeLongConsole('every page of the console', (subject) => {
  let full: BerthServer
  let empty: BerthServer
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
    if (!jobId) return
    await berth(full, ['cancel', jobId], adminToken)
    // Without this the server would end before the job, which would run on. `wait` exits like the job.
    await berth(full, ['wait', jobId], adminToken).catch(() => undefined)
  })

  async function open(server: BerthServer, options: Parameters<typeof subject.openContext>[0]): Promise<Page> {
    const context = await subject.openContext(options, { server, token: adminToken })
    const page = await context.newPage()
    await page.goto(server.url)
    await settle(page)
    await page.evaluate(axe)
    await loadParts(page)
    return page
  }

  /** Visits each page of a server and collects findings. */
  async function visit(page: Page, look: (page: Page) => Promise<readonly string[]>): Promise<string[]> {
    const found: string[] = []
    for (const url of listPages({ jobId: page.url().startsWith(full.url) ? jobId : noJob })) {
      await goInside(page, url)
      await settle(page)
      found.push(...(await look(page)).map((each) => `${url}: ${each}`))
    }
    await page.context().close()
    return found
  }

  /** Finds barriers and cuts in both themes. */
  const findAll = async (page: Page) => {
    const found: string[] = []
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: theme })
      found.push(...(await findBarriers(page, theme)).map((each) => `${theme}: ${each}`))
    }
    return [...found, ...(await findCuts(page))]
  }
  const still = { reducedMotion: 'reduce' } as const

  it.each(['data', 'nothing', 'failures'])(
    'passes the checks of axe, light and dark, wide and narrow, with %s',
    async (has) => {
      const page = await open(has === 'nothing' ? empty : full, still)
      if (has === 'failures') await page.route('**/graphql', (route) => route.fulfill({ json: refusal }))
      const look = async () => {
        const found: string[] = []
        for (const width of [1600, 400]) {
          await page.setViewportSize({ width, height: 900 })
          await draw(page)
          found.push(...(await findAll(page)).map((each) => `${width} px: ${each}`))
        }
        return found
      }
      expect(await visit(page, look)).toEqual([])
    },
  )

  it('passes the checks of axe with its panels, menus and dialogs, light and dark', async () => {
    const page = await open(full, still)
    const found: string[] = []
    const look = async (where: string) => found.push(...(await findAll(page)).map((each) => `${where}: ${each}`))
    for (const url of panels) {
      await goInside(page, url.replace('$id', jobId))
      await settle(page)
      await look(url)
    }
    await goInside(page, `/jobs/${jobId}`)
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menu').waitFor()
    await look('menu')
    await page.keyboard.press('Escape')
    for (const [key, role] of layers) {
      await page.keyboard.press(key)
      await page.getByRole(role).waitFor()
      await look(key)
      await page.keyboard.press('Escape')
      await page.getByRole(role).waitFor({ state: 'detached' })
    }
    expect(found).toEqual([])
    await page.context().close()
  })

  it('is not cut off and does not scroll sideways at a zoom of 200 %', async () => {
    const zoomed = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }
    expect(await visit(await open(full, zoomed), findCuts)).toEqual([])
  })

  it('does not move and shows focus and states with forced colours and reduced motion', async () => {
    const page = await open(full, { ...still, forcedColors: 'active' })
    const movements = `document.getAnimations().filter(({ effect }) => effect.getComputedTiming().duration > 0).map(String)`
    const look = async () => {
      await page.keyboard.press('Tab')
      const focus = await readFocus(page).catch(String)
      return [...(focus.startsWith('Error') ? [focus] : []), ...(await page.evaluate<string[]>(movements))]
    }
    expect(await visit(page, look)).toEqual([])
  })

  it('shows the nine job states so that they differ without colour, also in forced colours', async () => {
    const page = await open(full, still)
    await showStates(page)
    await goInside(page, '/jobs')
    await row(page, 'Interrupted').first().waitFor()
    await page.evaluate(`document.documentElement.style.filter = 'grayscale(1)'`)
    for (const colorScheme of themes)
      for (const forcedColors of ['none', 'active'] as const) {
        await page.emulateMedia({ colorScheme, forcedColors })
        expect(await findDifferences(page), `${colorScheme}, forced colours ${forcedColors}`).toEqual([])
      }
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.context().close()
  })
})
