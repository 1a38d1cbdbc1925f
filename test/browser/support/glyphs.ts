import type { Page } from 'playwright-core'
import { states } from '../../../web/parts/states.ts'

/** Makes the job list show all states, whatever the states of its jobs are. */
export const showStates = (page: Page): Promise<unknown> =>
  page.route('**/graphql', async (route) => {
    if (!route.request().postData()?.includes('query ListJobs')) return route.continue()
    const response = await route.fetch()
    const { data } = await response.json()
    for (const [i, job] of data.jobs.nodes.entries()) job.state = states[i % states.length]
    return route.fulfill({ response, json: { data } })
  })

const luminanceDifference = 64
const pixelsMin = 12

/** Returns the pairs of states whose glyphs differ on the screen in fewer than `pixelsMin` pixels. */
export async function findDifferences(page: Page): Promise<string[]> {
  const pictures: [string, string][] = []
  for (const state of states) {
    const picture = await page.locator(`[role=row] svg[data-state=${state}]`).first().screenshot()
    pictures.push([state, picture.toString('base64')])
  }
  return page.evaluate(`(async () => {
    const read = async ([state, base64]) => {
      const picture = await createImageBitmap(new Blob([Uint8Array.fromBase64(base64)]))
      const context = new OffscreenCanvas(picture.width, picture.height).getContext('2d')
      context.drawImage(picture, 0, 0)
      return { state, pixels: context.getImageData(0, 0, picture.width, picture.height).data }
    }
    const glyphs = await Promise.all(${JSON.stringify(pictures)}.map(read))
    const count = (a, b) => a.pixels.filter((value, i) => i % 4 === 0 && Math.abs(value - b.pixels[i]) > ${luminanceDifference}).length
    return glyphs.flatMap((a, i) => glyphs.slice(i + 1).flatMap((b) =>
      count(a, b) < ${pixelsMin} ? [a.state + ' and ' + b.state + ' differ in ' + count(a, b) + ' pixels'] : []))
  })()`)
}
