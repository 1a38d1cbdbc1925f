import { beforeEach, describe, expect, test } from 'vitest'
import type { Domain } from '../../../src/domain/domain.ts'
import { InvalidInput } from '../../../src/domain/errors.ts'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { readLimitsInUse } from '../../../src/domain/limits/in-use.ts'
import {
  type LimitChange,
  readLimits,
  readScopeLimits,
  setScopeLimit,
  updateLimits,
} from '../../../src/domain/limits/limits.ts'
import { applyPools } from '../../../src/domain/machines/pools.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain()
const many = { ...it.domain, singleUser: false }
beforeEach(async () => {
  await database.db.sql.query('DELETE FROM pool_limits')
  await database.db.sql.query('DELETE FROM scope_limit')
})

const limits = async ({ db, singleUser }: Domain, pool = 'sim') =>
  (await readLimits(db.sql, [pool], singleUser)).get(pool)
const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (error instanceof InvalidInput ? error.violations : error),
  )
const lastAudit = async () =>
  (
    await database.db.sql.query(
      'SELECT actor_name, action, object_id, detail FROM audit_entry ORDER BY id DESC LIMIT 1',
    )
  )[0]

describe('a limit', () => {
  test('that is unset has the default of the pool in multi-user mode, and no maximum in single-user mode', async () => {
    expect(await limits(many)).toMatchObject({
      maxConcurrent: 5,
      userMaxConcurrent: 2,
      teamMaxConcurrent: 10,
      enableFairShare: false,
      userMaxActive: null,
      userMaxBlocked: 100,
      starvationThresholdSeconds: 3600,
    })
    expect(await limits(it.domain)).toMatchObject({
      maxConcurrent: null,
      userMaxConcurrent: null,
      userMaxBlocked: null,
    })
  })

  test('on running GPU jobs is 1 by default if jobs are processes of one machine', async () => {
    expect(await limits(many)).toMatchObject({ localJobMaxConcurrent: null })
    await database.db.sql.query("INSERT INTO pool (name, policy, executors) VALUES ('here', 'PRIORITY', '{local}')")
    expect(await limits(many, 'here')).toMatchObject({ localJobMaxConcurrent: 1, localGpuMaxConcurrent: null })
    expect(await limits(it.domain, 'here')).toMatchObject({ localJobMaxConcurrent: null })
  })

  test('on running jobs is unset by default in a FAIR_SHARE pool', async () => {
    await database.db.sql.query("INSERT INTO pool (name, policy, executors) VALUES ('fair', 'FAIR_SHARE', '{local}')")
    expect(await limits(many, 'fair')).toMatchObject({
      maxConcurrent: null,
      userMaxConcurrent: null,
      userMaxBlocked: 100,
    })
  })
})

describe('updateLimits', () => {
  test('changes only the given limits: null removes a limit, 0 stops new starts; the change is audited', async () => {
    expect(await updateLimits(it.domain, it.admin, { maxConcurrent: 7, userMaxConcurrent: 0 })).toBe('sim')
    await updateLimits(it.domain, it.admin, { pool: 'sim', userMaxConcurrent: null, starvationThresholdSeconds: 120 })
    const set = { maxConcurrent: 7, userMaxConcurrent: null, starvationThresholdSeconds: 120 }
    expect(await limits(many)).toMatchObject({ ...set, teamMaxConcurrent: 10 })
    expect(await limits(it.domain)).toMatchObject({ ...set, teamMaxConcurrent: null })
    expect(await lastAudit()).toEqual({
      actor_name: 'local',
      action: 'limits.update',
      object_id: 'pool_sim',
      detail: { userMaxConcurrent: null, starvationThresholdSeconds: 120 },
    })
  })

  test.each<[Record<string, unknown>, string]>([
    [{ maxConcurrent: -1 }, 'maxConcurrent'],
    [{ userMaxActive: 1.5 }, 'userMaxActive'],
    [{ enableFairShare: null }, 'enableFairShare'],
    [{ starvationThresholdSeconds: 0 }, 'starvationThresholdSeconds'],
  ])('refuses the limits %o', async (input, field) => {
    expect(await refusalOf(updateLimits(it.domain, it.admin, input))).toMatchObject([{ path: [field] }])
  })

  test('requires the permission limits.write and an existing pool', async () => {
    const lea = await it.user('lea', 'LEAD')
    await expect(updateLimits(it.domain, lea, { maxConcurrent: 1 })).rejects.toThrow('limits.write')
    await expect(updateLimits(it.domain, it.admin, { pool: 'moon' })).rejects.toThrow('Pool moon not found')
  })
})

