import { type Contestant, poster, printRace, race } from './harness.ts'
import { withDatabases, withRivals, withServer } from './server.ts'

/**
 * Submissions over HTTP from 64 kept-alive clients, each with a key of its own, under two quotas and a rule of approval
 * that are far from refusing or stopping anything, against the same schema on the same yoga with a resolver that does
 * nothing (the ceiling), that hands the job to pg-boss, or to graphile-worker; then the same in bulk, 1,000 at a time
 * from one client. Nothing is started meanwhile: the server is an API without a scheduler. Goals: ≥ 0.7 × no-op, ≥ 1.8
 * × pg-boss, ≥ 3 × graphile-worker.
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
  jobs: createQuota(input: { type: CONCURRENT_JOBS, action: BLOCK, scope: GLOBAL, limit: 1e9 }) { __typename ... on Problem { message } }
  hour: createQuota(input: { type: JOBS_PER_HOUR, action: BLOCK, scope: GLOBAL, limit: 1e9 }) { __typename ... on Problem { message } }
  costly: createApprovalRule(input: { name: "costly", condition: { costAbove: 100 }, requiredLevel: LEAD }) { __typename ... on Problem { message } }
}`

async function makeRules(url: string): Promise<void> {
  const to = poster(url, 1)
  await to.send(JSON.stringify({ query: rules }))
  to.close()
}

function contestants(
  urls: ReadonlyMap<string, string>,
  body: () => string,
  posters: { close(): void }[],
): Contestant[] {
  return [...urls].map(([name, url]) => {
    const to = poster(url, clients)
    posters.push(to)
    return { name, work: async () => void (await to.send(body())) }
  })
}

async function compare(urls: ReadonlyMap<string, string>): Promise<void> {
  const posters: { close(): void }[] = []
  const singles = await race({ contestants: contestants(urls, single, posters), clients, rounds, roundMs })
  printRace(`submitJob over HTTP, ${clients} clients`, singles)
  const bulks = await race({ contestants: contestants(urls, bulk, posters), clients: 1, rounds, roundMs })
  printRace(`submitJobs of ${bulkSize}, 1 client, in calls`, bulks)
  for (const each of posters) each.close()
}

await withDatabases(['berth_bench', 'pg-boss', 'graphile-worker'], async (databases) => {
  const { berth_bench: own = '', ...others } = Object.fromEntries(databases)
  await withRivals(new Map(Object.entries(others)), async (rivals) => {
    const measure = async (url: string) => {
      await makeRules(url)
      await compare(new Map([...rivals, ['Berth', url]]))
    }
    await withServer(measure, { BERTH_ROLES: 'api', DATABASE_URL: own })
  })
})
