import { expect, test } from 'vitest'
import { readInstallation } from '../../src/metrics/read-installation.ts'
import { openTestDomain, simDevices, simNode } from '../support/domain.ts'
import { createLeader } from '../support/leader.ts'

const of = { cpuMillis: 4_000, memoryBytes: 2 ** 30, devices: simDevices(2) }
const nodes = ['n1', 'n2'].map((name) => ({ ...simNode, ...of, name }))
const { database, it } = await openTestDomain({ nodes })
const { sql } = database.db

async function read() {
  const [pool] = (await readInstallation(sql)).pools
  return { capacity: pool?.capacity, nodes: pool?.nodes, allocated: pool?.allocated.cpus }
}

test.each(['CORDONED', 'DRAINING', 'LOST'])('the capacity of a pool leaves out a node that is %s', async (state) => {
  const half = { cpus: 4, memory_bytes: 2 ** 30, gpus: 2 }
  const whole = { cpus: 8, memory_bytes: 2 ** 31, gpus: 4 }
  expect(await read()).toMatchObject({ capacity: whole, nodes: { READY: 2 } })
  await sql.query(
    `UPDATE node SET state = $1::text::node_state, state_before = $2::text::node_state WHERE name = 'n1'`,
    [state, state === 'LOST' ? 'READY' : null],
  )
  expect(await read()).toMatchObject({ capacity: half, nodes: { READY: 1, [state]: 1 } })
  await sql.query(`UPDATE node SET state = 'READY', state_before = NULL WHERE name = 'n1'`)
})

test('resources stay allocated on a node that takes no more runs', async () => {
  const leader = await createLeader(it.domain, 'sim')
  for (let n = 0; n < 2; n++) await it.submit({ resources: { cpu: 3 } })
  await leader.tick()
  expect(await read()).toMatchObject({ allocated: 6 })
  await sql.query(`UPDATE node SET state = 'DRAINING' WHERE name = 'n1'`)
  expect(await read()).toMatchObject({ allocated: 6, capacity: { cpus: 4 } })
})
