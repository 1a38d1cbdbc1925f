import { describe, expect, it } from 'vitest'
import { openApi } from '../../support/api.ts'
import { finishJob } from '../../support/factories.ts'
import { openTestServer } from '../../support/server.ts'

const server = await openTestServer()
const api = openApi(server.url)

interface Answer {
  idempotentHit?: boolean
  job?: { id: string; state: string }
  reservation?: { id: string; state: string }
  quota?: { id: string } | string
}

const problem = '... on Problem { __typename code message retryable }'
const exceeded = '... on QuotaExceededProblem { quota scope { kind name } limit used }'
const invalid = '... on InvalidInputProblem { violations { path message } }'

async function mutate(name: string, type: string, input: object, wanted: string): Promise<Answer> {
  const data = await api.ask<Record<string, Answer>>(
    `mutation ($input: ${type}!) { ${name}(input: $input) { ${wanted} ${problem} } }`,
    { input },
  )
  return data[name] as Answer
}

const accepted = `{ idempotentHit warnings job { id state retryOf { id } } } ${exceeded}`
const submit = (more: object = {}) =>
  mutate('submitJob', 'SubmitJobInput', { spec: { command: ['true'] }, ...more }, `... on SubmitJobSuccess ${accepted}`)
const jobId = ({ job }: Answer) => job?.id ?? ''

describe('idempotency keys', () => {
  it('can be looked up, and return a problem if the submission differs', async () => {
    const id = jobId(await submit({ idempotencyKey: 'gh-owner/repo-1', idempotencyTtlSeconds: 60 }))
    const query = `query ($key: String!) {
      idempotencyKey(key: $key) { key createdAt expiresAt job { id } } }`
    const found = await api.ask<{
      idempotencyKey: { createdAt: string; expiresAt: string } | null
    }>(query, { key: 'gh-owner/repo-1' })
    expect(found).toMatchObject({
      idempotencyKey: { key: 'gh-owner/repo-1', job: { id } },
    })
    const { createdAt, expiresAt } = found.idempotencyKey ?? { createdAt: '', expiresAt: '' }
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(60_000)
    expect(await api.ask(query, { key: 'unused' })).toEqual({ idempotencyKey: null })
    expect(await submit({ idempotencyKey: 'gh-owner/repo-1', requiresApproval: true })).toMatchObject({
      __typename: 'IdempotencyConflictProblem',
      code: 'IDEMPOTENCY_CONFLICT',
      retryable: false,
    })
  })
})

describe('submission slots', () => {
  const reserve = (input: object = {}) =>
    mutate(
      'reserveSlot',
      'ReserveSlotInput',
      input,
      `... on ReserveSlotSuccess { reservation { id state } } ${exceeded} ${invalid}`,
    )
  const listed = async (states: string[]) => {
    const { slotReservations, viewer } = await api.ask<{ slotReservations: { nodes: object[] }; viewer: object }>(
      `query ($states: [SlotReservationState!]) { slotReservations(first: 5, states: $states) { nodes { id state user { name } job { id } } }
        viewer { activeSlots } }`,
      { states },
    )
    return { nodes: slotReservations.nodes, viewer }
  }

  it('are reserved, used by a submission, released and listed', async () => {
    const [first, second] = [await reserve(), await reserve({ ttlSeconds: 60 })].map(({ reservation }) => reservation)
    expect(first?.state).toBe('ACTIVE')
    expect((await listed(['ACTIVE'])).nodes).toHaveLength(2)
    const id = jobId(await submit({ slotReservationId: first?.id }))
    expect(await submit({ slotReservationId: first?.id })).toMatchObject({
      __typename: 'ReservationExpiredProblem',
      code: 'RESERVATION_EXPIRED',
    })
    const release = `mutation ($id: ID!) { releaseSlot(input: { slotReservationId: $id }) { ... on ReleaseSlotSuccess { released reservation { state } } ${problem} } }`
    for (const released of [true, false])
      expect(await api.ask(release, { id: second?.id })).toEqual({
        releaseSlot: { released, reservation: { state: 'RELEASED' } },
      })
    expect(await listed(['CONSUMED'])).toMatchObject({ nodes: [{ id: first?.id, state: 'CONSUMED', job: { id } }] })
    expect(await api.ask(`query ($id: ID!) { node(id: $id) { __typename id } }`, { id: first?.id })).toEqual({
      node: { __typename: 'SlotReservation', id: first?.id },
    })
  })

  it('are refused above the limit, with the limit and the usage', async () => {
    const change = `mutation ($input: UpdateLimitsInput!) { updateLimits(input: $input) { __typename } }`
    await api.ask(change, { input: { userMaxActive: 1 } })
    expect(await reserve()).toMatchObject({
      __typename: 'QuotaExceededProblem',
      quota: 'MAX_ACTIVE',
      scope: { kind: 'USER', name: 'local' },
      limit: 1,
      message: 'Quota exceeded: Maximum 1 concurrent jobs allowed',
    })
    await api.ask(change, { input: { userMaxActive: null } })
    expect(await reserve({ ttlSeconds: 0 })).toMatchObject({ violations: [{ path: ['ttlSeconds'] }] })
  })
})

