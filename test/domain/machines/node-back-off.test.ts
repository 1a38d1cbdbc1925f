import { expect, it } from 'vitest'
import { countStartFailure, forgetStartFailures } from '../../../src/domain/machines/node-back-off.ts'
import { createTestDomain, simNode } from '../../support/domain.ts'
import { addJob } from '../../support/factories.ts'

it('a successful start deletes the failures of its node, and returns whether other nodes have failures', async () => {
  await using world = await createTestDomain({ nodes: [simNode, { ...simNode, name: 'n2' }] })
  const { database, it: made } = world
  const { sql } = database.db
  const runs: string[] = []
  for (const name of ['n1', 'n2']) {
    const { runId } = await addJob(sql, made.admin.userId)
    await sql.query('UPDATE run SET nodes = ARRAY[$2] WHERE id = $1', [runId, name])
    await countStartFailure(sql, 'sim', { runId, isNodes: true, message: 'no disk' })
    runs.push(runId)
  }
  await sql.query('UPDATE run SET scheduled_at = (SELECT max(backs_off_until) FROM node)')
  const forget = (at: number) => forgetStartFailures(sql, 'sim', runs.slice(at, at + 1))
  expect(await forget(0)).toEqual({ well: ['n1'], remain: true })
  expect(await forget(0)).toEqual({ well: [], remain: true })
  expect(await forget(1)).toEqual({ well: ['n2'], remain: false })
})
