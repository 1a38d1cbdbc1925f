import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import { deleteJob } from '../../../src/domain/control/remove.ts'
import { newId } from '../../../src/domain/ids.ts'
import {
  addDecimals,
  type QuotaAction,
  type QuotaScope,
  quotaActions,
  quotaScopes,
} from '../../../src/domain/limits/quota-rules.ts'
import { countsJobs, isCost, type QuotaType, quotaTypes, windowHours } from '../../../src/domain/limits/quota-types.ts'
import { sweepUsageLedger } from '../../../src/domain/limits/quota-usage.ts'
import { applyQuotas, createQuota, deleteQuota, updateQuota } from '../../../src/domain/limits/stored-quotas.ts'
import { updateTeam } from '../../../src/domain/people/teams.ts'
import { readQuotaUsage } from '../../../src/domain/submission/own-quotas.ts'
import type { SubmitOutcome } from '../../../src/domain/submission/submit-group.ts'
import { openTestDomain, simNode } from '../../support/domain.ts'
import { finishJob } from '../../support/factories.ts'
import { submitJobs } from '../../support/submit-jobs.ts'

let ann: Viewer
let bob: Viewer

const sql = <Row>(text: string, values: unknown[] = []) => database.db.sql.query<Row>(text, values)

const devices = Array.from({ length: 16 }, (_, index) => ({
  index,
  model: 'V100',
  memoryGib: 32,
  tensorCores: true,
  cuda: [],
}))

const { database, it } = await openTestDomain({ nodes: [{ ...simNode, devices }] })
beforeAll(async () => {
  await sql("UPDATE pool SET executors = '{local}'")
  ann = await it.user('ann', 'RESEARCHER')
  bob = await it.user('bob', 'RESEARCHER')
  await addTeam('ml', [ann, bob])
})
beforeEach(async () => {
  await sql('DELETE FROM quota')
  await sql('DELETE FROM job')
  await sql('DELETE FROM usage_ledger')
})

async function addTeam(name: string, members: readonly Viewer[]) {
  const id = newId('team', 0)
  await sql('INSERT INTO team (id, name, account) VALUES ($1, $2, $2)', [id, name])
  for (const { userId } of members) {
    await sql('INSERT INTO team_member (team_id, user_id) VALUES ($1, $2)', [id, userId])
    await sql('UPDATE "user" SET default_team_id = coalesce(default_team_id, $1) WHERE id = $2', [id, userId])
  }
  return id
}

interface Rule {
  type: QuotaType
  action?: QuotaAction
  scope?: QuotaScope
  key?: string
  limit: number
}

const create = ({ action = 'BLOCK', scope = 'GLOBAL', ...rest }: Rule) =>
  createQuota(it.domain, it.admin, { action, scope, ...rest })

async function submit(spec: Record<string, unknown> = {}, viewer = ann): Promise<SubmitOutcome> {
  const [outcome] = await submitJobs(it.domain, viewer, [{ spec: { command: ['true'], ...spec } }])
  if (!outcome) throw new Error('No outcome')
  return outcome
}

const idOf = (outcome: SubmitOutcome) => {
  if (outcome instanceof Error) throw outcome
  return outcome.jobId
}
const stateOf = async (id: string) =>
  (await sql<{ state: string }>('SELECT state FROM job WHERE id = $1', [id]))[0]?.state

/** Submissions that add `amount` to the usage of the type: one job of that size, or that many jobs. */
function take(type: QuotaType, amount: number, viewer?: Viewer): Promise<SubmitOutcome> {
  if (isCost({ type })) return submit({ estimatedCost: amount }, viewer)
  if (!countsJobs(type)) return submit({ resources: { gpu: amount } }, viewer)
  return amount > 1 ? submit({}, viewer).then(() => take(type, amount - 1, viewer)) : submit({}, viewer)
}

const keys = { GLOBAL: undefined, LEVEL: 'RESEARCHER', USER: 'ann', TEAM: 'ml', ACCOUNT: 'ml' } as const
const scopes = {
  GLOBAL: 'user:ann',
  LEVEL: 'user:ann',
  USER: 'user:ann',
  TEAM: 'team:ml',
  ACCOUNT: 'account:ml',
} as const
const table = quotaTypes.flatMap((type) =>
  quotaActions.flatMap((action) => quotaScopes.map((scope) => ({ type, action, scope }))),
)

