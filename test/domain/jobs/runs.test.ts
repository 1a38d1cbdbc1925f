import { expect, test } from 'vitest'
import { hasUnreadRuns } from '../../../src/domain/jobs/runs.ts'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain()

test('a pool has unread runs from their handle until they are over and their output is stored', async () => {
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
