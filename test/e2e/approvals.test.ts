import { expect, test } from 'vitest'
import { openServer } from '../support/api.ts'
import { until } from '../support/until.ts'

/** Jobs that wait for approval, beside a scheduler that starts all other jobs. */

const config = `
pools: [{ name: local, rates: { cpuHour: 36, gpuHour: 0, currency: EUR } }]
approvalRules:
  - { name: expensive, condition: { costAbove: 50 } }
  - { name: brief, condition: { name: brief }, expiresAfterSeconds: 1 }
`

const { api } = await openServer(config)

interface Job {
  state: string
  stateReason: string | null
  version: number
  startedAt: string | null
  cost: { amount: number } | null
  approval: { status: string } | null
}

async function look(id: string): Promise<Job> {
  const query = `query ($id: ID!) { job(id: $id) { state stateReason version startedAt cost { amount } approval { status } } }`
  return (await api.ask<{ job: Job }>(query, { id })).job
}

const over = (id: string) =>
  until(
    async () => {
      const job = await look(id)
      return job.state === 'SUCCEEDED' || job.state === 'FAILED' ? job : null
    },
    { what: 'the job is over' },
  )

test('a blocked job does not start while others run, and starts once it is approved', async () => {
  const blocked = await api.submit({ command: ['sleep', '0.2'], estimatedCost: 60 })
  for (let n = 0; n < 10; n++) {
    await over(await api.submit({ command: ['true'], maxRunTimeSeconds: 60 }))
    expect(await look(blocked)).toMatchObject({ state: 'BLOCKED', version: 2, startedAt: null })
  }
  const approve = `mutation ($id: ID!) { approveJob(input: { jobId: $id, expectedVersion: 2 }) { __typename } }`
  expect(await api.ask(approve, { id: blocked })).toEqual({ approveJob: { __typename: 'ApproveJobSuccess' } })
  const { state, cost } = await over(blocked)
  expect(state).toBe('SUCCEEDED')
  expect(cost?.amount).toBeGreaterThan(0)
  // Cost as measured: seconds of one core at 0.01 each, not the 60 s that were estimated.
  expect(cost?.amount).toBeLessThan(1)
})

test('a job that is not decided in time fails without a run', async () => {
  const id = await api.submit({ command: ['true'], name: 'brief', maxRunTimeSeconds: 60 })
  expect(await over(id)).toMatchObject({
    state: 'FAILED',
    stateReason: 'APPROVAL_EXPIRED',
    startedAt: null,
    cost: { amount: 0 },
    approval: { status: 'EXPIRED' },
  })
})
