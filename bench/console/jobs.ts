import pg from 'pg'
import type { Browser, Page } from 'playwright-core'
import { poster } from '../harness.ts'
import { withDatabases, withServer } from '../server.ts'
import { openPage, readHeapBytes, watchPage, withBrowser } from './chromium.ts'
import { addFigure, measureBest } from './figures.ts'

/** The list of jobs: 100,000 jobs (or BERTH_BENCH_JOBS). 400 of them wait, and change 200 times a second. */
const jobCount = Number(process.env['BERTH_BENCH_JOBS'] ?? 100_000)
const waiting = 400
const eventsPerSecond = 200
const batch = 20
const scrollMs = 30_000
const idleMs = 20_000
const turns = 3

/** Final copies of one waiting job and its run. The newest is a day old; the others follow in steps of ten seconds. */
const copyJobsSql = `
WITH template AS (SELECT j FROM job j ORDER BY id LIMIT 1),
numbered AS (SELECT n, 'job_0' || lpad(n::text, 25, '0') AS id, berth_now() - interval '1 day' - ($1::int - n) * interval '10 seconds' AS at
  FROM generate_series(1, $1::int) n),
jobs AS (INSERT INTO job SELECT (jsonb_populate_record(j, jsonb_build_object('id', id, 'sequence', -n, 'name', 'train-' || n,
    'state', CASE WHEN n % 13 = 0 THEN 'FAILED' ELSE 'SUCCEEDED' END, 'created_at', at, 'started_at', at, 'finished_at', at + interval '5 seconds',
    'log_closed', true))).* FROM template, numbered)
INSERT INTO run SELECT (jsonb_populate_record(r, jsonb_build_object('id', 'run_0' || lpad(n::text, 25, '0'), 'job_id', numbered.id,
    'state', CASE WHEN n % 13 = 0 THEN 'FAILED' ELSE 'SUCCEEDED' END, 'created_at', at, 'started_at', at, 'finished_at', at + interval '5 seconds'))).*
  FROM (SELECT r FROM run r ORDER BY id LIMIT 1) template, numbered`

async function copyJobs(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  // Otherwise closing the database hides the error of a statement.
  client.on('error', () => undefined)
  await client.query('SET session_replication_role = replica')
  await client.query(copyJobsSql, [jobCount - waiting])
  await client.query('ANALYZE job; ANALYZE run')
  await client.end()
}

type Send = (body: string) => Promise<string>

async function submitWaiting(send: Send): Promise<string[]> {
  const notBefore = new Date(Date.now() + 86_400_000).toISOString()
  const submissions = Array.from({ length: waiting }, (_, i) => ({
    spec: { name: `waits-${i}`, command: ['true'], notBefore },
  }))
  const query = `mutation ($input: SubmitJobsInput!) { submitJobs(input: $input) { ... on SubmitJobsSuccess {
    results { ... on SubmitJobSuccess { job { id } } } } } }`
  const { data } = JSON.parse(await send(JSON.stringify({ query, variables: { input: { submissions } } }))) as {
    data: { submitJobs: { results: { job: { id: string } }[] } }
  }
  return data.submitJobs.results.map(({ job }) => job.id)
}

/** Changes priorities at this rate until it is stopped. Returns the number of changes per second. */
function startEvents(send: Send, ids: readonly string[]): () => Promise<number> {
  const query = `mutation ($input: SetJobPrioritiesInput!) { setJobPriorities(input: $input) {
    ... on SetJobPrioritiesSuccess { remaining } } }`
  let isOver = false
  let made = 0
  const began = performance.now()
  const run = async () => {
    while (!isOver) {
      const from = made % ids.length
      const selection = { jobIds: ids.slice(from, from + batch) }
      const priority = Math.floor(made / ids.length) % 50
      await send(JSON.stringify({ query, variables: { input: { selection, priority } } }))
      made += batch
      const aheadMs = (made / eventsPerSecond) * 1_000 - (performance.now() - began)
      if (aheadMs > 0) await new Promise((resolve) => setTimeout(resolve, aheadMs))
    }
    return (made / (performance.now() - began)) * 1_000
  }
  const running = run()
  return () => {
    isOver = true
    return running
  }
}

/** Scrolls down and up by some rows per frame, and counts the elements. */
const scroll = (ms: number) => `new Promise((resolve) => {
  const box = document.querySelector('[role=table][aria-label=Jobs]').parentElement
  const began = performance.now()
  let most = 0
  const step = () => {
    const t = performance.now() - began
    if (t > ${ms}) return resolve(most)
    box.scrollTop += Math.floor(t / 3000) % 3 === 2 ? -180 : 240
    most = Math.max(most, document.getElementsByTagName('*').length)
    requestAnimationFrame(step)
  }
  step()
})`

/**
 * Scrolls from the first row to the last, each time that the view is filled. Returns the numbers of drawn rows and of
 * their distinct positions.
 */