describe('every quota type, action and scope accepts 7 of 10, warns from 80 %, and acts above the limit:', () => {
  test.each(table)('$type $action $scope', async ({ type, action, scope }) => {
    const key = keys[scope]
    await create({ type, action, scope, limit: 10, ...(key && { key }) })
    const warned = new RegExp(`^${type.startsWith('COST') ? 'Cost' : 'Quota'} warning: `)
    const isCeiling = scope === 'TEAM' || scope === 'ACCOUNT'
    // Ceilings of teams and accounts count the usage of all members, other quotas only that of the person.
    expect(await take(type, 6, isCeiling ? bob : ann)).toMatchObject({ warnings: [] })
    expect(await take(type, 1)).toMatchObject({ warnings: [] })
    expect(await take(type, 1)).toMatchObject({ warnings: [expect.stringMatching(warned)] })
    const full = await take(type, 2)
    expect(full).toMatchObject({ warnings: [expect.stringMatching(warned)] })
    expect(await stateOf(idOf(full))).toBe('QUEUED')
    const over = await take(type, 1)
    if (action === 'BLOCK') {
      const isCost = type.startsWith('COST')
      const code = isCost ? 'COST_LIMIT_EXCEEDED' : 'QUOTA_EXCEEDED'
      expect(over).toMatchObject({ code, quota: type, scope: scopes[scope], limit: 10, used: 10, retryable: false })
      expect(over).toMatchObject({
        message: expect.stringMatching(isCost ? /^Cost limit / : /^Quota exceeded: Maximum 10 /),
      })
    } else if (action === 'WARN') {
      expect(over).toMatchObject({ warnings: [expect.stringMatching(warned)] })
      expect(await stateOf(idOf(over))).toBe('QUEUED')
    } else expect(await stateOf(idOf(over))).toBe('BLOCKED')
  })
})

describe('quotas of several scopes', () => {
  test('a quota of the user takes precedence over that of the level, and that over the global quota', async () => {
    await create({ type: 'CONCURRENT_JOBS', limit: 1 })
    await create({ type: 'CONCURRENT_JOBS', scope: 'LEVEL', key: 'RESEARCHER', limit: 2 })
    await create({ type: 'CONCURRENT_JOBS', scope: 'USER', key: 'ann', limit: 3 })
    for (const [viewer, limit] of [
      [it.admin, 1],
      [bob, 2],
      [ann, 3],
    ] as const) {
      for (let n = 0; n < limit; n++) expect(await submit({}, viewer)).toMatchObject({ idempotentHit: false })
      expect(await submit({}, viewer)).toMatchObject({ limit, used: limit })
    }
  })

  test('quotas of teams and accounts limit the usage of all members, including sub-accounts', async () => {
    await create({ type: 'CONCURRENT_JOBS', limit: 10 })
    await create({ type: 'CONCURRENT_JOBS', scope: 'ACCOUNT', key: 'ml', limit: 3 })
    expect(await submit({ account: 'ml.vision' })).toMatchObject({ idempotentHit: false })
    expect(await submit({}, bob)).toMatchObject({ idempotentHit: false })
    expect(await submit({ account: 'ml.vision.x' }, bob)).toMatchObject({ idempotentHit: false })
    expect(await submit({ account: 'ml.speech' })).toMatchObject({ scope: 'account:ml', limit: 3, used: 3 })
    expect(await submit({ account: 'users.ann' })).toMatchObject({ idempotentHit: false })
  })

  test('refusals and warnings have the exact messages', async () => {
    const id = await create({ type: 'CONCURRENT_JOBS', limit: 5 })
    for (let n = 0; n < 5; n++) await submit()
    expect(await submit()).toMatchObject({ message: 'Quota exceeded: Maximum 5 concurrent jobs allowed' })
    await deleteQuota(it.domain, it.admin, { id })
    await create({ type: 'COST_PER_DAY', limit: 10.5 })
    expect(await submit({ estimatedCost: 9 })).toMatchObject({ warnings: ['Cost warning: 9 of 10.5 per day used'] })
    expect(await submit({ estimatedCost: 2 })).toMatchObject({
      message: 'Cost limit exceeded: Maximum 10.5 per day allowed',
    })
    expect(await submit()).toMatchObject({ warnings: [] })
  })

  test('a later item of a group counts the usage of the earlier items', async () => {
    await create({ type: 'CONCURRENT_JOBS', limit: 5 })
    await create({ type: 'COST_PER_DAY', limit: 4 })
    const inputs = Array.from({ length: 20 }, () => ({ spec: { command: ['true'], estimatedCost: 1 } }))
    const outcomes = await submitJobs(it.domain, ann, inputs)
    expect(outcomes.map((outcome) => (outcome instanceof Error ? 'no' : 'yes')).join(' ')).toBe(
      [...Array(4).fill('yes'), ...Array(16).fill('no')].join(' '),
    )
  })
})

