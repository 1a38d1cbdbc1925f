import type { Page } from 'playwright-core'
import { until } from '../../support/until.ts'

interface Place {
  x: number
  y: number
}

/** A script that returns the position and the job of a visible row; null: no row is drawn now. */
const chooseRow = (draw: number) => `(() => {
  const box = document.querySelector('[role=table]')?.parentElement.getBoundingClientRect()
  const links = [...document.querySelectorAll('[data-id]:not([data-peeked=true]) a')].filter((link) => {
    const { top, bottom } = link.getBoundingClientRect()
    return top > box.top + 28 && bottom < box.bottom
  })
  const link = links[Math.floor(${draw} * links.length)]?.getBoundingClientRect()
  return link ? { x: link.left + 10, y: (link.top + link.bottom) / 2 } : null
})()`

const readRowAt = ({ x, y }: Place) => `document.elementFromPoint(${x}, ${y})?.closest('[data-id]')?.dataset.id ?? null`

/** A script that finds the button of the row under the pointer. */
const findButton = ({ y }: Place) => `(() => {
  const { left, right } = document.querySelector('[data-id]:hover button').getBoundingClientRect()
  return { x: (left + right) / 2, y: ${y} }
})()`

/**
 * Clicks on a row of the job list like a user: the pointer stops on a row, and the click follows a moment later. Returns
 * the job that was drawn when the pointer stopped, and the job that opened.
 */
export async function clickRow(
  page: Page,
  { opens, draw, restMs }: { opens: 'PEEK' | 'PAGE'; draw: number; restMs: number },
): Promise<{ drawn: string; opened: string }> {
  const { place, drawn } = await until(() => pointAtRow(page, draw), { what: 'a row is drawn', timeoutMs: 180_000 })
  await new Promise((resolve) => setTimeout(resolve, restMs))
  const target = opens === 'PEEK' ? await page.evaluate<Place>(findButton(place)) : place
  const pattern = opens === 'PEEK' ? /peek=(job_\w+)/ : /jobs\/(job_\w+)/
  const before = pattern.exec(page.url())?.[1]
  await page.mouse.click(target.x, target.y)
  const readOpened = () => {
    const found = pattern.exec(page.url())?.[1]
    return found !== before && found
  }
  const opened = await until(readOpened, { what: `${opens}: a job opens` })
  if (opens === 'PAGE') await page.goBack()
  await page.mouse.move(1, 1)
  return { drawn, opened }
}

async function pointAtRow(page: Page, draw: number): Promise<{ place: Place; drawn: string } | null> {
  const place = await page.evaluate<Place | null>(chooseRow(draw))
  if (!place) return null
  await page.mouse.move(place.x, place.y)
  const drawn = await page.evaluate<string | null>(readRowAt(place))
  return drawn === null ? null : { place, drawn }
}
