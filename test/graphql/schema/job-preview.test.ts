import { beforeAll, expect, it } from 'vitest'
import { createApprovalRule } from '../../../src/domain/control/approval-rule-changes.ts'
import { createQuota } from '../../../src/domain/limits/stored-quotas.ts'
import { type Json, transports } from '../../support/client.ts'
import { openTestServer } from '../../support/server.ts'

/** Previews of submissions. These jobs need an approval, so the preview needs no leader. */

const server = await openTestServer({
  singleUser: false,
  facts: { singleUser: false },
  pool: { rates: { cpuHour: 2, gpuHour: 0, currency: 'EUR' } },
  authenticate: (name, { users }) => users.get(name ?? '') ?? null,
})
beforeAll(async () => {
  const { domain, admin } = server
  await server.user('rita', 'RESEARCHER')
  await createApprovalRule(domain, admin, { name: 'dear', condition: { costAbove: 3 }, requiredLevel: 'ADMIN' })
  await createQuota(domain, admin, { type: 'COST_PER_DAY', action: 'WARN', scope: 'GLOBAL', limit: 100 })
  await createQuota(domain, admin, { type: 'JOBS_PER_DAY', action: 'BLOCK', scope: 'GLOBAL', limit: 5 })
  await createQuota(domain, admin, { type: 'LOCAL_GPUS', action: 'BLOCK', scope: 'GLOBAL', limit: 1 })
})

async function preview(spec: object, more: object = {}): Promise<Json> {
  const query = `query ($input: PreviewJobInput!) { previewJob(input: $input) { __typename ... on Problem { code } ... on JobPreview {
    wouldBe approval { rule { name } requiredLevel reason expiresAfterSeconds } cost { amount currency }
    quotas { type action scope { kind name } limit used usedAfter } preempts { id } preemptedCount idempotentJob { id } } } }`
  const input = { submit: { spec: { command: ['true'], ...spec }, ...more } }
  const { data, errors } = await transports.http(server.url, query, { input }, { authorization: 'rita' })
  if (errors) throw new Error(JSON.stringify(errors))
  return data?.['previewJob']
}

const jobs = { type: 'JOBS_PER_DAY', action: 'BLOCK', scope: { kind: 'USER', name: 'rita' }, limit: 5 }
const cost = { type: 'COST_PER_DAY', action: 'WARN', scope: { kind: 'USER', name: 'rita' }, limit: 100 }

it('a job preview contains the approval, the cost and the quotas of the submission', async () => {
  const spec = { resources: { cpu: 2 }, maxRunTimeSeconds: 3_600 }
  const shown = {
    wouldBe: 'BLOCKED',
    approval: {
      rule: { name: 'dear' },
      requiredLevel: 'ADMIN',
      reason: expect.stringContaining('Costs EUR 4'),
      expiresAfterSeconds: 86_400,
    },
    cost: { amount: 4, currency: 'EUR' },
    preempts: [],
    preemptedCount: 0,
    idempotentJob: null,
  }
  const first = await preview(spec)
  expect(first).toMatchObject({ ...shown, quotas: expect.arrayContaining([{ ...jobs, used: 0, usedAfter: 1 }]) })
  expect(first.quotas).toContainEqual({ ...cost, used: 0, usedAfter: 4 })
  expect(first.quotas.map(({ type }: Json) => type)).not.toContain('LOCAL_GPUS')
  const viewer = await server.user('otto', 'RESEARCHER')
  await server.submit(spec, viewer) // the usage of another user
  const second = await preview(spec)
  expect(second.quotas).toContainEqual({ ...jobs, used: 0, usedAfter: 1 })
})

it('a job preview without a run time limit has null as the cost and as the usage afterwards', async () => {
  const shown = await preview({ resources: { cpu: 1 }, maxRunTimeSeconds: 0 })
  expect(shown).toMatchObject({ cost: null, approval: { reason: expect.stringContaining('May cost more than EUR 3') } })
  expect(shown.quotas).toContainEqual({ ...cost, used: 0, usedAfter: null })
})

it('a job preview with requiresApproval has an approval without a rule', async () => {
  const shown = await preview({ maxRunTimeSeconds: 1 }, { requiresApproval: true })
  expect(shown.approval).toMatchObject({ rule: null, requiredLevel: 'LEAD' })
})
