import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { root } from '../../support/sources.ts'
import { until } from '../../support/until.ts'

/** Values of `$tab` and `$part` in URLs, by the path before them. */
const parts: Readonly<Record<string, readonly string[]>> = {
  '/jobs/$id/$tab': ['log', 'events', 'spec', 'usage', 'artifacts', 'graph'],
  '/people/$part': ['users', 'teams', 'tokens'],
  '/policies/$part': ['limits', 'quotas', 'rules', 'reservations'],
}

const paths = [
  ...readFileSync(join(root, 'web/shell/router.tsx'), 'utf8').matchAll(/^ {2}path: '([^']+)',$/gm),
].flatMap(([, path = '']) => (path.startsWith('/login') ? [] : [path]))

/** Lists a URL of each page of the router. */
export function listPages({ jobId }: { jobId: string }): string[] {
  const values: Readonly<Record<string, string>> = { $id: jobId, $pool: 'local', $key: 'sweep', $value: 'lr' }
  const fill = (path: string) =>
    path
      .split('/')
      .map((part) => {
        if (part.startsWith('$') && !(part in values)) throw new Error(`The tests have no value for ${part} of ${path}`)
        return values[part] ?? part
      })
      .join('/')
  return paths.flatMap((path) => {
    const known = parts[path]
    if (!known) return [path === '/jobs/compare' ? `${path}?ids=${jobId}` : fill(path)]
    return known.map((part) => fill(path.replace(/\$(tab|part)$/, part)))
  })
}

/** Resolves when the page shows data, or a message instead. */
export async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  const isReady = () =>
    page.evaluate(`(document.querySelector('main')?.innerText ?? '').trim() !== '' &&
      document.querySelector('[aria-label=Loading]') === null`)
  await until(isReady, { what: `${page.url()} shows something`, timeoutMs: 30_000 })
}

/** Loads the code of all pages, so that `goInside` shows the next page at once. */
export function loadParts(page: Page): Promise<unknown> {
  const parts = readdirSync(join(root, 'web/dist/assets')).filter((name) => name.endsWith('.js'))
  return page.evaluate(`Promise.all(${JSON.stringify(parts)}.map((name) => import('/assets/' + name)))`)
}

/** Resolves when the page shows earlier changes. */
export const draw = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')

/** Opens another page without a reload, which also works during an outage. */
export async function goInside(page: Page, url: string): Promise<void> {
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(url)})`)
  await draw(page)
}
