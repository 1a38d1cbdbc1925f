import { beforeAll, expect, it } from 'vitest'
import { data, type Json } from '../../support/client.ts'
import { authenticateByName, openTestServer } from '../../support/server.ts'

/** `node` finds an object of every type, if the viewer may see it. */
const server = await openTestServer({ authenticate: authenticateByName })
beforeAll(async () => {
  await server.user('rosa', 'RESEARCHER')
  const { sql } = server.domain.db
  await sql.query(
    `INSERT INTO webhook_endpoint (name, target, events, position) VALUES ('ci', 'https://ci', '{job.failed,condition.began}', 0)`,
  )
  await sql.query(
    `INSERT INTO webhook_delivery (id, endpoint, type, body) VALUES ('msg_1', 'ci', 'job.approval_requested', '{}')`,
  )
})

async function readNode(name: string, id: string): Promise<Json> {
  const query = `{ node(id: "${id}") { __typename id
    ... on Webhook { eventTypes } ... on WebhookDelivery { eventType } ... on Viewer { user { name } } } }`
  return (await data(server.url, query, {}, name))['node']
}

it('node(id) finds a webhook and its deliveries if the viewer has webhook.write', async () => {
  expect(await readNode('admin', 'webhook_ci')).toEqual({
    __typename: 'Webhook',
    id: 'webhook_ci',
    eventTypes: ['JOB_FAILED', 'CONDITION_BEGAN'],
  })
  expect(await readNode('admin', 'msg_1')).toMatchObject({ id: 'msg_1', eventType: 'JOB_APPROVAL_REQUESTED' })
  for (const id of ['webhook_ci', 'msg_1']) expect(await readNode('rosa', id)).toBeNull()
})

it('node(id) finds a Viewer only for the user whom it represents', async () => {
  const own = `viewer_${server.admin.userId}`
  expect(await readNode('admin', own)).toMatchObject({ id: own, user: { name: server.admin.userName } })
  expect(await readNode('rosa', own)).toBeNull()
})

it('node(id) finds an object of every Node type', async () => {
  await server.submit()
  const { sql } = server.domain.db
  await sql.query(
    `INSERT INTO device (node_id, device, model, memory_gib, cuda) SELECT id, 3, 'V100', 32, '{}' FROM node`,
  )
  const found = await data(
    server.url,
    '{ jobs(first: 1) { nodes { id currentRun { id } user { id } pool { limits { id } workload { id } } events { nodes { id } } } } pools { nodes { id nodes { nodes { id } } } } submissionQueues { id } viewer { id } system { id gpus { nodes { id node { id } } } } serverInfo { id } }',
  )
  const [job] = found['jobs'].nodes
  const [pool] = found['pools'].nodes
  const ids: [string, string][] = [
    ['Job', job.id],
    ['Run', job.currentRun.id],
    ['User', job.user.id],
    ['JobEvent', job.events.nodes[0].id],
    ['Pool', pool.id],
    ['PoolNode', pool.nodes.nodes[0].id],
    ['Gpu', `gpu_${pool.nodes.nodes[0].id}_3`],
    ['SubmissionQueue', found['submissionQueues'][0].id],
    ['Limits', job.pool.limits.id],
    ['Workload', job.pool.workload.id],
    ['Viewer', found['viewer'].id],
    ['System', found['system'].id],
    ['ServerInfo', found['serverInfo'].id],
  ]
  for (const [type, id] of ids) {
    const { node } = await data(server.url, 'query ($id: ID!) { node(id: $id) { id __typename } }', { id })
    expect(node).toEqual({ id, __typename: type })
  }
  const unknown =
    'x event_1 pool_ limits_ limits_none workload_none viewer_user_none system_2 webhook_x msg_x gpu_x gpu_x_0'.split(
      ' ',
    )
  const { nodes } = await data(server.url, 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
    ids: ['job_none', ...ids.map(([, id]) => id), ...unknown],
  })
  expect(nodes).toEqual([null, ...ids.map(([, id]) => ({ id })), ...unknown.map(() => null)])
})