describe('quotas', () => {
  const quota = 'quota { id type action scope { kind name user { name } team { name } } limit }'

  it('are created, enforced, shown, updated and deleted', async () => {
    const input = { type: 'COST_PER_DAY', action: 'BLOCK', scope: { user: { name: 'local' } }, limit: 10 }
    const made = await mutate('createQuota', 'CreateQuotaInput', input, `... on CreateQuotaSuccess { ${quota} }`)
    expect(made.quota).toMatchObject({
      ...{ type: 'COST_PER_DAY', action: 'BLOCK', limit: 10 },
      scope: { kind: 'USER', name: 'local', user: { name: 'local' }, team: null },
    })
    const { id } = made.quota as { id: string }
    const cost = (estimatedCost: number) => submit({ spec: { command: ['true'], estimatedCost } })
    expect(await cost(8)).toMatchObject({ warnings: ['Cost warning: 8 of 10 per day used'] })
    expect(await cost(3)).toMatchObject({
      __typename: 'QuotaExceededProblem',
      code: 'COST_LIMIT_EXCEEDED',
      message: 'Cost limit exceeded: Maximum 10 per day allowed',
      retryable: false,
      quota: 'COST_PER_DAY',
      scope: { kind: 'USER', name: 'local' },
      limit: 10,
      used: 8,
    })
    const usage = `{ viewer { quotas { type action scope { kind name } limit used warning } } quotas { nodes { id } } }`
    expect(await api.ask(usage)).toEqual({
      viewer: {
        quotas: [
          {
            type: 'COST_PER_DAY',
            action: 'BLOCK',
            scope: { kind: 'USER', name: 'local' },
            limit: 10,
            used: 8,
            warning: true,
          },
        ],
      },
      quotas: { nodes: [{ id }] },
    })
    const change = { quotaId: id, action: 'REQUIRE_APPROVAL' }
    await mutate('updateQuota', 'UpdateQuotaInput', change, `... on UpdateQuotaSuccess { ${quota} }`)
    expect(await cost(3)).toMatchObject({ job: { state: 'BLOCKED' } })
    const remove = () =>
      mutate('deleteQuota', 'DeleteQuotaInput', { quotaId: id }, '... on DeleteQuotaSuccess { deletedId }')
    expect(await remove()).toEqual({ deletedId: id })
    expect(await remove()).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('retryJob', () => {
  it('creates a new job, whose fields differ from the original only if they are overridden', async () => {
    const original = jobId(
      await submit({ spec: { command: ['true'], launcher: 'multiple', inheritEnvironment: false } }),
    )
    const retry = (overrides: object) =>
      mutate('retryJob', 'RetryJobInput', { jobId: original, overrides }, `... on RetryJobSuccess ${accepted}`)
    expect(await retry({})).toMatchObject({ __typename: 'InvalidStateProblem', code: 'INVALID_STATE' })
    await finishJob(server.domain.db.sql, original)
    const again = await retry({ name: 'again' })
    expect(again).toMatchObject({ idempotentHit: false, job: { retryOf: { id: original } } })
    const query = `query ($id: ID!) { job(id: $id) { allowedActions spec { name launcher inheritEnvironment } } }`
    expect(await api.ask(query, { id: jobId(again) })).toMatchObject({
      job: { spec: { name: 'again', launcher: 'multiple', inheritEnvironment: false } },
    })
    expect(await api.ask(query, { id: original })).toMatchObject({ job: { allowedActions: ['RETRY', 'DELETE'] } })
  })
})