test('a renamed team keeps its quota', async () => {
  const id = await addTeam('old', [])
  await create({ type: 'JOBS_PER_DAY', scope: 'TEAM', key: 'old', limit: 1 })
  await updateTeam(it.domain, it.admin, { id, name: 'new' })
  expect(await sql('SELECT key FROM quota')).toEqual([{ key: 'new' }])
})

describe('quota windows', () => {
  const windows = quotaTypes.flatMap((type) => (windowHours[type] > 0 ? [[type, windowHours[type]] as const] : []))
  test.each(windows)('have the expected length: %s look back %i hours', async (type, hours) => {
    const windowMs = hours * 3_600_000
    await create({ type, limit: 1 })
    await take(type, 1)
    await database.moveTime(windowMs - 5_000)
    expect(await take(type, 1)).toBeInstanceOf(Error)
    await database.moveTime(5_000)
    expect(await take(type, 1)).toMatchObject({ idempotentHit: false })
  })

  test('still count deleted jobs; ledger entries are deleted after 31 days', async () => {
    await create({ type: 'JOBS_PER_DAY', limit: 1 })
    const id = idOf(await submit())
    await finishJob(database.db.sql, id)
    await deleteJob(it.domain, it.admin, { jobId: id })
    expect(await submit()).toMatchObject({ code: 'QUOTA_EXCEEDED', used: 1 })
    expect(await sweepUsageLedger(it.domain)).toBe(0)
    await database.moveTime(31 * 86_400_000 + 1_000)
    expect(await sweepUsageLedger(it.domain)).toBe(1)
  })
})

test.each(['quota', 'usage_ledger', 'slot_reservation'])(
  'an unreadable table %s makes submissions UNAVAILABLE, which can be retried',
  async (name) => {
    await create({ type: 'JOBS_PER_DAY', limit: 100 })
    await sql(`ALTER TABLE ${name} RENAME TO away`)
    expect(await submit()).toMatchObject({ name: 'Unavailable' })
    await sql(`ALTER TABLE away RENAME TO ${name}`)
    expect(await sql('SELECT 1 FROM job')).toEqual([])
    expect(await submit()).toMatchObject({ idempotentHit: false })
  },
)

test('costs are added as decimals', async () => {
  await create({ type: 'COST_PER_DAY', limit: 0.6 })
  await create({ type: 'COST_PER_MONTH', action: 'WARN', limit: 10 })
  const spec = { command: ['true'], estimatedCost: 0.2 }
  const together = await submitJobs(it.domain, ann, [{ spec }, { spec }, { spec }, { spec }])
  expect(together[3]).toMatchObject({ code: 'COST_LIMIT_EXCEEDED', limit: 0.6, used: 0.6 })
  expect(await submit({ estimatedCost: 0.1 })).toMatchObject({ used: 0.6 })
  expect((await readQuotaUsage(it.domain, ann)).map(({ used }) => used)).toEqual([0.6, 0.6])
})

test('sums of decimal numbers are exact', () => {
  const places = 6
  // A number keeps fifteen digits.
  const millionths = fc.integer({ min: 0, max: 1e8 * 10 ** places })
  fc.assert(
    fc.property(fc.array(millionths, { maxLength: 5 }), (parts) => {
      const sum = parts.map((part) => part / 10 ** places).reduce(addDecimals, 0)
      expect(sum).toBe(parts.reduce((a, b) => a + b, 0) / 10 ** places)
    }),
  )
  expect(addDecimals(1e-7, 2e-7)).toBe(3e-7)
  expect(addDecimals(1e15, 1)).toBe(1e15 + 1)
})

