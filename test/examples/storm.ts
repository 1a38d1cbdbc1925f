import assert from 'node:assert/strict'
import type { Browser, Page } from 'playwright-core'
import { stateWord } from '../../examples/view/format.ts'
import { data } from '../support/client.ts'
import type { CuttingProxy } from '../support/proxy.ts'
import { until } from '../support/until.ts'
import { demandNoComplaints, openPage } from './drive.ts'

/** The work of others, and cuts of the pages' connections; then every page shows what the API says. */
export interface Storm {
  browser: Browser
  /** Of the server, for the work of others. */
  url: () => string
  proxy: CuttingProxy
  restart: () => Promise<void>
  pages: readonly { name: string; url: string }[]
}

const mutations = 1_000
const cuts = 100
const catchUpMsMax = 30_000

export async function storm({ browser, url, proxy, restart, pages }: Storm): Promise<number> {
  const sinceMs = performance.now()
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const opened: Page[] = []
  for (const { url } of pages) opened.push(await openPage(context, url))
  for (const page of opened) await page.evaluate(watchVersions)

  const others = createOthers(url)
  for (let i = 1; i <= mutations; i++) {
    await others.mutate()
    if (i === mutations / 2) await restart()
    else if (i % (mutations / cuts) === 0) await cut(proxy, opened.length)
  }
  proxy.cut()

  for (const [i, page] of opened.entries()) {
    const same = async () => JSON.stringify(await shown(page)) === JSON.stringify(await truth(url()))
    const what = `${pages[i]?.name} shows the truth`
    await until(same, { what, timeoutMs: catchUpMsMax }).catch(async () =>
      assert.deepEqual(await shown(page), await truth(url()), what),
    )
    assert.deepEqual(await page.evaluate('seen.wentBack'), [], 'an older row replaced a newer one')
    assert.ok(Number(await page.evaluate('seen.versions.size')) > 100, 'the page showed the work while it went on')
  }
  await context.close()
  demandNoComplaints()
  return (performance.now() - sinceMs) / 1_000
}

/** In the page: notes every row whose version goes back. */
const watchVersions = `
  var seen = { versions: new Map(), wentBack: [] }
  const look = () => {
    for (const { id, dataset } of document.querySelectorAll('tbody tr')) {
      const version = Number(dataset.version)
      if (version < (seen.versions.get(id) ?? 0)) seen.wentBack.push(id + ': ' + seen.versions.get(id) + ' to ' + version)
      seen.versions.set(id, version)
    }
  }
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true })
  look()
`

/** Cuts every connection, and waits until each page has come back. */
async function cut(proxy: CuttingProxy, pages: number) {
  const passed = () => proxy.passed.websocket + proxy.passed.sse
  const before = passed()
  proxy.cut()
  await until(() => passed() >= before + pages, { what: 'the pages come back', timeoutMs: catchUpMsMax })
}

/** Most of their jobs wait for tomorrow, so that they can be changed; every twelfth one runs. */
function createOthers(url: () => string) {
  const waiting: string[] = []
  let turn = 0

  async function submit() {
    const runs = turn % 12 === 0
    const notBefore = new Date(Date.now() + 86_400_000).toISOString()
    const spec = { command: ['true'], name: `job ${turn}`, ...(!runs && { notBefore }) }
    const { submitJob } = await data(url(), documents.submit, { input: { spec } })
    if (!runs) waiting.push(submitJob.job.id)
  }

  return {
    async mutate() {
      const id = waiting[(turn++ * 7) % waiting.length]
      if (id === undefined || waiting.length < 30 || turn % 4 === 0) return submit()
      if (turn % 4 < 3) return data(url(), documents.prioritise, { input: { jobId: id, priority: turn % 50 } })
      const { cancelJob } = await data(url(), documents.cancel, { id })
      assert.equal(cancelJob.job.state, 'CANCELLED')
      waiting.splice(waiting.indexOf(id), 1)
      if (turn % 8 < 4) return data(url(), documents.remove, { id })
    },
  }
}

const documents = {
  submit: 'mutation ($input: SubmitJobInput!) { submitJob(input: $input) { ... on SubmitJobSuccess { job { id } } } }',
  prioritise: 'mutation ($input: SetJobPriorityInput!) { setJobPriority(input: $input) { __typename } }',
  cancel: `mutation ($id: ID!) { cancelJob(input: { jobId: $id }) { ... on CancelJobSuccess { job { state } } } }`,
  remove: 'mutation ($id: ID!) { deleteJob(input: { jobId: $id }) { ... on DeleteJobSuccess { deletedId } } }',
  list: '{ jobs(first: 50) { nodes { id version name state priority } } }',
}

interface Row {
  id: string
  version: number
  name: string
  state: string
  priority: number
}

async function truth(url: string): Promise<Row[]> {
  const { jobs } = await data(url, documents.list)
  return jobs.nodes.map((row: Row) => ({ ...row, state: stateWord(row.state as Parameters<typeof stateWord>[0]) }))
}

const shown = (page: Page): Promise<Row[]> =>
  page.evaluate(`[...document.querySelectorAll('tbody tr')].map((row) => ({
    id: row.id,
    version: Number(row.dataset.version),
    name: row.querySelector('a').innerText,
    state: row.querySelector('.state').innerText,
    priority: Number(row.cells[3].innerText),
  }))`)
