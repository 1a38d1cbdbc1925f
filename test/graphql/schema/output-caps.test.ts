import { expect, it } from 'vitest'
import { listPermissions } from '../../../src/domain/access.ts'
import { ask, data, type Json } from '../../support/client.ts'
import { openTestServer } from '../../support/server.ts'

const server = await openTestServer()

it('a user may have every permission in allow and in deny, and all of them are returned', async () => {
  const all = [...listPermissions('ADMIN')].map((each) => each.toUpperCase().replaceAll('.', '_')).toSorted()
  const create = `mutation ($input: CreateUserInput!) { createUser(input: $input) {
    ... on CreateUserSuccess { user { allow deny } } ... on Problem { message } } }`
  const input = { name: 'eve', level: 'VIEWER', allow: all, deny: all }
  const { createUser } = await data(server.url, create, { input })
  expect(createUser.user.allow.toSorted()).toEqual(all)
  expect(createUser.user.deny.toSorted()).toEqual(all)
})

it('all GPUs can be read by pages; a list longer than its maximum returns an error', async () => {
  const add = `mutation ($input: AddNodeInput!) { addNode(input: $input) { __typename
    ... on AddNodeSuccess { node { id } } ... on Problem { message } } }`
  const addGpus = async (name: string, count: number) => {
    const gpus = [{ model: 'T4', memoryBytes: 16 * 2 ** 30, count }]
    const { addNode } = await data(server.url, add, {
      input: { pool: 'sim', name, cpu: 8, memoryBytes: 32 * 2 ** 30, gpus },
    })
    expect(addNode.message).toBeUndefined()
    return addNode.node.id as string
  }
  const page = `query ($after: Cursor) { system { gpus(first: 100, after: $after) {
    nodes { index node { id } } pageInfo { hasNextPage endCursor } totalCount } } }`
  const list = async () => {
    const found: string[] = []
    for (let after: string | null = null; ; ) {
      const gpus: Json = (await data(server.url, page, { after }))['system'].gpus
      found.push(...gpus.nodes.map(({ index, node }: Json) => `${node.id}/${index}`))
      if (!gpus.pageInfo.hasNextPage) return { found: new Set(found).size, total: gpus.totalCount as number }
      after = gpus.pageInfo.endCursor
    }
  }
  const before = await list()
  const id = await addGpus('a', 600)
  await addGpus('b', 600)
  expect(await list()).toEqual({ found: before.found + 1_200, total: before.total + 1_200 })
  expect((await data(server.url, '{ system { gpuModels } }'))['system'].gpuModels).toContain('T4')
  await server.domain.db.sql.query(
    `INSERT INTO device SELECT (jsonb_populate_record(d, jsonb_build_object('device', n))).*
     FROM device d, generate_series(1000, 2000) n WHERE d.device = 0 AND d.node_id = $1`,
    [id],
  )
  const { errors } = await ask(server.url, `{ node(id: "${id}") { ... on PoolNode { gpus { index } } } }`)
  expect(errors?.[0]).toMatchObject({
    message: 'PoolNode.gpus has more than 1,024 entries, the maximum',
    extensions: { code: 'BAD_REQUEST' },
  })
})
