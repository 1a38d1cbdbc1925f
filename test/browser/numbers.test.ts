import type { BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { JobState } from '../../web/generated/graphql.ts'
import { states, stateWords } from '../../web/parts/states.ts'
import { type Api, connectApi } from '../support/api.ts'
import type { BerthProcess } from '../support/berth-process.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { adminToken, berth, describeLongConsole } from './support/console.ts'
import { ShownPages } from './support/shown-pages.ts'
import { createDraws, pool, Storm, stormSettings } from './support/storm.ts'
import type { View } from './support/truth.ts'

/** Compares numbers on pages with the API, while jobs change and after a server was killed. */

interface Counts {
  rows: { key: string; count: number; byState: { state: JobState; count: number }[] }[]
}

/** The response of the API to the fields of all views. */
interface Answer {
  pool: {
    used: { gpu: number }
    capacity: { gpu: number }
    limits: { maxConcurrent: number | null }
    nodes: { nodes: { name: string; gpus: { allocated: boolean }[] }[] }
    workload: { depth: number; running: number; blocked: number; byState: { state: JobState; count: number }[] }
  }
  all: Counts
  failed: Counts
  byPool: Counts
  unfinished: Counts
  approvals: { totalCount: number }
  viewer: { pendingDecisions: number }
  job: { version: number; attempt: number } | null
  users: { nodes: { name: string }[] }
  teams: { nodes: { name: string; members: { nodes: unknown[] } }[] }
}

const numbersOfPool = 'used { gpu } capacity { gpu } limits { maxConcurrent } workload { depth running blocked }'
const countFields = '{ rows { key count byState { state count } } }'
const tabs: readonly JobState[] = ['RUNNING', 'QUEUED', 'BLOCKED', 'FAILED', 'SUCCEEDED', 'CANCELLED']
const active: readonly JobState[] = ['STARTING', 'RUNNING', 'CANCELLING']
const waiting: readonly JobState[] = ['QUEUED', 'BLOCKED']

const tidy = '.replace(/\\s+/g, " ").trim()'
const texts = (selector: string) =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].map((found) => found.innerText${tidy})`
const cells = (label: string, ...columns: number[]) =>
  `[...document.querySelectorAll('table[aria-label="${label}"] tbody tr')]
    .map((row) => [${columns.join()}].map((at) => row.cells[at].innerText.split('\\n')[0]${tidy}).join(' '))`

const sum = (counts: Counts['rows'][number]['byState'], wanted: readonly JobState[]) =>
  counts.reduce((all, { state, count }) => all + (wanted.includes(state) ? count : 0), 0)
const countOf = ({ rows }: Counts, key: string) => rows.find((row) => row.key === key)?.count ?? 0
const listTabs = (counts: Counts) => {
  const all = counts.rows.reduce((total, { count }) => total + count, 0)
  return [`All ${all}`, ...tabs.map((state) => `${stateWords[state]} ${countOf(counts, state)}`)]
}
const ifAny = (count: number, word: string) => (count > 0 ? [`${count} ${word}`] : [])
const figures = (label: string) => texts(`section[aria-label="${label}"] a:not([href$="jobs/new"])`)
const dayAgo = new Date(Date.now() - 86_400_000).toISOString()

const views: readonly View<Answer>[] = [
  {
    name: 'overview',
    path: () => '/',
    facts: () => `pool(name: "${pool}") { ${numbersOfPool} }
      failed: jobCounts(by: STATE, first: 9, filter: { finishedAfter: "${dayAgo}", states: [FAILED] }) ${countFields}`,
    script: figures('Jobs of all users'),
    expect: ({ pool: { workload }, failed }) => [
      ...ifAny(workload.running, 'running'),
      ...ifAny(workload.depth, 'queued'),
      ...ifAny(workload.blocked, 'blocked'),
      ...ifAny(countOf(failed, 'FAILED'), 'failed in 24 h'),
    ],
  },
  {
    name: 'a pool on the overview',
    path: () => '/',
    facts: () => `pool(name: "${pool}") { ${numbersOfPool} }`,
    script: `[...${texts(`article[aria-label="${pool}"] header a[href*="/jobs"]`)},
      ...${texts(`article[aria-label="${pool}"] a[href*="state=waiting"]`)}]`,
    expect: ({ pool: { workload } }) => [
      workload.running === 0 ? 'nothing runs' : `${workload.running} running`,
      ...ifAny(workload.depth + workload.blocked, 'wait'),
    ],
  },
  {
    name: 'tabs of all jobs',
    path: () => '/jobs',
    facts: () => `all: jobCounts(by: STATE, first: 9) ${countFields}`,
    script: texts('nav[aria-label=States] a'),
    expect: ({ all }) => listTabs(all),
  },
  {
    name: 'tabs of the jobs of a user',
    path: () => '/jobs?user=ben',
    // All jobs belong to ben.
    facts: () => `all: jobCounts(by: STATE, first: 9) ${countFields}`,
    script: texts('nav[aria-label=States] a'),
    expect: ({ all }) => listTabs(all),
  },
  {
    name: 'groups of jobs',
    path: () => '/jobs?group=pool',
    facts: () => `byPool: jobCounts(by: POOL, first: 5) ${countFields}`,
    script: `[...document.querySelectorAll('main ul > li')].map((group) =>
      [...group.querySelectorAll('a')].map((link) => link.title || link.innerText).join(', '))`,
    expect: ({ byPool }) =>
      byPool.rows.map(({ count, byState }) =>
        [
          ...states.flatMap((state) => ifAny(sum(byState, [state]), stateWords[state].toLowerCase())),
          String(count),
        ].join(', '),
      ),
  },
  {
    name: 'workload',
    path: () => `/workload/${pool}`,
    facts: () => `pool(name: "${pool}") { ${numbersOfPool} workload { byState { state count } } }`,
    script: `[...${texts('section[aria-label="The workload now"] > a')},
      ...[...document.querySelectorAll('main section')].filter((part) => part.querySelector('h2')?.innerText === 'By state')
        .flatMap((part) => [...part.querySelectorAll('li')].map((row) => row.innerText${tidy}))]`,
    expect: ({ pool: { used, capacity, limits, workload } }) => [
      `${workload.depth} queued`,
      `${workload.running} running`,
      limits.maxConcurrent === null ? 'no limit of running jobs' : `${limits.maxConcurrent} may run at once`,
      ...ifAny(workload.blocked, 'blocked'),
      `${used.gpu} of ${capacity.gpu} GPUs in use`,
      ...workload.byState.map(({ state, count }) => `${stateWords[state]} ${count}`),
    ],
  },
  {
    name: 'cluster',
    path: () => `/cluster/${pool}?view=table`,
    facts: () =>
      `pool(name: "${pool}") { used { gpu } capacity { gpu } nodes(first: 3) { nodes { name gpus { allocated } } } }`,
    script: `[...${texts('main header a b')}.slice(0, 1), ...${cells('Nodes', 0, 3)}]`,
    expect: ({ pool: { used, capacity, nodes } }) => [
      `${used.gpu} of ${capacity.gpu}`,
      ...nodes.nodes.map((node) => {
        const held = node.gpus.filter(({ allocated }) => allocated).length
        return `${node.name} ${held} of ${node.gpus.length}`
      }),
    ],
  },
  {
    name: 'approvals',
    path: () => '/approvals',
    facts: () => 'viewer { pendingDecisions } approvals(first: 1, filter: { statuses: [PENDING] }) { totalCount }',
    script: `[String(document.querySelectorAll('table[aria-label=Approvals] tbody tr:not([data-departed=true])').length),
      document.querySelector('nav[aria-label=Pages] a[href$="approvals"] span')?.innerText ?? '0']`,
    expect: ({ approvals, viewer }) => [String(approvals.totalCount), String(viewer.pendingDecisions)],
  },
  {
    name: 'users',
    path: () => '/people/users',
    facts:
      () => `unfinished: jobCounts(by: USER, first: 5, filter: { stateCategories: [WAITING, ACTIVE] }) ${countFields}
      users(first: 10, orderBy: NAME) { nodes { name } }`,
    script: cells('Users', 0, 3, 4),
    expect: ({ unfinished: { rows }, users }) =>
      users.nodes.map(({ name }) => {
        const byState = name === 'ben' ? (rows[0]?.byState ?? []) : []
        return `${name} ${sum(byState, active)} ${sum(byState, waiting)}`
      }),
  },
  {
    name: 'teams',
    path: () => '/people/teams',
    facts: () => 'teams(first: 5) { nodes { name members(first: 10) { nodes { id } } } }',
    script: cells('Teams', 0, 2),
    expect: ({ teams }) => teams.nodes.map(({ name, members }) => `${name} ${members.nodes.length}`),
  },
  {
    name: 'limits',
    path: () => `/policies/limits?pool=${pool}`,
    facts: () => `pool(name: "${pool}") { ${numbersOfPool} }`,
    script: `${cells(`Limits of ${pool}`, 1, 2)}.slice(0, 1)`,
    expect: ({ pool: { limits, workload } }) => [`${limits.maxConcurrent ?? 'unlimited'} ${workload.running}`],
  },
  {
    name: 'job',
    path: (jobId) => `/jobs/${jobId}/events`,
    facts: (jobId) => `job(id: "${jobId}") { version attempt }`,
    script: `[[...document.querySelectorAll('nav a')].find((link) => /^Events/.test(link.innerText))?.innerText.match(/\\d+/)?.[0]]`,
    expect: ({ job }) => [String(job?.version)],
  },
]

const changes = 40
const numbersMin = 40

const testMsMax = 300_000

describeLongConsole('the numbers on the pages of the console', (subject) => {
  let database: TestDatabase
  let env: Record<string, string>
  let server: BerthProcess
  let api: Api
  let storm: Storm
  let context: BrowserContext
  let pages: ShownPages<Answer>

  beforeAll(async () => {
    database = await createDatabase()
    env = { DATABASE_URL: database.url, BERTH_BOOTSTRAP_TOKEN: adminToken }
    server = await subject.startProcess('numbers', stormSettings, env)
    await berth(server, ['team', 'create', 'vision'], adminToken)
    await berth(server, ['user', 'create', 'ben', '--level', 'RESEARCHER', '--teams', 'vision'], adminToken)
    const token = (await berth(server, ['token', 'create', 'test', '--user', 'ben'], adminToken)).split('\n').at(-1)
    api = connectApi(server.url, adminToken)
    storm = new Storm(api, connectApi(server.url, token), createDraws(44))
    await storm.blow(changes)
    const { jobs } = await api.ask<{ jobs: { nodes: { id: string }[] } }>('{ jobs(first: 1) { nodes { id } } }')
    context = await subject.openContext({ viewport: { width: 1280, height: 900 } }, { server, token: adminToken })
    storm.keptJobId = jobs.nodes[0]?.id ?? ''
    pages = new ShownPages(api, storm.keptJobId, views)
    await pages.open(context, server.url)
  })
  afterAll(async () => {
    await context?.close()
    await api?.close()
    await server?.end()
    await database?.close()
  })

  it(
    'are those of the API while jobs change',
    async () => {
      await Promise.all([storm.blow(changes), pages.awaitTruth({ isMoving: true })])
      const shown = (await pages.readAll()).flat().flatMap((text) => text?.match(/\d+/g) ?? [])
      expect(shown.length).toBeGreaterThanOrEqual(numbersMin)
    },
    testMsMax,
  )

  it(
    'are those of the API after the server was killed',
    async () => {
      await storm.blow(changes / 2)
      await server.end('SIGKILL')
      server = await subject.restart('numbers', Number(new URL(server.url).port), env)
      await pages.awaitTruth()
      await until(async () => (await pages.readIndicators()).every((text) => text === 'Live'), {
        what: 'pages are live',
      })
    },
    testMsMax,
  )
})
