import { execFileSync } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { until } from '../../test/support/until.ts'
import { percentile } from '../harness.ts'
import { withServer } from '../server.ts'
import { openPage, readHeapBytes, watchPage, withBrowser } from './chromium.ts'
import { addFigure, measureBest } from './figures.ts'

/**
 * The log of a real job: 1,000,000 lines and 1 GiB, then 10,000,000 lines, then 5,000 lines a second. With BERTH_BENCH_LINES
 * the first two have fewer lines.
 */
const lineCount = Number(process.env['BERTH_BENCH_LINES'] ?? 1_000_000)
const lineBytes = 1_074
const turns = 3
const liveSeconds = 20
const searchText = 'out of memory'

const writeLines = `use strict; my ($path, $count, $bytes) = @ARGV; open(my $file, '>', $path) or die;
my @fill = map { my $n = $_; join '', map { sprintf(' w%04x', ($n * 977 + $_ * 40503) % 65536) } 0..$bytes / 6 } 1..61;
for my $n (1..$count) {
  my $line = "step $n loss 0." . ($n % 997) . ($n % 10000 == 7 ? ' Error: out of memory' : '');
  $line .= substr($fill[$n % 61], 0, $bytes - 1 - length($line)) . "\\n";
  print $line; print $file $line }`
const writeLive = `use Time::HiRes qw(time sleep); $| = 1; my $began = time;
for my $n (0..${liveSeconds * 5_000}) { my $due = $began + $n / 5000; my $wait = $due - time; sleep $wait if $wait > 0.002; printf "at %.4f\\n", time * 1000 }`

function submit(url: string, name: string, command: readonly string[]): string {
  const args = ['submit', '--name', name, '--cpu', '0.05', '--mem', '0.1', '--', ...command]
  return execFileSync('./berth', args, { env: { ...process.env, BERTH_URL: url }, encoding: 'utf8' }).trim()
}

async function awaitEnd(url: string, id: string): Promise<void> {
  const body = JSON.stringify({ query: `{ job(id: "${id}") { state logs(from: { lastLines: 1 }) { isFinal } } }` })
  const isOver = async () => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const { data } = (await response.json()) as { data: { job: { state: string; logs: { isFinal: boolean } } } }
    if (data.job.state === 'FAILED') throw new Error(`${id} failed`)
    return data.job.logs.isFinal
  }
  await until(isOver, { what: `${id} ends`, timeoutMs: 600_000 })
}

const hasText = (line: number) =>
  `document.querySelector('[role=log] [data-number="${line}"]')?.parentElement.textContent.length > String(${line}).length`

/** Milliseconds from the start of a navigation until a line is drawn. */
async function measureOpen(page: Page, address: string, line: number): Promise<number> {
  await page.goto('about:blank')
  await page.goto(address, { waitUntil: 'commit' })
  await page.waitForFunction(hasText(line), undefined, { polling: 'raf' })
  return page.evaluate<number>('performance.now()')
}

async function measureOpening(page: Page, address: string): Promise<void> {
  const middle = Math.floor(lineCount / 2)
  const places: Readonly<Record<string, [hash: string, line: number]>> = {
    'open at the end': ['', lineCount],
    'open at a link': [`#L${middle + 1_000}-L${middle + 1_020}`, middle + 1_000],
    'open at the middle': [`#L${middle}`, middle],
  }
  for (const [name, [hash, line]] of Object.entries(places)) {
    const ms = await measureBest(turns, () => measureOpen(page, address + hash, line))
    addFigure(name, ms, 500, 'ms')
  }
}

async function measureScrolling(page: Page, address: string): Promise<void> {
  await page.goto(address)
  const log = page.getByRole('log')
  await page.waitForFunction(hasText(lineCount), undefined, { polling: 'raf' })
  const box = await log.boundingBox()
  if (!box) throw new Error('The log is not drawn')
  const wheel = async () => {
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
    for (let turn = 0; turn < 120; turn++) await page.mouse.wheel(0, turn % 30 < 20 ? -900 : 600)
  }
  const drag = async () => {
    const x = box.x + box.width - 6
    await page.mouse.move(x, box.y + box.height - 20)
    await page.mouse.down()
    for (let turn = 0; turn <= 60; turn++) await page.mouse.move(x, box.y + 20 + ((turn * 37) % (box.height - 40)))
    await page.mouse.up()
  }
  const keys = async () => {
    await log.focus()
    for (let turn = 0; turn < 40; turn++)
      for (const key of ['PageUp', 'ArrowUp', 'PageUp', 'ArrowDown']) await page.keyboard.press(key)
    for (const key of ['Home', 'End', 'Home', 'End']) await page.keyboard.press(key)
  }
  for (const [name, work] of Object.entries({ wheel, drag, keys })) {
    const longest: number[] = []
    const shift = await measureBest(turns, async () => {
      const { longestTaskMs, layoutShift } = await watchPage(page, work)
      longest.push(longestTaskMs)
      return layoutShift
    })
    addFigure(`longest task, ${name}`, Math.min(...longest), 50, 'ms')
    addFigure(`layout shift, ${name}`, shift, 0.02, '')
  }
}

