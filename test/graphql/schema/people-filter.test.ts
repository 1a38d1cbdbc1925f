import { beforeAll, expect, it } from 'vitest'
import { ask, data, type Json } from '../../support/client.ts'
import { authenticateByName, openTestServer } from '../../support/server.ts'

const server = await openTestServer({ authenticate: authenticateByName })
beforeAll(async () => {
  await server.user('zoe', 'RESEARCHER')
  await server.user('ann', 'LEAD')
  const { sql } = server.domain.db
  await sql.query(
    `UPDATE "user" SET email = 'Ann.O''Hara@example.org', disabled = true, name = 'ann@lab+x' WHERE name = 'ann'`,
  )
  await sql.query(`UPDATE "user" SET display_name = 'Zoë 100%' WHERE name = 'zoe'`)
  await sql.query(
    `INSERT INTO team (id, name, account) VALUES ('team_1', 'vision', 'ml.vision'), ('team_2', 'audio', 'ml.audio')`,
  )
  await sql.query(`INSERT INTO team_member (team_id, user_id) SELECT 'team_1', id FROM "user" WHERE name = 'zoe'`)
  await sql.query(
    `INSERT INTO quota (id, type, action, scope, key, "limit") VALUES ('quota_1', 'JOBS_PER_DAY', 'BLOCK', 'USER', 'zoe', 5),
       ('quota_2', 'COST_PER_DAY', 'WARN', 'GLOBAL', NULL, 5)`,
  )
})

const names = async (list: string, field = 'name') => {
  const answer = await data(server.url, `{ ${list} { nodes { ${field} } totalCount } }`)
  const [{ nodes, totalCount }] = Object.values(answer) as Json[]
  expect(totalCount).toBe(nodes.length)
  return nodes.map((node: Json) => node[field])
}

it.each([
  ['text: "ZO"', ['zoe']],
  ['text: "o\'hara@"', ['ann@lab+x']],
  ['text: "100%"', ['zoe']],
  ['text: "nobody"', []],
  ['levels: [LEAD]', ['ann@lab+x']],
  ['teams: ["team_1", "team_none"]', ['zoe']],
  ['teams: []', []],
  ['disabled: true', ['ann@lab+x']],
  ['disabled: false, levels: [RESEARCHER]', ['zoe']],
])('users can be filtered by %s', async (filter, found) => {
  expect(await names(`users(filter: { ${filter} })`)).toEqual(found)
})

it('users and teams are sorted by name on every page', async () => {
  const seen: string[] = []
  for (let after = ''; ; ) {
    const query = `{ users(first: 1, orderBy: NAME${after}) { nodes { name } pageInfo { hasNextPage endCursor } } }`
    const { users } = await data(server.url, query)
    seen.push(users.nodes[0].name)
    if (!users.pageInfo.hasNextPage) break
    after = `, after: "${users.pageInfo.endCursor}"`
  }
  expect(seen).toEqual([...seen].sort())
  expect(seen).toContain('ann@lab+x')
  expect(await names('teams(orderBy: NAME)')).toEqual(['audio', 'vision'])
  expect(await names('teams')).toEqual(['vision', 'audio'])
  expect(await names('teams(filter: { text: "ML.V" })')).toEqual(['vision'])
})

it('quotas are filtered by type, action, scope and key', async () => {
  for (const filter of ['types: [JOBS_PER_DAY]', 'actions: [BLOCK]', 'scopes: [USER]', 'names: ["zoe"]'])
    expect(await names(`quotas(filter: { ${filter} })`, 'id')).toEqual(['quota_1'])
  expect(await names('quotas(filter: { names: [] })', 'id')).toEqual([])
})

it('a filter returns no user that the viewer may not see', async () => {
  const query =
    '{ users(filter: { disabled: true }) { nodes { id } totalCount } teams(filter: { text: "audio" }) { totalCount } }'
  expect(await data(server.url, query, {}, 'zoe')).toEqual({
    users: { nodes: [], totalCount: 0 },
    teams: { totalCount: 0 },
  })
})

it('a filter is refused if its text is too long', async () => {
  const query = `{ users(filter: { text: "${'a'.repeat(256)}" }) { totalCount } }`
  expect(await ask(server.url, query)).toMatchObject({ errors: [{ message: expect.stringContaining('at most 255') }] })
})
