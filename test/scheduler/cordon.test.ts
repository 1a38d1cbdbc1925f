import { expect, test } from 'vitest'
import { deleteNode, updateNode } from '../../src/domain/machines/node-changes.ts'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { createTestDomain, simNode } from '../support/domain.ts'
import { createLeader } from '../support/leader.ts'

test('no run starts on a node that is cordoned or removed, even if the start was planned before', async () => {
  const nodes = ['n1', 'n2'].map((name) => ({ ...simNode, name, cpuMillis: 40_000 }))
  await using world = await createTestDomain({ nodes })
  const { database, it } = world
  const leader = await createLeader(it.domain, 'sim')
  const ids = new Map(
    (await database.db.sql.query<{ id: string; name: string }>('SELECT id, name FROM node')).map(({ id, name }) => [
      name,
      id,
    ]),
  )
  const startedOn = async (name: string) => {
    const [row] = await database.db.sql.query<{ count: number }>('SELECT count(*) FROM allocation WHERE node_id = $1', [
      ids.get(name),
    ])
    return row?.count ?? 0
  }
  const id = ids.get('n1') ?? ''
  for (let round = 0; round < 5; round++) {
    await updateNode(it.domain, it.admin, { id, state: 'READY' })
    for (let n = 0; n < 4; n++) await it.submit()
    const cordoned = updateNode(it.domain, it.admin, { id, state: 'CORDONED' }).then(() => startedOn('n1'))
    await leader.tick()
    const atThatMoment = await cordoned
    await leader.tick()
    expect(await startedOn('n1')).toBe(atThatMoment)
  }
  const gone = ids.get('n2') ?? ''
  await it.submit()
  const outcome = await Promise.allSettled([leader.tick(), deleteNode(it.domain, it.admin, { id: gone })])
  expect(outcome[0]).toMatchObject({ status: 'fulfilled' })
  expect(await findViolations(database.db.sql)).toEqual([])
})
