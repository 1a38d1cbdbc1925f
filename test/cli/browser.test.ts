import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openBrowser } from '../../src/cli/browser.ts'
import { until } from '../support/until.ts'

const { PATH = '' } = process.env
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-browser-'))
  process.env['PATH'] = `${folder}${delimiter}${PATH}`
  for (const name of ['xdg-open', 'open']) {
    await writeFile(join(folder, name), `#!/bin/sh\necho "$@" >> ${folder}/opened\n`)
    await chmod(join(folder, name), 0o755)
  }
})
afterEach(async () => {
  process.env['PATH'] = PATH
  await rm(folder, { recursive: true })
})

it('opens web pages alone, and only for a person', async () => {
  const terminal = (columns: number) => ({ terminal: { columns } as Parameters<typeof openBrowser>[0]['terminal'] })
  openBrowser(terminal(Number.POSITIVE_INFINITY), 'https://piped.example.org/')
  for (const address of ['file:///etc/passwd', 'vnc://a', 'https://a.example.org/?b=c&d'])
    openBrowser(terminal(80), address)
  const opened = () => readFile(join(folder, 'opened'), 'utf8').catch(() => '')
  await until(async () => (await opened()).includes('a.example.org'), { what: 'the browser opens' })
  expect(await opened()).toBe('https://a.example.org/?b=c&d\n')
})
