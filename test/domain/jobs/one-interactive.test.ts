import { expect, test } from 'vitest'
import { findInteractiveElsewhere, postponeInteractive } from '../../../src/domain/jobs/one-interactive.ts'
import { type Move, transition } from '../../../src/domain/jobs/transition.ts'
import { openTestDomain } from '../../support/domain.ts'

const { database, it } = await openTestDomain()

const move = (jobId: string, step: Omit<Move, 'jobId' | 'run'>) =>
  transition(database.db.sql, [{ jobId, run: 1, ...step }], 0)

test('a second interactive run of a user is refused while one runs in another pool, and waits while that one is cancelled', async () => {
  const { sql } = database.db
  const { userId } = it.admin
  const first = await it.submit({ interactive: true })
  const second = await it.submit({ interactive: true })
  const ask = () => findInteractiveElsewhere(sql, [{ jobId: second, userId }])
  expect(await ask()).toEqual({ refused: new Map(), waiting: [] })
  await move(first, { from: 'QUEUED', to: 'STARTING', reason: null })
  const { refused } = await ask()
  expect(refused.get(second)).toContain(first)
  // If two leaders start runs at the same time, the index refuses the second run.
  await expect(move(second, { from: 'QUEUED', to: 'STARTING', reason: null })).rejects.toThrow('run_one_interactive')
  await move(first, { from: 'STARTING', to: 'CANCELLING', reason: 'CANCELLED' })
  expect(await ask()).toEqual({ refused: new Map(), waiting: [second] })
  const entry = () =>
    sql.query('SELECT open, eligible_at > berth_now() AS later FROM queue_entry WHERE job_id = $1', [second])
  expect(await entry()).toEqual([{ open: true, later: false }])
  await postponeInteractive(sql, [second])
  expect(await entry()).toEqual([{ open: false, later: true }])
})
