import { afterAll, beforeAll, expect, it } from 'vitest'
import { createChainer } from '../../../src/domain/audit/audit-chain.ts'
import { type Api, connectApi } from '../../support/api.ts'
import { createLeader } from '../../support/leader.ts'
import { personWith } from '../../support/people.ts'
import { openTestServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

/** Mutations of operators. No pool has a leader here. */
let api: Api

const server = await openTestServer()
beforeAll(async () => {
  api = connectApi(server.url)
})
afterAll(() => api.close())

const problem = '... on Problem { code message ... on InvalidInputProblem { violations { path } } }'

async function mutate(field: string, input: object, wanted: string): Promise<Record<string, unknown>> {
  const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}`
  const query = `mutation ($input: ${type}Input!) { ${field}(input: $input) { ... on ${type}Success { ${wanted} } ${problem} } }`
  return (await api.ask<Record<string, Record<string, unknown>>>(query, { input }))[field] ?? {}
}

it('setJobPriority of a waiting job emits an event that names the user', async () => {
  const jobId = await api.submit({ command: ['true'] })
  const set = (priority: number | null) =>
    mutate('setJobPriority', { jobId, priority }, 'job { version allowedActions }')
  expect(await set(51)).toMatchObject({ code: 'INVALID_INPUT', violations: [{ path: ['priority'] }] })
  expect(await set(45)).toEqual({ job: { version: 2, allowedActions: ['CANCEL', 'SET_PRIORITY'] } })
  const query = `query ($id: ID!) { job(id: $id) { events(last: 1) { nodes { type message from to psijState actor { name } } } } }`
  expect(await api.ask(query, { id: jobId })).toEqual({
    job: {
      events: {
        nodes: [
          {
            type: 'PRIORITY_CHANGED',
            message: 'Priority 30 → 45 by local',
            from: null,
            to: null,
            psijState: null,
            actor: { name: 'local' },
          },
        ],
      },
    },
  })
  await api.ask('mutation ($id: ID!) { cancelJob(input: { jobId: $id }) { __typename } }', { id: jobId })
  expect(await set(1)).toMatchObject({ code: 'INVALID_STATE' })
  expect(await mutate('setJobPriority', { jobId: 'job_nowhere', priority: 1 }, 'job { id }')).toMatchObject({
    code: 'NOT_FOUND',
  })
})

it('a node can be added, drained and deleted', async () => {
  const wanted =
    'node { id name pool { name } state capacity { cpu memoryBytes gpu } free { gpu } gpus { index model cuda } }'
  const gpus = [{ model: 'T4', memoryBytes: 16 * 2 ** 30, cuda: ['9.0', '11.8'], count: 2 }]
  const added = await mutate('addNode', { pool: 'sim', name: 'n2', cpu: 8, memoryBytes: 32 * 2 ** 30, gpus }, wanted)
  expect(added).toMatchObject({
    node: {
      name: 'n2',
      pool: { name: 'sim' },
      state: 'READY',
      capacity: { cpu: 8, memoryBytes: 32 * 1024 ** 3, gpu: 2 },
      free: { gpu: 2 },
      gpus: [
        { index: 0, model: 'T4', cuda: ['9.0', '11.8'] },
        { index: 1, model: 'T4' },
      ],
    },
  })
  const { id: nodeId } = added['node'] as { id: string }
  expect(await mutate('addNode', { pool: 'sim', name: 'n2', cpu: 8, memoryBytes: 32 * 2 ** 30 }, wanted)).toMatchObject(
    {
      violations: [{ path: ['name'] }],
    },
  )
  const why = 'node { state stateInfo stateBy { name } stateAt }'
  const { node: before } = await api.ask<{ node: { stateAt: string } }>(
    'query ($id: ID!) { node(id: $id) { ... on PoolNode { stateAt } } }',
    { id: nodeId },
  )
  const drained = await mutate('updateNode', { nodeId, state: 'DRAINING', reason: 'fan is loud' }, why)
  expect(drained).toMatchObject({
    node: { state: 'DRAINING', stateInfo: 'fan is loud', stateBy: { name: expect.any(String) } },
  })
  const { stateAt } = drained['node'] as { stateAt: string }
  expect(stateAt > before.stateAt).toBe(true)
  expect(await mutate('updateNode', { nodeId, state: 'DRAINING', reason: 'fan is gone' }, why)).toMatchObject({
    node: { stateInfo: 'fan is gone', stateAt },
  })
  await server.domain.db.sql.query("UPDATE node SET state_before = state, state = 'LOST' WHERE id = $1", [nodeId])
  expect(await mutate('updateNode', { nodeId, state: 'CORDONED', reason: 'new fan' }, why)).toMatchObject({
    node: { state: 'LOST', stateInfo: expect.stringMatching(/^No heartbeat since /), stateBy: null },
  })
  await server.domain.db.sql.query('UPDATE node SET state = state_before, state_before = NULL WHERE id = $1', [nodeId])
  expect(await mutate('updateNode', { nodeId, state: 'READY', reason: 'x' }, why)).toMatchObject({
    violations: [{ path: ['reason'] }],
  })
  expect(await mutate('updateNode', { nodeId, state: 'READY' }, why)).toMatchObject({
    node: { state: 'READY', stateInfo: null },
  })
  expect(await mutate('updateNode', { nodeId, state: 'LOST' }, 'node { state }')).toMatchObject({
    violations: [{ path: ['state'] }],
  })
  expect(await mutate('deleteNode', { nodeId }, 'deletedId')).toEqual({ deletedId: nodeId })
  expect(await mutate('deleteNode', { nodeId }, 'deletedId')).toMatchObject({ code: 'NOT_FOUND' })
})

it('planPools returns UnavailableProblem with the reason if the pool has no leader', async () => {
  const { sql } = server.domain.db
  const pass = async (pool?: string) => {
    const query = `mutation ($input: PlanPoolsInput!) { planPools(input: $input) { __typename ${problem} } }`
    return (await personWith(server.url, '').data(query, { input: { pool } }))['planPools']
  }
  const unavailable = (message: string) => ({ __typename: 'UnavailableProblem', code: 'UNAVAILABLE', message })
  expect(await pass()).toMatchObject(unavailable('No pool has a scheduler right now; try again'))
  expect(await pass('moon')).toMatchObject({ code: 'NOT_FOUND', message: 'Pool moon not found' })
  await createLeader(server.domain, 'sim')
  const silent = pass()
  await until(() => sql.query('SELECT 1 FROM question').then(({ length }) => length), { what: 'the leader is asked' })
  await sql.query('UPDATE scheduler_leader SET holder = NULL')
  await sql.query('UPDATE question SET deadline = berth_now()')
  expect(await silent).toMatchObject(unavailable('Pool sim has no scheduler right now; try again'))
  await sql.query('DELETE FROM scheduler_leader')
  await sql.query('DELETE FROM scheduler_lease')
})

it('selfCheck returns its findings', async () => {
  // No process chains the audit entries of the tests above, which the self-check reports after 10 s.
  await createChainer(server.domain).runOnce()
  const query = '{ selfCheck { ok at findings { rule objectId message } } }'
  const jobId = await api.submit({ command: ['true'] })
  expect(await api.ask(query)).toEqual({ selfCheck: { ok: true, findings: [], at: expect.any(String) } })
  await server.domain.db.sql.query('UPDATE queue_entry SET band = 1 WHERE job_id = $1', [jobId])
  expect(await api.ask(query)).toMatchObject({
    selfCheck: { ok: false, findings: [{ rule: 'a queue entry matches its job', objectId: jobId }] },
  })
})
