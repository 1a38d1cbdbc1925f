import { afterAll, beforeAll, expect, it } from 'vitest'
import { listPermissions } from '../../../src/domain/access.ts'
import { ask, data } from '../../support/client.ts'
import { startServer, type TestServer } from '../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server[Symbol.asyncDispose]())

it('a user shows all permissions that were granted and denied', async () => {
  const all = [...listPermissions('ADMIN')].map((each) => each.toUpperCase().replaceAll('.', '_')).toSorted()
  const create = `mutation ($input: CreateUserInput!) { createUser(input: $input) {
    ... on CreateUserSuccess { user { allow deny } } ... on Problem { message } } }`
  const input = { name: 'eve', level: 'VIEWER', allow: all, deny: all }
  const { createUser } = await data(server.url, create, { input })
  expect(createUser.user.allow.toSorted()).toEqual(all)
  expect(createUser.user.deny.toSorted()).toEqual(all)
})

it('all GPUs are listed; a list above its maximum is an error', async () => {
  const add = 'mutation ($input: AddNodeInput!) { addNode(input: $input) { __typename ... on Problem { message } } }'
  const addGpus = async (name: string, count: number) => {
    const gpus = [{ model: 'T4', memoryGib: 16, count }]
    const { addNode } = await data(server.url, add, { input: { pool: 'sim', name, cpu: 8, memoryGib: 32, gpus } })
    expect(addNode.__typename).toBe('AddNodeSuccess')
  }
  const count = async () => (await data(server.url, '{ system { gpus { index } } }'))['system'].gpus.length
  const before = await count()
  await addGpus('a', 600)
  await addGpus('b', 600)
  expect(await count()).toBe(before + 1_200)
  await server.domain.db.sql.query(
    `INSERT INTO device SELECT (jsonb_populate_record(d, jsonb_build_object('device', n))).*
     FROM device d, generate_series(1000, 10000) n WHERE d.device = 0 AND d.node_id = (SELECT id FROM node WHERE name = 'a')`,
  )
  const { errors } = await ask(server.url, '{ system { gpus { index } } }')
  expect(errors?.[0]).toMatchObject({
    message: 'System.gpus has more than 10,000 entries, the maximum',
    extensions: { code: 'BAD_REQUEST' },
  })
})
