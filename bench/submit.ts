import { parseArgs } from 'node:util'
import { poster, printLines, printRace, race } from './harness.ts'
import { withDatabases, withRivals, withServer, withServerOfRevision } from './server.ts'

/**
 * Submissions over HTTP from 64 kept-alive clients, each with a key of its own, under two quotas and a rule of approval
 * that are far from refusing or stopping anything, against the same schema on the same yoga with a resolver that does
 * nothing (the ceiling), that hands the job to pg-boss, or to graphile-worker; then the same in bulk, 1,000 at a time
 * from one client. Nothing is started meanwhile: the server is an API without a scheduler. Goals: ≥ 0.7 × no-op, ≥ 1.8
 * × pg-boss, ≥ 3 × graphile-worker, ≥ 1 × the last release.
 *
 * npm run bench -- submit --against REVISION  also races the server of that revision, for which it installs its packages
 */
const clients = 64
const rounds = 5
const roundMs = 4_000
const bulkSize = 1_000

const one = `mutation ($input: SubmitJobInput!) {
  submitJob(input: $input) { ... on SubmitJobSuccess { job { id state } } ... on Problem { code message } }
}`
const many = `mutation ($submissions: [SubmitJobInput!]!) {
  submitJobs(input: { submissions: $submissions }) {
    ... on SubmitJobsSuccess { results { ... on SubmitJobSuccess { job { id } } ... on Problem { code message } } }
  }
}`

let keys = 0
const input = () => ({ idempotencyKey: `bench-${keys++}`, spec: { command: ['/bin/true'] } })
const single = () => JSON.stringify({ query: one, variables: { input: input() } })
const bulk = () => JSON.stringify({ query: many, variables: { submissions: Array.from({ length: bulkSize }, input) } })

const rules = `mutation {
  jobs: createQuota(input: { type: CONCURRENT_JOBS, action: BLOCK, limit: 1e9 }) { __typename ... on Problem { message } }
  hour: createQuota(input: { type: JOBS_PER_HOUR, action: BLOCK, limit: 1e9 }) { __typename ... on Problem { message } }
  costly: createApprovalRule(input: { name: "costly", condition: { costAbove: 100 }, requiredLevel: LEAD }) { __typename ... on Problem { message } }
}`

const { against } = parseArgs({ options: { against: { type: 'string' } } }).values

/** URLs of the contestants, by name. */
type Urls = Readonly<Record<string, string>>

async function compare(title: string, { urls, atOnce, body }: { urls: Urls; atOnce: number; body: () => string }) {
  const posters = Object.entries(urls).map(([name, url]) => ({ name, ...poster(url, atOnce) }))
  const contestants = posters.map(({ name, send }) => ({ name, work: async () => void (await send(body())) }))
  const results = await race({ contestants, clients: atOnce, rounds, roundMs })
  printRace(title, results)
  const own = results.find(({ name }) => name === 'Berth')?.perSecond ?? Number.NaN
  const ratios = results.map(({ name, perSecond }) => [name, `${(own / perSecond).toFixed(2)} ×`])
  printLines('Berth beside each', ratios)
  for (const each of posters) each.close()
}

/** The older server is not measured in bulk, because its schema may differ. */
async function measure(urls: Urls, older: Urls): Promise<void> {
  for (const url of [urls['Berth'], ...Object.values(older)]) {
    const to = poster(url ?? '', 1)
    await to.send(JSON.stringify({ query: rules }))
    to.close()
  }
  await compare(`submitJob over HTTP, ${clients} clients`, {
    urls: { ...urls, ...older },
    atOnce: clients,
    body: single,
  })
  await compare(`submitJobs of ${bulkSize}, 1 client, in calls`, { urls, atOnce: 1, body: bulk })
}

await withDatabases(['Berth', 'before', 'pg-boss', 'graphile-worker'], async (databases) => {
  const { Berth, before, ...queues } = Object.fromEntries(databases)
  const envOf = (database = '') => ({ BERTH_ROLES: 'api', DATABASE_URL: database })
  await withRivals(new Map(Object.entries(queues)), async (rivals) => {
    const run = (url: string) => {
      const urls = { ...Object.fromEntries(rivals), Berth: url }
      if (against === undefined) return measure(urls, {})
      return withServerOfRevision(against, (older) => measure(urls, { [`Berth ${against}`]: older }), envOf(before))
    }
    await withServer(run, envOf(Berth))
  })
})
