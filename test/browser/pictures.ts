import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import type { BerthServer } from '../support/berth-server.ts'
import { root } from '../support/sources.ts'
import { settle } from './support/pages.ts'
import { seedJobs, send, settings } from './support/seed.ts'
import { adminToken, Console } from './support/stage.ts'

/** `npm run pictures`: the pictures of the README, from a real server with real jobs. */
const folder = join(root, 'docs/pictures')

type Theme = 'light' | 'dark'

async function take(
  browser: Browser,
  server: BerthServer,
  { name, path, theme, width, height }: { name: string; path: string; theme: Theme; width: number; height: number },
): Promise<void> {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: 'reduce' })
  await context.addInitScript(`sessionStorage.setItem('berth-token', '${adminToken}')`)
  const page = await context.newPage()
  await page.goto(server.url + path)
  await settle(page)
  if (path.startsWith('/jobs/'))
    await page
      .getByRole('log')
      .getByText(/^epoch \d+ validated/)
      .first()
      .waitFor()
  else await page.getByRole('link', { name: /^Succeeded 3/ }).waitFor()
  await page.screenshot({ path: join(folder, `${name}.png`) })
  await context.close()
}

const subject = new Console()
await subject.open()
mkdirSync(folder, { recursive: true })
const server = await subject.start('pictures', settings, { BERTH_BOOTSTRAP_TOKEN: adminToken })
try {
  const jobId = await seedJobs(server)
  const wide = { width: 1280, height: 720 }
  const phone = { width: 400, height: 800 }
  const pictures = [
    { name: 'jobs-light', path: '/jobs', theme: 'light', ...wide },
    { name: 'jobs-dark', path: '/jobs', theme: 'dark', ...wide },
    { name: 'job-light', path: `/jobs/${jobId}`, theme: 'light', ...wide },
    { name: 'job-dark', path: `/jobs/${jobId}`, theme: 'dark', ...wide },
    { name: 'phone-jobs', path: '/jobs', theme: 'light', ...phone },
    { name: 'phone-job', path: `/jobs/${jobId}`, theme: 'dark', ...phone },
  ] as const
  for (const picture of pictures) await take(subject.browser, server, picture)
  const cancel = 'CancelJobInput!) { cancelJob(input: $input) { __typename } }'
  await send(server, adminToken, cancel, { jobId })
} finally {
  await server.end()
  await subject.close()
  await subject.browser.close()
}
