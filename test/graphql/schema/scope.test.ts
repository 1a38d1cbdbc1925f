import { beforeAll, expect, it } from 'vitest'
import { data, type Json } from '../../support/client.ts'
import { authenticateByName, openTestServer } from '../../support/server.ts'

/** Scopes of quotas, whose users and teams are objects. */
const server = await openTestServer({ authenticate: authenticateByName })
beforeAll(async () => {
  await server.user('max', 'RESEARCHER', ['quota.write'])
  for (let n = 0; n < 20; n++) await server.user(`user${n}`, 'RESEARCHER')
  const { sql } = server.domain.db
  await sql.query(`INSERT INTO team (id, name, account) VALUES ('team_1', 'vision', 'vision')`)
  await sql.query(`INSERT INTO team_member (team_id, user_id) SELECT 'team_1', id FROM "user" WHERE name = 'user1'`)
  await sql.query(
    `INSERT INTO quota (id, type, action, scope, key, "limit")
     SELECT 'quota_' || name, 'JOBS_PER_DAY', 'WARN', 'USER', name, 5 FROM "user" WHERE name LIKE 'user%'`,
  )
  await sql.query(
    `INSERT INTO quota (id, type, action, scope, key, "limit") VALUES
       ('quota_team', 'JOBS_PER_DAY', 'BLOCK', 'TEAM', 'vision', 5), ('quota_all', 'JOBS_PER_DAY', 'BLOCK', 'GLOBAL', NULL, 5)`,
  )
})

async function readScopes(name: string, first = 100): Promise<Json[]> {
  const query = `{ quotas(first: ${first}) { nodes { id scope { kind name user { id name } team { id name } } } } }`
  return (await data(server.url, query, {}, name))['quotas'].nodes
}

const find = (scopes: readonly Json[], id: string) => scopes.find((each) => each.id === id)?.scope

it('a scope returns its user or team as an object', async () => {
  const scopes = await readScopes('admin')
  expect(find(scopes, 'quota_user7')).toMatchObject({
    kind: 'USER',
    name: 'user7',
    user: { name: 'user7' },
    team: null,
  })
  expect(find(scopes, 'quota_team')).toMatchObject({ kind: 'TEAM', name: 'vision', user: null, team: { id: 'team_1' } })
  expect(find(scopes, 'quota_all')).toEqual({ kind: 'GLOBAL', name: null, user: null, team: null })
})

it('a scope returns only the name of a user or a team that the viewer may not see', async () => {
  const own = await readScopes('user1')
  expect(find(own, 'quota_user1')).toMatchObject({ user: { name: 'user1' } })
  expect(find(own, 'quota_team')).toMatchObject({ team: { name: 'vision' } })
  const others = await readScopes('max')
  expect(find(others, 'quota_user1')).toEqual({ kind: 'USER', name: 'user1', user: null, team: null })
  expect(find(others, 'quota_team')).toEqual({ kind: 'TEAM', name: 'vision', user: null, team: null })
})

it('20 scopes need as many SQL statements as 5', async () => {
  const count = async (first: number) => {
    const statements = server.countStatements()
    expect(await readScopes('admin', first)).toHaveLength(first)
    return statements.filter((text) => !/^(BEGIN|COMMIT)/.test(text)).length
  }
  const few = await count(5)
  expect(await count(20)).toBe(few)
})
