import { expect, test } from 'vitest'
import { hasUnreadRuns, readHoldingRuns } from '../../../src/domain/jobs/runs.ts'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { applyPools } from '../../../src/domain/machines/pools.ts'
import { createCapacityReservation } from '../../../src/domain/machines/reservations.ts'
import { openTestDomain, simNode } from '../../support/domain.ts'
import { createLeader } from '../../support/leader.ts'
import { nodeIds } from '../../support/node-ids.ts'

const { database, it } = await openTestDomain()

test('a run with a handle counts as unread until it has ended and its output is stored', async () => {
  const { sql } = database.db
  const has = (pool = 'sim', executor = 'simulated') => hasUnreadRuns(it.domain, pool, executor)
  const jobId = await it.submit()
  const move = { jobId, run: 1, reason: null }
  await transition(sql, [{ ...move, from: 'QUEUED', to: 'STARTING' }], 0)
  expect(await has()).toBe(false)
  await sql.query("UPDATE run SET handle = 'h' WHERE job_id = $1", [jobId])
  expect([await has(), await has('other'), await has('sim', 'local')]).toEqual([true, false, false])
  await transition(sql, [{ ...move, from: 'STARTING', to: 'RUNNING' }], 0)
  await transition(sql, [{ ...move, from: 'RUNNING', to: 'SUCCEEDED', exitCode: 0 }], 0)
  const sealed = (isSealed: boolean) =>
    sql.query(
      `INSERT INTO run_log (run_id, job_id, number, sealed) SELECT id, job_id, number, $2 FROM run WHERE job_id = $1
       ON CONFLICT (run_id) DO UPDATE SET sealed = $2`,
      [jobId, isSealed],
    )
  await sealed(false)
  expect(await has()).toBe(true)
  await sealed(true)
  expect(await has()).toBe(false)
})

test('a new leader reads the runs of its pool with the ends of their hard capacity reservations', async () => {
  const { sql } = database.db
  const pool = { policy: 'PRIORITY', executors: ['simulated'], relaxReplicas: true } as const
  const names = ['sim', 'other']
  await applyPools(it.domain, {
    pools: names.map((name) => ({ ...pool, name, nodes: [{ ...simNode, name: `node of ${name}` }] })),
    queues: names.map((name) => ({ name, pool: name, native: {} })),
  })
  const inHours = (hours: number) => new Date(it.domain.time.nowMs() + hours * 3_600_000)
  const week = { pool: 'sim', project: 'genome', nodeIds: await nodeIds(database.db, 'node of sim') }
  const endsAt = inHours(2)
  const reserve = (more: object) => createCapacityReservation(it.domain, it.admin, { ...week, ...more })
  const started = async (spec: Record<string, unknown>) => {
    const jobId = await it.submit({ project: 'genome', ...spec })
    await transition(sql, [{ jobId, run: 1, from: 'QUEUED', to: 'STARTING', reason: null }], 0)
    return jobId
  }
  const hard = await reserve({ name: 'hard', startsAt: inHours(1), endsAt, hard: true })
  const soft = await reserve({ name: 'soft', startsAt: endsAt, endsAt: inHours(3) })
  const bound = await started({ queue: 'sim', capacityReservationId: hard.id })
  const loose = await started({ queue: 'sim', capacityReservationId: soft.id })
  const elsewhere = await started({ queue: 'other' })
  for (const name of names) await createLeader(it.domain, name)
  const carried = async (pool: string, epoch = 1) =>
    (await readHoldingRuns(sql, { pool, epoch, holder: 'test' })).map(({ jobId, mustEndAt }) => ({ jobId, mustEndAt }))
  expect(await carried('sim')).toEqual([
    { jobId: bound, mustEndAt: endsAt },
    { jobId: loose, mustEndAt: null },
  ])
  expect(await carried('other')).toEqual([{ jobId: elsewhere, mustEndAt: null }])
  expect(await carried('sim', 0)).toEqual([])
})