const walk = `new Promise((resolve) => {
  const table = document.querySelector('[role=table][aria-label=Jobs]')
  const box = table.parentElement
  const placed = new Map()
  const overlap = 120
  const isFull = (rows) => {
    const view = box.getBoundingClientRect()
    const [first, last] = [rows[0], rows.at(-1)].map((row) => row?.getBoundingClientRect())
    return first?.top <= view.top + overlap && last?.bottom >= view.bottom - overlap
  }
  const step = () => {
    const rows = [...table.querySelectorAll('[data-id]')]
      .toSorted((a, b) => Number(a.ariaRowIndex) - Number(b.ariaRowIndex))
    for (const row of rows) placed.set(row.dataset.id, row.ariaRowIndex)
    const isEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 1
    if (isEnd && table.ariaRowCount !== '-1') return resolve([placed.size, new Set(placed.values()).size])
    if (isFull(rows)) box.scrollTop += box.clientHeight - 2 * overlap
    requestAnimationFrame(step)
  }
  step()
})`

const firstRow = "document.querySelector('[role=row][aria-rowindex=\\'1\\'][data-id]')?.textContent ?? ''"
const lastRow = "[...document.querySelectorAll('[role=row][data-id]')].at(-1)?.textContent ?? ''"

const see = (page: Page, text: string, pattern: string) =>
  page.waitForFunction(`/${pattern}/.test(${text})`, undefined, { polling: 'raf' })

async function openList(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/jobs`)
  await see(page, firstRow, `waits-${waiting - 1}`)
}

async function measureScrolling(page: Page, url: string, send: Send, ids: readonly string[]): Promise<void> {
  await openList(page, url)
  const stop = startEvents(send, ids)
  let elements = 0
  const { longestTaskMs } = await watchPage(page, async () => {
    elements = await page.evaluate<number>(scroll(scrollMs))
  })
  process.stdout.write(`${Math.round(await stop())} events a second\n`)
  addFigure('scrolling 30 s, longest task', longestTaskMs, 50, 'ms')
  addFigure('elements', elements, 3_000, '')
}

async function measureJumps(page: Page, url: string): Promise<void> {
  // This day is in the middle of the list.
  const daysBack = 1 + (jobCount * 10) / 86_400 / 2
  const day = new Date(Date.now() - daysBack * 86_400_000).toISOString().slice(0, 10)
  const jumps: Readonly<Record<string, [act: () => Promise<void>, text: string, pattern: string]>> = {
    End: [() => page.keyboard.press('End'), lastRow, 'train-1(?!\\d)'],
    'go to date': [() => page.getByLabel('Jobs submitted until this day').fill(day), firstRow, 'train-'],
    'another filter': [() => page.getByRole('link', { name: /^Failed/ }).click(), firstRow, 'Failed'],
  }
  for (const [name, [act, text, pattern]] of Object.entries(jumps)) {
    const ms = await measureBest(turns, async () => {
      await openList(page, url)
      const began = performance.now()
      await act()
      await see(page, text, pattern)
      return performance.now() - began
    })
    addFigure(name, ms, 500, 'ms')
  }
}

async function measureWalk(page: Page, url: string): Promise<void> {
  await openList(page, url)
  const began = performance.now()
  const [rows = 0, places = 0] = await page.evaluate<[number, number]>(walk)
  process.stdout.write(`walked in ${Math.round((performance.now() - began) / 1_000)} s\n`)
  addFigure('rows missed or doubled on a walk', Math.abs(jobCount - rows) + Math.abs(rows - places), 0, '')
  addFigure('heap after the walk', (await readHeapBytes(page)) / 2 ** 20, 200, 'MiB')
}

async function measureIdle(page: Page, url: string): Promise<void> {
  await openList(page, url)
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const readSeconds = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0
  }
  const share = await measureBest(turns, async () => {
    const before = await readSeconds()
    await page.waitForTimeout(idleMs)
    return ((await readSeconds()) - before) / (idleMs / 1_000)
  })
  addFigure('idle list, share of a core', share * 100, 2, '%')
}

async function measureConsole(url: string, databaseUrl: string, browser: Browser): Promise<void> {
  const { send, close } = poster(url, 1)
  const ids = await submitWaiting(send)
  await copyJobs(databaseUrl)
  const page = await openPage(browser)
  await measureScrolling(page, url, send, ids)
  await measureJumps(page, url)
  await measureIdle(page, url)
  await measureWalk(page, url)
  close()
}

export async function measure(): Promise<void> {
  await withDatabases(['bench'], async (urls) => {
    const databaseUrl = urls.get('bench') ?? ''
    await withServer((url) => withBrowser((browser) => measureConsole(url, databaseUrl, browser)), {
      DATABASE_URL: databaseUrl,
    })
  })
}