test('the quota usage shows the team with the lowest limit, and each type and action once', async () => {
  const eve = await it.user('eve', 'RESEARCHER')
  await addTeam('red', [eve])
  await addTeam('blue', [eve])
  await create({ type: 'CONCURRENT_JOBS', limit: 10 })
  await create({ type: 'CONCURRENT_JOBS', scope: 'TEAM', key: 'red', limit: 4 })
  await create({ type: 'CONCURRENT_JOBS', scope: 'ACCOUNT', key: 'red', limit: 5 })
  await create({ type: 'CONCURRENT_JOBS', scope: 'TEAM', key: 'blue', limit: 8 })
  await create({ type: 'JOBS_PER_DAY', scope: 'TEAM', key: 'red', limit: 3 })
  const shown = async () =>
    (await readQuotaUsage(it.domain, eve)).map(({ type, limit, scope }) => ({ type, limit, scope }))
  const daily = { type: 'JOBS_PER_DAY', limit: 3, scope: 'team:red' }
  expect(await shown()).toEqual([{ type: 'CONCURRENT_JOBS', limit: 4, scope: 'team:red' }, daily])
  await create({ type: 'CONCURRENT_JOBS', scope: 'ACCOUNT', key: 'blue', limit: 2 })
  expect(await shown()).toEqual([{ type: 'CONCURRENT_JOBS', limit: 2, scope: 'account:blue' }, daily])
  await sql('DELETE FROM quota WHERE scope = $1', ['TEAM'])
  await sql('DELETE FROM quota WHERE scope = $1', ['ACCOUNT'])
  expect(await shown()).toEqual([{ type: 'CONCURRENT_JOBS', limit: 10, scope: 'user:eve' }])
})

test('the quota usage shows the strictest quota of each type and action', async () => {
  await create({ type: 'CONCURRENT_JOBS', limit: 10 })
  await create({ type: 'CONCURRENT_JOBS', scope: 'TEAM', key: 'ml', limit: 5 })
  await create({ type: 'COST_PER_DAY', action: 'WARN', limit: 100 })
  await create({ type: 'COST_PER_DAY', scope: 'USER', key: 'bob', limit: 1 })
  for (let n = 0; n < 4; n++) await submit({ estimatedCost: 10 }, n % 2 ? ann : bob).catch(() => undefined)
  const usage = await readQuotaUsage(it.domain, ann)
  expect(usage).toHaveLength(2)
  expect(usage).toContainEqual({
    type: 'CONCURRENT_JOBS',
    action: 'BLOCK',
    scope: 'team:ml',
    limit: 5,
    used: 2,
    warning: false,
  })
  expect(usage).toContainEqual({
    type: 'COST_PER_DAY',
    action: 'WARN',
    scope: 'user:ann',
    limit: 100,
    used: 20,
    warning: false,
  })
})

