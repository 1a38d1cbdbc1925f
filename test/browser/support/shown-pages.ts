import type { BrowserContext, Page } from 'playwright-core'
import { stateWords } from '../../../web/parts/states.ts'
import type { Api } from '../../support/api.ts'
import { until } from '../../support/until.ts'
import { goInside } from './pages.ts'
import { type Facts, readFacts, type View } from './truth.ts'

const pollMs = 100
/** Timeout for pages that never show the data of the server. Measured times are printed, not tested. */
const truthMsMax = 60_000

/**
 * A script that records when the state of a row goes backwards, which means that an older row replaced a newer one. A
 * reload of the page loses the record.
 */
const recorder = `
  const order = ${JSON.stringify(Object.values(stateWords))}
  const known = new Map()
  window.stepsBack = []
  const look = () => {
    for (const row of document.querySelectorAll('[data-id]')) {
      const state = order.find((word) => row.textContent.includes(word))
      const before = known.get(row.dataset.id)
      const isBack = order.indexOf(state) < order.indexOf(before)
      const isFinalChange = order.indexOf(before) > order.indexOf('Cancelling') && state !== before
      if (isBack || isFinalChange) window.stepsBack.push([row.dataset.id, before, state])
      known.set(row.dataset.id, state)
    }
  }
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true })`

/** Shows the views in tabs of a browser, and compares them with the data of the server. */
export class ShownPages<Seen extends object = Facts> {
  readonly #pages = new Map<View<Seen>, Page>()
  readonly #api: Api
  readonly #views: readonly View<Seen>[]
  jobId: string
  /** Times in ms until a view, and until all views, showed the data of the server. */
  readonly #took = new Map<string, number[]>()
  readonly #tookAll: number[] = []

  constructor(api: Api, jobId: string, shown: readonly View<Seen>[]) {
    this.#views = shown
    this.#api = api
    this.jobId = jobId
  }

  async open(context: BrowserContext, url: string): Promise<void> {
    const tabs = new Map<string, Page>()
    for (const view of this.#views) {
      const path = view.path(this.jobId)
      const page = tabs.get(path) ?? (await context.newPage())
      if (!tabs.has(path)) {
        await page.goto(url + path)
        await page.evaluate(recorder)
      }
      tabs.set(path, page)
      this.#pages.set(view, page)
    }
  }

  /**
   * Waits until each page shows the data of the server. The data changes meanwhile, so a page is timed when it first shows
   * any version since the call. `isMoving`: such a version is enough, even if the server has newer data by then.
   */
  async awaitTruth({ isMoving = false } = {}): Promise<void> {
    const beganAt = performance.now()
    const took = new Map<View<Seen>, number>()
    const upToDate = new Set<View<Seen>>()
    const read: Seen[] = []
    let last: unknown
    const compare = async () => {
      read.unshift(await readFacts(this.#api, this.jobId, this.#views))
      for (const [view, page] of this.#pages) {
        if (upToDate.has(view)) continue
        const shown = await page.evaluate<string[]>(view.script)
        const age = read.findIndex((facts) => shown.join('\n') === view.expect(facts, shown).join('\n'))
        if (age >= 0 && !took.has(view)) took.set(view, Math.round(performance.now() - beganAt))
        if (age === 0 || (isMoving && age > 0)) upToDate.add(view)
        else last = { view: view.name, shown, expected: read[0] && view.expect(read[0], shown) }
      }
      if (upToDate.size === this.#pages.size) return true
      await new Promise((resolve) => setTimeout(resolve, pollMs))
      return false
    }
    await until(compare, { what: 'the pages show the data', timeoutMs: truthMsMax, seen: () => last })
    for (const [{ name }, ms] of took) this.#took.set(name, [...(this.#took.get(name) ?? []), ms])
    this.#tookAll.push(Math.max(...took.values()))
  }

  describeTimes(): string {
    const describe = (times: readonly number[]) => {
      const sorted = times.toSorted((a, b) => a - b)
      return `median ${sorted[sorted.length >> 1]}, most ${sorted.at(-1)} of ${times.join(' ')}`
    }
    const perView = Array.from(this.#took, ([name, times]) => `${name}: ${describe(times)}`)
    return `${perView.join('; ')}; all: ${describe(this.#tookAll)}`
  }

  /** Reads the texts of all views. */
  readAll(): Promise<string[][]> {
    return Promise.all([...this.#pages].map(([view, page]) => page.evaluate<string[]>(view.script)))
  }

  readIndicators(): Promise<string[]> {
    return Promise.all(this.#pages.values().map((page) => page.locator('header [role=status]').innerText()))
  }

  /** Shows another job without a reload. */
  async showJob(jobId: string): Promise<void> {
    this.jobId = jobId
    for (const [view, page] of this.#pages) {
      if (view.name !== 'job') continue
      await goInside(page, view.path(jobId))
      await page.getByText(jobId).first().waitFor()
    }
  }

  /** Reads the recorded steps backwards of each page; null: the page was reloaded. */
  readSteps(): Promise<unknown[]> {
    return Promise.all(this.#pages.values().map((page) => page.evaluate('window.stepsBack ?? null')))
  }
}