/** Visits every page of the log by the links that a reader uses. */
async function measureHeap(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await page.waitForFunction(hasText(lineCount), undefined, { polling: 'raf' })
  const began = performance.now()
  for (let line = 500; line < lineCount; line += 1_000) {
    await page.keyboard.type(`:${line}`)
    await page.keyboard.press('Enter')
    await page.waitForFunction(hasText(line), undefined, { polling: 'raf' })
  }
  process.stdout.write(`all lines read in ${((performance.now() - began) / 1_000).toFixed(0)} s\n`)
  addFigure('heap after all was read', (await readHeapBytes(page)) / 2 ** 20, 150, 'MiB')
  addFigure('elements', await page.evaluate<number>("document.querySelectorAll('*').length"), 3_000, '')
}

/** The number of matches, without the number of the current match. */
const readMatches = async (page: Page) =>
  (await page.locator('search [role=status]').innerText()).replace(/^.* of /, '')

async function measureSearch(page: Page, address: string, file: string): Promise<void> {
  const grep = Number(execFileSync('grep', ['-c', searchText, file], { encoding: 'utf8' }))
  await page.goto(address)
  await page.waitForFunction(hasText(lineCount), undefined, { polling: 'raf' })
  const began = performance.now()
  await page.getByLabel('Search the log').fill(searchText)
  await until(async () => /[1-9]/.test(await readMatches(page)), { what: 'a match is found' })
  addFigure('search, first match', performance.now() - began, 1_000, 'ms')
  await until(async () => !(await readMatches(page)).includes('…'), { what: 'the search ends' })
  addFigure('search, the whole log', (performance.now() - began) / 1_000, 15, 's')
  const found = Number((await readMatches(page)).replaceAll(/\D/g, ''))
  addFigure('matches less those of grep -c', Math.abs(found - grep), 0, '')
  let requests = 0
  page.on('request', (request) => {
    if (request.postData()?.includes('SearchLog')) requests++
  })
  await page.getByLabel('Search the log').fill('w0001 w')
  await until(async () => requests > 1, { what: 'another search runs' })
  await page.getByLabel('Search the log').fill('')
  await page.waitForTimeout(100)
  requests = 0
  await page.waitForTimeout(1_500)
  addFigure('requests after a cancelled search', requests, 0, '')
}

async function measureMillions(page: Page, address: string, count: number): Promise<void> {
  const ms = await measureOpen(page, `${address}#L${count}`, count)
  addFigure(`open the last of ${count} lines by its link`, ms, 500, 'ms')
  await page.keyboard.press('g')
  await page.keyboard.press('g')
  await page.waitForFunction(hasText(1), undefined, { polling: 'raf' })
  await page.keyboard.press('Shift+G')
  await page.waitForFunction(hasText(count), undefined, { polling: 'raf' })
}

/** Records the age of the newest line on the page at each frame. */
const watchAge = `
globalThis.ages = []
const look = () => {
  const rows = document.querySelectorAll('[role=log] [data-number]')
  let newest = 0
  for (const row of rows) newest = Math.max(newest, Number(row.parentElement.textContent.match(/at (\\d+\\.\\d+)/)?.[1] ?? 0))
  if (newest > 0) ages.push(performance.timeOrigin + performance.now() - newest)
  requestAnimationFrame(look)
}
look()`

async function measureFollow(page: Page, url: string): Promise<void> {
  const id = submit(url, 'live', ['perl', '-e', writeLive])
  await page.goto(`${url}/jobs/${id}/log`)
  await page.getByRole('log').getByText('at ').first().waitFor()
  await page.waitForTimeout(2_000)
  await page.evaluate(watchAge)
  const { longestTaskMs } = await watchPage(page, () => page.waitForTimeout((liveSeconds - 6) * 1_000))
  const ages = await page.evaluate<number[]>('ages')
  addFigure('follow 5,000 lines a second, p95 behind', percentile(ages, 0.95), 250, 'ms')
  addFigure('follow, longest task', longestTaskMs, 50, 'ms')
  await awaitEnd(url, id)
}

async function measureConsole(url: string, folder: string, browser: Browser): Promise<void> {
  const file = join(folder, 'lines')
  const began = performance.now()
  const id = submit(url, 'huge', ['perl', '-e', writeLines, file, String(lineCount), String(lineBytes)])
  const millions = submit(url, 'millions', ['seq', String(lineCount * 10)])
  for (const each of [id, millions]) await awaitEnd(url, each)
  const { size } = await stat(file)
  const seconds = (performance.now() - began) / 1_000
  process.stdout.write(`${lineCount} lines, ${(size / 2 ** 20).toFixed(0)} MiB, printed in ${seconds.toFixed(0)} s\n`)
  const page = await openPage(browser)
  const address = `${url}/jobs/${id}/log`
  await measureOpening(page, address)
  await measureMillions(page, `${url}/jobs/${millions}/log`, lineCount * 10)
  await measureScrolling(page, address)
  await measureSearch(page, address, file)
  await measureHeap(page, address)
  await measureFollow(page, url)
}

export async function measure(): Promise<void> {
  await withServer((url, _pid, folder) => withBrowser((browser) => measureConsole(url, folder, browser)))
}