describe('changing quotas', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['a GLOBAL quota with a key', { scope: 'GLOBAL', key: 'x' }, { code: 'INVALID_INPUT' }],
    ['a USER quota without a key', { scope: 'USER' }, { code: 'INVALID_INPUT' }],
    ['an unknown user', { scope: 'USER', key: 'nobody' }, { code: 'NOT_FOUND' }],
    ['an unknown team', { scope: 'TEAM', key: 'nobody' }, { code: 'NOT_FOUND' }],
    ['an account with a malformed name', { scope: 'ACCOUNT', key: 'ml..x' }, { code: 'INVALID_INPUT' }],
    ['an unknown level', { scope: 'LEVEL', key: 'KING' }, { code: 'INVALID_INPUT' }],
    ['a limit of half a job', { limit: 1.5 }, { code: 'INVALID_INPUT' }],
    ['a negative limit', { limit: -1 }, { code: 'INVALID_INPUT' }],
  ])('refuses %s', async (_what, more, refusal) => {
    const input = { type: 'JOBS_PER_DAY', action: 'BLOCK', scope: 'GLOBAL', limit: 1, ...more }
    await expect(createQuota(it.domain, it.admin, input)).rejects.toMatchObject(refusal)
  })

  test('allows one quota per type, action and scope, and audits each change', async () => {
    const id = await create({ type: 'JOBS_PER_DAY', limit: 1 })
    await expect(create({ type: 'JOBS_PER_DAY', limit: 2 })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    const warn = await create({ type: 'JOBS_PER_DAY', action: 'WARN', limit: 2 })
    await expect(updateQuota(it.domain, it.admin, { id: warn, action: 'BLOCK' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    await updateQuota(it.domain, it.admin, { id, limit: 3 })
    await deleteQuota(it.domain, it.admin, { id })
    await expect(deleteQuota(it.domain, it.admin, { id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const rows = await sql<{ action: string }>('SELECT action FROM audit_entry WHERE object_id = $1 ORDER BY at, id', [
      id,
    ])
    expect(rows.map(({ action }) => action)).toEqual(['quota.create', 'quota.update', 'quota.delete'])
    await expect(createQuota(it.domain, ann, {})).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test('applies new and changed quotas of the configuration, and keeps run-time changes to the others', async () => {
    const daily = { type: 'JOBS_PER_DAY', action: 'BLOCK', scope: 'GLOBAL', key: null, limit: 5 } as const
    const gpus = { type: 'LOCAL_GPUS', action: 'WARN', scope: 'USER', key: 'later', limit: 1 } as const
    const limits = async () =>
      (await sql<{ limit: number }>('SELECT "limit" FROM quota ORDER BY type')).map(({ limit }) => limit)
    await applyQuotas(it.domain, [daily, gpus])
    expect(await limits()).toEqual([5, 1])
    const [row] = await sql<{ id: string }>("SELECT id FROM quota WHERE type = 'JOBS_PER_DAY'")
    await updateQuota(it.domain, it.admin, { id: row?.id, limit: 7 })
    await applyQuotas(it.domain, [daily, gpus])
    await applyQuotas(it.domain, [daily, { ...gpus, limit: 2 }])
    expect(await limits()).toEqual([7, 2])
    await applyQuotas(it.domain, [{ ...daily, limit: 6 }])
    expect(await limits()).toEqual([6])
    const [declared] = await sql<{ id: string }>('SELECT id FROM quota')
    await updateQuota(it.domain, it.admin, { id: declared?.id, action: 'WARN' })
    await applyQuotas(it.domain, [{ ...daily, limit: 6 }, gpus])
    expect(await limits()).toEqual([6, 1])
    await applyQuotas(it.domain, [])
    expect(await limits()).toEqual([])
  })

  test('removes a quota that is no longer declared, and keeps quotas created by users', async () => {
    const daily = { type: 'JOBS_PER_DAY', action: 'BLOCK', scope: 'GLOBAL', key: null, limit: 5 } as const
    const hourly = { type: 'JOBS_PER_HOUR', action: 'BLOCK', scope: 'GLOBAL', key: null, limit: 5 } as const
    await applyQuotas(it.domain, [daily, hourly])
    const [row] = await sql<{ id: string }>("SELECT id FROM quota WHERE type = 'JOBS_PER_HOUR'")
    await deleteQuota(it.domain, it.admin, { id: row?.id ?? '' })
    const own = await create({ type: 'JOBS_PER_HOUR', limit: 2 })
    const warn = await create({ type: 'JOBS_PER_DAY', action: 'WARN', limit: 2 })
    await applyQuotas(it.domain, [])
    expect((await sql<{ id: string }>('SELECT id FROM quota ORDER BY id')).map(({ id }) => id)).toEqual([own, warn])
    expect(
      await sql(
        "SELECT detail->>'type' AS type FROM audit_entry WHERE action = 'quota.delete' AND actor_id IS NULL ORDER BY at DESC LIMIT 1",
      ),
    ).toEqual([{ type: 'JOBS_PER_DAY' }])
    await applyQuotas(it.domain, [daily])
    expect(await sql('SELECT 1 FROM quota WHERE declared_as IS NOT NULL')).toHaveLength(1)
  })
})
