import type { JobState } from '../../../web/generated/graphql.ts'
import { stateWords } from '../../../web/parts/states.ts'
import type { Api } from '../../support/api.ts'
import { pool } from './storm.ts'

/** Views that can be checked: the same texts are read from the page and computed from the API. */

export interface Facts {
  jobs: { nodes: { id: string; state: JobState }[] }
  jobCounts: { rows: { key: JobState; count: number }[] }
  pool: {
    limits: { maxConcurrent: number | null }
    nodes: { nodes: { name: string; state: string; gpus: { allocated: boolean }[] }[] }
    workload: {
      depth: number
      running: number
      entries: { nodes: { id: string; stateCategory: string; position: number | null }[] }
    }
  }
  approvals: { nodes: { job: { name: string } }[] }
  job: { state: JobState; version: number } | null
}

export interface View<Seen extends object = Facts> {
  name: string
  /** Views with the same path share a tab. */
  path: (jobId: string) => string
  /** The fields of the API from which `expect` makes the texts. */
  facts: (jobId: string) => string
  script: string
  /** Computes the same texts from the API. `shown`: the texts of the page, for lists of which it draws only some rows. */
  expect: (facts: Seen, shown: readonly string[]) => readonly string[]
}

const tabs: readonly JobState[] = ['RUNNING', 'QUEUED', 'BLOCKED', 'FAILED', 'SUCCEEDED', 'CANCELLED']
const rowsOfLine = 12

const cells = (row: string, list: string) => `[...document.querySelectorAll('${row}')].map((row) => ${list})`

const readState = `(text) => text.match(/${Object.values(stateWords).join('|')}/)?.[0]`

export const views: readonly View[] = [
  {
    name: 'jobs',
    path: () => '/jobs',
    facts: () => 'jobs(first: 100) { nodes { id state } }',
    script: `[...document.querySelectorAll('[data-id]')]
      .toSorted((a, b) => a.ariaRowIndex - b.ariaRowIndex)
      .map((row) => row.dataset.id + ' ' + (${readState})(row.textContent))`,
    expect: ({ jobs }, shown) =>
      jobs.nodes.slice(0, shown.length || 1).map(({ id, state }) => `${id} ${stateWords[state]}`),
  },
  {
    name: 'counts',
    path: () => '/jobs',
    facts: () => 'jobCounts(by: STATE) { rows { key count } }',
    script: cells('nav[aria-label=States] a', 'row.innerText.replace(/\\s+/g, " ").trim()'),
    expect: ({ jobCounts: { rows } }) => {
      const count = (state: JobState) => rows.find(({ key }) => key === state)?.count ?? 0
      const all = rows.reduce((sum, row) => sum + row.count, 0)
      return [`All ${all}`, ...tabs.map((state) => `${stateWords[state]} ${count(state)}`)]
    },
  },
  {
    name: 'queue',
    path: () => `/workload/${pool}`,
    facts: () => `pool(name: "${pool}") { limits { maxConcurrent }
      workload { depth running entries(first: 100) { nodes { id stateCategory position } } } }`,
    script: `[...[...document.querySelectorAll('section[aria-label="The workload now"] > *')].slice(0, 3)
        .map((figure) => figure.querySelector('strong').textContent),
      ...${cells('table[aria-label="Line"] tbody tr', `row.cells[0].innerText + ' ' + row.querySelector('a').pathname.split('/').pop()`)}]`,
    expect: ({ pool: { limits, workload } }) => [
      String(workload.depth),
      String(workload.running),
      String(limits.maxConcurrent ?? 'no'),
      ...workload.entries.nodes
        .filter(({ stateCategory }) => stateCategory === 'WAITING')
        .slice(0, rowsOfLine)
        .map(({ id, position }) => `${position ?? '–'} ${id}`),
    ],
  },
  {
    name: 'approvals',
    path: () => '/approvals',
    facts: () => 'approvals(first: 100, filter: { statuses: [PENDING] }) { nodes { job { name } } }',
    script: cells('table[aria-label=Approvals] tbody tr:not([data-departed=true])', 'row.cells[1].innerText'),
    expect: ({ approvals }) => approvals.nodes.map(({ job }) => job.name).toReversed(),
  },
  {
    name: 'cluster',
    path: () => `/cluster/${pool}?view=table`,
    facts: () => `pool(name: "${pool}") { nodes(first: 10) { nodes { name state gpus { allocated } } } }`,
    script: cells(
      'table[aria-label=Nodes] tbody tr',
      `[row.cells[0].innerText, row.cells[1].innerText.replace('held', 'ready'), row.cells[3].innerText].join(' ')`,
    ),
    expect: ({ pool: found }) =>
      found.nodes.nodes.map(({ name, state, gpus }) => {
        const used = gpus.filter(({ allocated }) => allocated).length
        return `${name} ${state.toLowerCase()} ${used} of ${gpus.length}`
      }),
  },
  {
    name: 'job',
    path: (jobId) => `/jobs/${jobId}/events`,
    facts: (jobId) => `job(id: "${jobId}") { state version }`,
    script: `/was deleted/.test(document.querySelector('main')?.innerText) ? ['gone']
      : [(${readState})(document.querySelector('main header')?.innerText ?? '') + ' ' +
        ([...document.querySelectorAll('nav a')].find((link) => /^Events/.test(link.innerText))?.innerText.match(/\\d+/)?.[0])]`,
    expect: ({ job }) => (job ? [`${stateWords[job.state]} ${job.version}`] : ['gone']),
  },
]

/** Reads the data of the server that these views show. */
export const readFacts = <Seen extends object = Facts>(
  api: Api,
  jobId: string,
  shown: readonly View<Seen>[],
): Promise<Seen> => api.ask<Seen>(`{ ${[...new Set(shown.map(({ facts }) => facts(jobId)))].join(' ')} }`)
