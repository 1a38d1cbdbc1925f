import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openBrowser } from '../../src/cli/showing/browser.ts'
import { makeDirectory } from '../support/directory.ts'
import { until } from '../support/until.ts'

let folder: string
beforeEach(async () => {
  folder = makeDirectory()
  const browser = join(folder, 'browser')
  await writeFile(browser, `#!/bin/sh\necho "$@" >> ${folder}/opened\n`)
  await chmod(browser, 0o755)
  vi.stubEnv('BROWSER', browser)
})
afterEach(async () => {
  vi.unstubAllEnvs()
})

it('openBrowser opens only http and https URLs, and only if the output is a terminal', async () => {
  const terminal = (columns: number) => ({ terminal: { columns } as Parameters<typeof openBrowser>[0]['terminal'] })
  await openBrowser(terminal(Number.POSITIVE_INFINITY), 'https://piped.example.org/')
  for (const address of ['file:///etc/passwd', 'vnc://a', 'https://a.example.org/?b=c&d'])
    await openBrowser(terminal(80), address)
  const opened = () => readFile(join(folder, 'opened'), 'utf8').catch(() => '')
  await until(async () => (await opened()).includes('a.example.org'), { what: 'the browser opens' })
  expect(await opened()).toBe('https://a.example.org/?b=c&d\n')
})
