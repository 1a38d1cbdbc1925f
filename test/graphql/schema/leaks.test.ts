import { beforeAll, describe, expect, it } from 'vitest'
import { applyBootstrapToken } from '../../../src/domain/people/tokens.ts'
import { mutate, type Person, personWith } from '../../support/people.ts'
import { openTestServer } from '../../support/server.ts'

/** Pools must not reveal names of others to users without job.view.all. */
const secret = 'the-bootstrap-secret-of-this-test'
let admin: Person
const people: Record<string, Person> = {}

const server = await openTestServer({ logIn: { oidc: null } })
beforeAll(async () => {
  await applyBootstrapToken(server.domain, secret)
  admin = personWith(server.url, secret)
  for (const name of ['ml', 'secret-team']) await mutate(admin, 'createTeam', { input: { name } })
  for (const [name, level] of [
    ['ann', 'RESEARCHER'],
    ['vic', 'VIEWER'],
    ['lea', 'LEAD'],
  ] as const) {
    const teams = name === 'ann' ? [{ name: 'ml' }] : []
    const { user } = await mutate(admin, 'createUser', { input: { name, level, teams }, wanted: 'user { id }' })
    const made = await mutate(admin, 'createToken', { input: { name, userId: user.id }, wanted: 'secret' })
    people[name] = personWith(server.url, made.secret)
  }
  const hidden = [{ user: { name: 'lea' } }, { team: { name: 'secret-team' } }, { project: 'secret-project' }]
  const shown = [{ user: { name: 'ann' } }, { team: { name: 'ml' } }, { project: 'mine' }, { queue: 'default' }]
  for (const scope of [...hidden, ...shown]) await mutate(admin, 'setScopeLimit', { input: { scope, maxJobs: 1 } })
  const spec = { command: ['true'], project: 'mine' }
  await mutate(people['ann'] as Person, 'submitJob', { input: { spec } })
  const { sql } = server.domain.db
  await sql.query(
    `INSERT INTO account_view (pool, account, occupancy, weight, running, queued)
     SELECT 'sim', a, 0.1, 1, 1, 1 FROM unnest($1::text[]) AS a`,
    [['ml', 'ml.vision', 'mlx', 'users.ann', 'users.anna', 'secret-team']],
  )
  await sql.query("INSERT INTO scheduler_leader (pool, epoch, holder, host) VALUES ('sim', 1, 'host:17', 'host')")
  await sql.query("INSERT INTO scheduler_lease (pool, renewed_at) VALUES ('sim', berth_now())")
})

async function readPool(name: string) {
  const person = people[name] ?? admin
  const { pools, pool } = await person.data(
    '{ pool { limits { scopes { scope { name } } } } pools { nodes { leader { epoch process host } accounts { account } limits { scopes { scope { name } } } } } }',
  )
  const names = (list: { scope: { name: string } }[]) => list.map(({ scope }) => scope.name).sort()
  expect(names(pools.nodes[0].limits.scopes)).toEqual(names(pool.limits.scopes))
  const accounts = pools.nodes[0].accounts.map((each: { account: string }) => each.account).sort()
  return { scopes: names(pool.limits.scopes), accounts, leader: pools.nodes[0].leader }
}

describe('a pool, for a viewer without job.view.all', () => {
  it('hides the message of a failed start on a node, because it is about a job', async () => {
    const because = 'data: /data/lea/private does not exist'
    await server.domain.db.sql.query(
      "UPDATE node SET backs_off_until = berth_now() + interval '1 hour', backs_off_because = $1",
      [because],
    )
    const read = async (name: string) => {
      const { pools } = await (people[name] ?? admin).data(
        '{ pools { nodes { nodes { nodes { backsOffUntil backsOffBecause } } } } }',
      )
      return pools.nodes[0].nodes.nodes[0]
    }
    const backsOffUntil = expect.any(String)
    for (const name of ['vic', 'ann']) expect(await read(name)).toEqual({ backsOffUntil, backsOffBecause: null })
    expect(await read('lea')).toEqual({ backsOffUntil, backsOffBecause: because })
  })

  it('hides the accounts and limits of other users, and the machine of the leader', async () => {
    const leader = { epoch: 1, process: null, host: null }
    expect(await readPool('vic')).toEqual({ scopes: ['default'], accounts: [], leader })
    const accounts = ['ml', 'ml.vision', 'users.ann']
    expect(await readPool('ann')).toEqual({ scopes: ['ann', 'default', 'mine', 'ml'], accounts, leader })
  })

  it('shows all of these once job.view.all is granted', async () => {
    const leader = { epoch: 1, process: 'host:17', host: 'host' }
    const all = { scopes: expect.arrayContaining(['lea', 'secret-team', 'secret-project']), leader }
    for (const name of ['lea', 'admin'])
      expect(await readPool(name)).toMatchObject({ ...all, accounts: expect.arrayContaining(['mlx', 'secret-team']) })
  })
})
