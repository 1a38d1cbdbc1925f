import type { Browser, Page } from 'playwright-core'
import { until } from '../../test/support/until.ts'
import { poster } from '../harness.ts'
import { withServer } from '../server.ts'
import { openPage, withBrowser } from './chromium.ts'
import { addFigure, measureBest } from './figures.ts'

/** Pages over a simulated pool of 1,000 nodes with 8 GPUs each, 500 waiting jobs, and a quiet pool of one node. */
const nodes = 1_000
const waiting = 500
const starts = 100
const typed = 200
const typedMs = 10_000
const turns = 3

const node = (name: string) => ({
  name,
  cpu: 64,
  memoryGib: 512,
  gpus: [{ model: 'A100', memoryGib: 40, count: 8 }],
})
const config = JSON.stringify({
  pools: [
    {
      name: 'gpu',
      executor: 'simulated',
      limits: { maxConcurrent: nodes / 4, userMaxConcurrent: null },
      nodes: Array.from({ length: nodes }, (_, at) => node(`n${at}`)),
    },
    {
      name: 'quiet',
      executor: 'simulated',
      limits: { maxConcurrent: null, userMaxConcurrent: null },
      nodes: [node('q')],
    },
  ],
  queues: [
    { name: 'default', pool: 'gpu' },
    { name: 'quiet', pool: 'quiet' },
  ],
})

type Send = (body: string) => Promise<string>
type Spec = Record<string, unknown>

const simulated = (seconds: number): Spec => ({
  command: ['simulated'],
  environment: [{ name: 'SIM_RUN_SECONDS', value: String(seconds) }],
  maxRunTimeSeconds: Math.max(60, seconds * 2),
  resources: { gpu: 8, cpu: 8 },
})

async function submitMany(send: Send, specs: readonly Spec[]): Promise<void> {
  const query = `mutation ($input: SubmitJobsInput!) { submitJobs(input: $input) { ... on SubmitJobsSuccess { __typename } } }`
  const submissions = specs.map((spec) => ({ spec }))
  await send(JSON.stringify({ query, variables: { input: { submissions } } }))
}

async function measureFirstPaint(browser: Browser, url: string): Promise<void> {
  const shifts: number[] = []
  const paint = await measureBest(turns, async () => {
    const page = await openPage(browser)
    await page.goto(`${url}/jobs`)
    await page.getByRole('row').nth(1).waitFor()
    await page.waitForTimeout(500)
    shifts.push(await page.evaluate<number>('watch.layoutShift'))
    const largest = await page.evaluate<number>(`new Promise((resolve) =>
      new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
        .observe({ type: 'largest-contentful-paint', buffered: true }))`)
    await page.context().close()
    return largest
  })
  addFigure('largest paint, cold', paint, 1_500, 'ms')
  addFigure('layout shift, cold', Math.min(...shifts), 0.02, '')
}

/** Measures the time from a click inside the console until the page draws its data. */
async function measureVisit(page: Page, from: string, path: string, canvas: string): Promise<number> {
  await page.goto(from)
  await page.getByRole('heading', { level: 1 }).waitFor()
  return page.evaluate<number>(`new Promise((resolve) => {
    const began = performance.now()
    const isDrawn = () => {
      const canvas = document.querySelector(${JSON.stringify(canvas)})
      return canvas?.width > 0 && canvas.getContext('2d').getImageData(0, 0, canvas.width, 64).data.some(Boolean)
    }
    const look = () => (isDrawn() ? resolve(performance.now() - began) : requestAnimationFrame(look))
    history.pushState({}, '', ${JSON.stringify(path)})
    look()
  })`)
}

async function measureVisits(page: Page, url: string): Promise<void> {
  const map = await measureBest(turns, () => measureVisit(page, `${url}/jobs`, '/cluster/gpu', 'canvas[role=img]'))
  addFigure(`map of ${nodes} nodes with 8 GPUs`, map, 1_000, 'ms')
  const forecast = await measureBest(turns, () =>
    measureVisit(page, `${url}/jobs`, '/workload/gpu', 'section[aria-labelledby=forecast] canvas'),
  )
  addFigure(`queue with the forecast of ${waiting} jobs`, forecast, 500, 'ms')
  await page.goto(`${url}/jobs`)
  await page.getByRole('row').nth(1).waitFor()
  const palette = await measureBest(turns, async () => {
    const ms = await page.evaluate<number>(`new Promise((resolve) => {
      const began = performance.now()
      const look = () => (document.querySelector('[role=dialog] input') ? resolve(performance.now() - began) : requestAnimationFrame(look))
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', code: 'KeyK', ctrlKey: true, bubbles: true }))
      look()
    })`)
    await page.keyboard.press('Escape')
    await page.waitForTimeout(300)
    return ms
  })
  addFigure('palette', palette, 150, 'ms')
}