describe('setScopeLimit', () => {
  const scopes = () => readScopeLimits(database.db.sql, ['sim'])

  test('sets, changes and removes limits; the names of GPU models are compared without regard to case', async () => {
    const name = { scope: 'PROJECT', name: 'apollo' }
    await setScopeLimit(it.domain, it.admin, { ...name, maxJobs: 3 })
    await setScopeLimit(it.domain, it.admin, { ...name, gpuModel: 'H100', maxGpus: 2 })
    expect(await scopes()).toEqual([
      { pool: 'sim', ...name, gpuModel: '', maxJobs: 3, maxGpus: null, counted: 'project:apollo' },
      { pool: 'sim', ...name, gpuModel: 'h100', maxJobs: null, maxGpus: 2, counted: 'project:apollo' },
    ])
    await setScopeLimit(it.domain, it.admin, { ...name, gpuModel: 'h100', maxJobs: 5 })
    expect(await scopes()).toMatchObject([{ maxJobs: 3 }, { maxJobs: 5, maxGpus: 2 }])
    await setScopeLimit(it.domain, it.admin, { ...name, gpuModel: 'h100', maxJobs: null, maxGpus: null })
    expect(await scopes()).toHaveLength(1)
    expect(await lastAudit()).toMatchObject({ action: 'limits.scope', detail: { gpuModel: 'h100', maxGpus: null } })
  })

  test('requires an existing user, team or queue to set a limit, but not to remove it', async () => {
    for (const scope of ['USER', 'TEAM', 'QUEUE'])
      expect(await refusalOf(setScopeLimit(it.domain, it.admin, { scope, name: 'nobody', maxJobs: 1 }))).toMatchObject([
        { path: ['scope'], message: `The ${scope.toLowerCase()} nobody does not exist` },
      ])
    expect(await setScopeLimit(it.domain, it.admin, { scope: 'USER', name: 'nobody' })).toBe('sim')
    await setScopeLimit(it.domain, it.admin, { scope: 'USER', name: 'local', maxGpus: 0 })
    expect(await scopes()).toMatchObject([{ maxGpus: 0, counted: `user:${it.admin.userId}` }])
  })
})

describe('limits of the configuration', () => {
  const apply = (declared: LimitChange) =>
    applyPools(it.domain, {
      pools: [
        {
          name: 'conf',
          policy: 'PRIORITY',
          executors: ['simulated'],
          relaxReplicas: false,
          nodes: [],
          limits: declared,
        },
      ],
      queues: [{ name: 'default', pool: 'sim', native: {} }],
    })
  const conf = () => limits(it.domain, 'conf')

  test('are applied if they are new or changed; otherwise changes made at run time are kept', async () => {
    await apply({ maxConcurrent: 4, userMaxConcurrent: 2 })
    await updateLimits(it.domain, it.admin, { pool: 'conf', maxConcurrent: 9, userMaxConcurrent: 9 })
    await apply({ maxConcurrent: 4, userMaxConcurrent: 2 })
    expect(await conf()).toMatchObject({ maxConcurrent: 9, userMaxConcurrent: 9 })
    await apply({ maxConcurrent: 4, userMaxConcurrent: 3 })
    expect(await conf()).toMatchObject({ maxConcurrent: 9, userMaxConcurrent: 3 })
    expect(await lastAudit()).toMatchObject({ actor_name: 'system', detail: { userMaxConcurrent: 3 } })
  })

  test('are removed when they are no longer declared, unless they were changed at run time', async () => {
    await apply({ maxConcurrent: 4, userMaxConcurrent: 2 })
    await updateLimits(it.domain, it.admin, { pool: 'conf', maxConcurrent: 9, userMaxActive: 8 })
    await apply({})
    expect(await conf()).toMatchObject({ maxConcurrent: 9, userMaxConcurrent: null, userMaxActive: 8 })
    expect(await lastAudit()).toMatchObject({ actor_name: 'system', detail: { unset: ['userMaxConcurrent'] } })
  })
})

test('the use of a limit counts the running jobs of its own pool alone', async () => {
  const { sql } = database.db
  await sql.query("INSERT INTO pool (name, policy, executors) VALUES ('other', 'PRIORITY', '{simulated}')")
  const pools = ['sim', 'sim', 'other']
  for (const pool of pools) {
    const move = { jobId: await it.submit(), run: 1, reason: null } as const
    const [started] = await transition(sql, [{ ...move, from: 'QUEUED', to: 'STARTING' }], it.time.nowMs())
    await sql.query('UPDATE run SET pool = $2 WHERE id = $1', [started?.runId, pool])
  }
  for (const pool of new Set(pools))
    await setScopeLimit(it.domain, it.admin, { pool, scope: 'USER', name: 'local', maxJobs: 9 })
  const found = await readLimitsInUse(it.domain, it.admin, ['sim', 'other'])
  expect(found.get('sim')?.scopes).toMatchObject([{ name: 'local', maxJobs: 9, jobsInUse: 2, gpusInUse: 0 }])
  expect(found.get('other')?.scopes).toMatchObject([{ name: 'local', maxJobs: 9, jobsInUse: 1, gpusInUse: 0 }])
})
