import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../../test/support/chromium.ts'

export async function withBrowser(work: (browser: Browser) => Promise<void>): Promise<void> {
  const browser = await launchChromium({ ignoreDefaultArgs: ['--hide-scrollbars'] })
  try {
    await work(browser)
  } finally {
    await browser.close()
  }
}

/** Measurements that a script collects in the page. */
export interface Watch {
  /** Durations of tasks of the main thread that take more than 50 ms. */
  tasksMs: number[]
  layoutShift: number
}

const watchScript = `
globalThis.watch = { tasksMs: [], layoutShift: 0 }
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) watch.tasksMs.push(duration)
}).observe({ type: 'longtask', buffered: true })
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) watch.layoutShift += value
}).observe({ type: 'layout-shift', buffered: true })`

/** Opens a page that records its long tasks and layout shifts from the start. */
export async function openPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, bypassCSP: true })
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  await page.addInitScript({ content: watchScript })
  return page
}

/** Returns the longest task and the layout shifts during `work`. */
export async function watchPage(page: Page, work: () => Promise<void>) {
  await page.evaluate('Object.assign(watch, { tasksMs: [], layoutShift: 0 })')
  await work()
  const { tasksMs, layoutShift } = (await page.evaluate('watch')) as Watch
  return { longestTaskMs: Math.max(0, ...tasksMs), layoutShift }
}

/** Returns the size of the JavaScript heap after a garbage collection. */
export async function readHeapBytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize
}