async function measureDryRuns(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/jobs/new`)
  let dryRuns = 0
  page.on('request', (request) => {
    if (request.postData()?.includes('DryRun')) dryRuns++
  })
  const command = page.getByRole('textbox', { name: 'Command' })
  await command.click()
  const began = performance.now()
  for (let at = 1; at <= typed; at++) {
    await page.keyboard.type('abcde fgh'[at % 9] ?? 'x')
    // A user pauses after each word.
    const pauseMs = (at * typedMs) / typed + (at % 9 === 8 ? 300 : 0) - (performance.now() - began)
    if (pauseMs > 0) await page.waitForTimeout(pauseMs)
  }
  await page.waitForTimeout(1_000)
  addFigure(`dry runs of ${typed} letters in 10 s`, dryRuns, 25, '')
}

interface Previewed {
  wouldBe: string
  nodeNames: string[]
  gpuIds: number[]
}

/** Submits jobs to a quiet pool, and compares the predicted starts with the real ones. */
async function measureStarts(send: Send): Promise<void> {
  let wrong = 0
  for (let at = 0; at < starts; at++) {
    const spec = { ...simulated(0.1), queue: 'quiet', resources: { gpu: 1 + (at % 8), cpu: 1 } }
    const preview = `query ($input: PreviewJobInput!) { previewJob(input: $input) { ... on JobPreview { wouldBe nodeNames gpuIds } } }`
    const predicted = (
      JSON.parse(await send(JSON.stringify({ query: preview, variables: { input: { submit: { spec } } } }))) as {
        data: { previewJob: Previewed }
      }
    ).data.previewJob
    const submit = `mutation ($input: SubmitJobInput!) { submitJob(input: $input) { ... on SubmitJobSuccess { job { id } } } }`
    const { data } = JSON.parse(await send(JSON.stringify({ query: submit, variables: { input: { spec } } }))) as {
      data: { submitJob: { job: { id: string } } }
    }
    const query = `{ job(id: "${data.submitJob.job.id}") { createdAt startedAt state runs(first: 1) { nodes { nodeNames gpuIds } } } }`
    const read = async () => (JSON.parse(await send(JSON.stringify({ query }))) as { data: { job: Started } }).data.job
    await until(async () => (await read()).state === 'SUCCEEDED', { what: 'the job ends' })
    if (!isAsPredicted(predicted, await read())) wrong++
  }
  addFigure(`of ${starts} jobs that would start now, not started so within 1 s`, wrong, 0, '')
}

interface Started {
  state: string
  createdAt: string
  startedAt: string
  runs: { nodes: { nodeNames: string[]; gpuIds: number[] }[] }
}

function isAsPredicted({ wouldBe, ...predicted }: Previewed, { createdAt, startedAt, runs }: Started): boolean {
  const { nodeNames, gpuIds } = runs.nodes[0] ?? {}
  const isSamePlace = JSON.stringify({ nodeNames, gpuIds }) === JSON.stringify(predicted)
  return wouldBe === 'STARTING' && isSamePlace && Date.parse(startedAt) - Date.parse(createdAt) <= 1_000
}

async function measureConsole(url: string, browser: Browser): Promise<void> {
  const { send, close } = poster(url, 1)
  await submitMany(
    send,
    Array.from({ length: nodes / 4 + waiting }, (_, at) => simulated(1_000 + at)),
  )
  const page = await openPage(browser)
  await measureFirstPaint(browser, url)
  await measureVisits(page, url)
  await measureDryRuns(page, url)
  await measureStarts(send)
  close()
}

export async function measure(): Promise<void> {
  await withServer((url) => withBrowser((browser) => measureConsole(url, browser)), {}, config)
}
