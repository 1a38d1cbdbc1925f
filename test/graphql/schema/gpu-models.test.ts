import { beforeAll, expect, it } from 'vitest'
import { data } from '../../support/client.ts'
import { authenticateByName, openTestServer } from '../../support/server.ts'

const server = await openTestServer({ authenticate: authenticateByName })
beforeAll(() => server.user('rosa', 'RESEARCHER'))

const query = '{ pools { nodes { gpusByModel { model memoryBytes count allocated byUser { count user { name } } } } } }'

const readModels = async (name: string) => (await data(server.url, query, {}, name))['pools'].nodes[0].gpusByModel

it('gpusByModel counts the GPUs of a pool, and byUser lists only users whose jobs the viewer may see', async () => {
  const { sql } = server.domain.db
  await server.submit()
  await sql.query(`INSERT INTO device (node_id, device, model, memory_gib, cuda)
    SELECT id, device, CASE WHEN device < 3 THEN 'A100' ELSE 'V100' END, 40, '{}' FROM node, generate_series(0, 3) AS device`)
  await sql.query("UPDATE node SET delegated = true, held_gpus = '{3}'")
  await sql.query(
    'INSERT INTO device_claim (node_id, device, run_id) SELECT n.id, device, r.id FROM node n, run r, generate_series(0, 1) AS device',
  )
  const a100 = { model: 'A100', memoryBytes: 40 * 2 ** 30, count: 3, allocated: 2 }
  const v100 = { model: 'V100', memoryBytes: 40 * 2 ** 30, count: 1, allocated: 1, byUser: [] }
  const byUser = [{ count: 2, user: { name: server.admin.userName } }]
  expect(await readModels('admin')).toEqual([{ ...a100, byUser }, v100])
  expect(await readModels('rosa')).toEqual([{ ...a100, byUser: [] }, v100])
})
