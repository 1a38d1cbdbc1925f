import { expect, it } from 'vitest'
import { data } from '../../support/client.ts'
import { createLeader } from '../../support/leader.ts'
import { openTestServer } from '../../support/server.ts'

const server = await openTestServer({
  pool: { policy: 'FAIR_SHARE', weights: { 'users.local': 2 }, scheduling: { shareHalfLifeMs: null } },
})
const leader = await createLeader(server.domain, 'sim')

const fields = 'id state priority fairShare { account share weight bid } allowedActions'

async function submit(spec: object): Promise<string> {
  const query = `mutation ($spec: JobSpecInput!) { submitJob(input: { spec: $spec }) { ... on SubmitJobSuccess { job { id } } } }`
  return (await data(server.url, query, { spec: { command: ['true'], ...spec } }))['submitJob'].job.id
}

it('jobs of a FAIR_SHARE pool have a share and a bid, and setJobPriority refuses them', async () => {
  const running = await submit({ resources: { cpu: 4 }, preemptable: true })
  await leader.tick()
  const waiting = await submit({ resources: { cpu: 16 }, preemptable: true, bid: 3 })
  await leader.tick()
  const query = `query ($running: ID!, $waiting: ID!) { running: job(id: $running) { ${fields} } waiting: job(id: $waiting) { ${fields} } }`
  const answer = await data(server.url, query, { running, waiting })
  const order = { account: 'users.local', share: 0.125, weight: 2 }
  expect(answer['running']).toMatchObject({ state: 'STARTING', priority: null, fairShare: { ...order, bid: 0 } })
  expect(answer['waiting']).toMatchObject({
    state: 'QUEUED',
    priority: null,
    fairShare: { ...order, bid: 3 },
    allowedActions: ['CANCEL'],
  })
  const set = `mutation ($id: ID!) { setJobPriority(input: { jobId: $id, priority: 40 }) {
    ... on InvalidInputProblem { violations { path message } } } }`
  expect((await data(server.url, set, { id: waiting }))['setJobPriority']).toMatchObject({
    violations: [{ path: ['priority'], message: expect.stringContaining('orders by fair share') }],
  })
})
