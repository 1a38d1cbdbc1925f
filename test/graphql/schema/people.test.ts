import { beforeAll, describe, expect, it } from 'vitest'
import { applyBootstrapToken } from '../../../src/domain/people/tokens.ts'
import { mutate, type Person, personWith } from '../../support/people.ts'
import { openTestServer } from '../../support/server.ts'

const secret = 'the-bootstrap-secret-of-this-test'
let admin: Person

const server = await openTestServer({ logIn: { oidc: null }, singleUser: false })
beforeAll(async () => {
  await applyBootstrapToken(server.domain, secret)
  admin = personWith(server.url, secret)
})

async function createUser(name: string, level: string, more: object = {}): Promise<string> {
  const { user } = await mutate(admin, 'createUser', { input: { name, level, ...more }, wanted: 'user { id }' })
  return user.id
}

async function createTokenFor(userId: string, more: object = {}): Promise<Person> {
  const made = await mutate(admin, 'createToken', { input: { name: 't', userId, ...more }, wanted: 'secret' })
  return personWith(server.url, made.secret)
}

const submit = (person: Person, spec: object = {}) =>
  mutate(person, 'submitJob', {
    input: { spec: { command: ['true'], ...spec } },
    wanted: 'job { id account team { name } basePriority }',
  })

describe('users', () => {
  it('are created with the given fields, once per name', async () => {
    await mutate(admin, 'createTeam', { input: { name: 'ml' } })
    const input = {
      name: 'ann',
      level: 'RESEARCHER',
      displayName: 'Ann',
      email: 'ann@example.org',
      teams: [{ name: 'ml' }],
    }
    const answer = await mutate(admin, 'createUser', {
      input: {
        ...input,
        defaultTeam: { name: 'ml' },
        allow: ['JOB_APPROVE'],
        deny: ['JOB_DELETE_OWN'],
        unixUser: 'ann',
      },
      wanted:
        'user { name level displayName email teams { name account } defaultTeam { name } allow deny unixUser disabled }',
    })
    expect(answer.user).toEqual({
      name: 'ann',
      level: 'RESEARCHER',
      displayName: 'Ann',
      email: 'ann@example.org',
      teams: [{ name: 'ml', account: 'ml' }],
      defaultTeam: { name: 'ml' },
      allow: ['JOB_APPROVE'],
      deny: ['JOB_DELETE_OWN'],
      unixUser: 'ann',
      disabled: false,
    })
    expect(await mutate(admin, 'createUser', { input })).toMatchObject({
      code: 'INVALID_INPUT',
      violations: [{ path: ['name'] }],
    })
  })

  it.each([
    [{ name: '', level: 'VIEWER' }, ['name']],
    [{ name: 'x y', level: 'VIEWER' }, ['name']],
    [{ name: 'new', level: 'VIEWER', teams: [{ name: 'no-such' }] }, ['teams', '0']],
    [{ name: 'new', level: 'VIEWER', defaultTeam: { name: 'ml' } }, ['defaultTeam']],
    [{ name: 'new', level: 'VIEWER', unixUser: 'a b' }, ['unixUser']],
    [{ name: 'new', level: 'VIEWER', displayName: 'a\u0000b' }, ['displayName']],
  ])('are refused with the name of the invalid field: %j', async (input, path) => {
    expect(await mutate(admin, 'createUser', { input })).toMatchObject({
      code: 'INVALID_INPUT',
      violations: [{ path }],
    })
  })

  it('keep fields that an update omits, and lose fields that it sets to null', async () => {
    const ml = { name: 'ml' }
    const id = await createUser('bob', 'VIEWER', { displayName: 'Bob', teams: [ml], defaultTeam: ml })
    const wanted = 'user { level displayName teams { id name } defaultTeam { name } }'
    const one = await mutate(admin, 'updateUser', { input: { userId: id, level: 'RESEARCHER' }, wanted })
    expect(one.user).toMatchObject({ level: 'RESEARCHER', displayName: 'Bob', defaultTeam: { name: 'ml' } })
    const two = await mutate(admin, 'updateUser', {
      input: { userId: id, displayName: null, defaultTeam: null },
      wanted,
    })
    expect(two.user).toMatchObject({ displayName: null, defaultTeam: null, teams: [{ name: 'ml' }] })
    const [{ id: team }] = two.user.teams
    const byId = { userId: id, teams: [{ id: team }], defaultTeam: { id: team } }
    const three = await mutate(admin, 'updateUser', { input: byId, wanted })
    expect(three.user).toMatchObject({ defaultTeam: { name: 'ml' } })
    const four = await mutate(admin, 'updateUser', { input: { userId: id, teams: [] }, wanted })
    expect(four.user).toMatchObject({ defaultTeam: null, teams: [] })
  })

  it('are disabled, not deleted: tokens are revoked, jobs stay', async () => {
    const id = await createUser('cyd', 'RESEARCHER')
    const cyd = await createTokenFor(id)
    const { job } = await submit(cyd)
    expect(await mutate(admin, 'disableUser', { input: { userId: id }, wanted: 'user { id disabled }' })).toMatchObject(
      {
        user: { id, disabled: true },
      },
    )
    expect(await cyd.ask('{ viewer { user { name } } }')).toMatchObject({
      status: 401,
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
    })
    const found = await admin.data('query ($id: ID!) { job(id: $id) { state user { name disabled } } }', { id: job.id })
    expect(found['job']).toEqual({ state: 'QUEUED', user: { name: 'cyd', disabled: true } })
    await mutate(admin, 'updateUser', { input: { userId: id, disabled: false } })
    expect((await cyd.ask('{ serverInfo { name } }')).status).toBe(401)
    expect((await (await createTokenFor(id)).ask('{ serverInfo { name } }')).status).toBe(200)
  })

  it('cannot disable themselves or grant more permissions than they have', async () => {
    const { viewer } = await admin.data('{ viewer { user { id } } }')
    expect(await mutate(admin, 'disableUser', { input: { userId: viewer.user.id } })).toMatchObject({
      code: 'INVALID_INPUT',
      violations: [{ path: ['userId'] }],
    })
    const clerk = await createTokenFor(await createUser('clerk', 'RESEARCHER', { allow: ['USER_WRITE', 'TOKEN_ANY'] }))
    expect(await mutate(clerk, 'createUser', { input: { name: 'dot', level: 'ADMIN' } })).toMatchObject({
      code: 'FORBIDDEN',
    })
    expect(await mutate(clerk, 'createToken', { input: { name: 't', userId: viewer.user.id } })).toMatchObject({
      code: 'FORBIDDEN',
    })
    expect(
      await mutate(clerk, 'createUser', { input: { name: 'dot', level: 'VIEWER' }, wanted: 'user { name }' }),
    ).toEqual({ __typename: 'CreateUserSuccess', user: { name: 'dot' } })
  })

  it('cannot have names that differ only in case', async () => {
    await createUser('Zoe', 'VIEWER')
    for (const name of ['zoe', 'ZOE', 'Admin'])
      expect(await mutate(admin, 'createUser', { input: { name, level: 'VIEWER' } })).toMatchObject({
        code: 'INVALID_INPUT',
        violations: [{ path: ['name'], message: expect.stringContaining('exists already, in this or another case') }],
      })
  })

  it('get a new identity or a new team only from an ADMIN', async () => {
    const { team } = await mutate(admin, 'createTeam', { input: { name: 'rich' }, wanted: 'team { id }' })
    const id = await createUser('climber', 'RESEARCHER', { allow: ['USER_WRITE'], teams: [{ name: 'rich' }] })
    const climber = await createTokenFor(id)
    const victim = await createUser('victim', 'RESEARCHER')
    const identity = { issuer: 'https://login.example.org', subject: 'of-climber' }
    const denied = { code: 'FORBIDDEN', requiredLevel: 'ADMIN' }
    const tries: [string, object][] = [
      ['updateUser', { userId: victim, identity }],
      ['updateUser', { userId: victim, teams: [{ name: 'rich' }] }],
      ['createUser', { name: 'puppet', level: 'VIEWER', teams: [{ name: 'rich' }] }],
      ['updateTeam', { teamId: team.id, addMembers: [victim] }],
      ['updateTeam', { teamId: team.id, name: 'bio.secret' }],
    ]
    for (const [field, input] of tries) expect(await mutate(climber, field, { input }), field).toMatchObject(denied)
    const change = { displayName: 'Victim', teams: [] }
    expect(await mutate(climber, 'updateUser', { input: { userId: victim, ...change } })).toMatchObject({
      __typename: 'UpdateUserSuccess',
    })
    expect(await mutate(climber, 'updateTeam', { input: { teamId: team.id, removeMembers: [id] } })).toMatchObject({
      __typename: 'UpdateTeamSuccess',
    })
    expect(await mutate(admin, 'updateUser', { input: { userId: victim, identity } })).toMatchObject({
      __typename: 'UpdateUserSuccess',
    })
  })

  it('always include an ADMIN with every permission: the last one cannot be demoted or disabled', async () => {
    const { viewer } = await admin.data('{ viewer { user { id } } }')
    const { id } = viewer.user
    const changes = [{ level: 'LEAD' }, { level: 'VIEWER' }, { deny: ['USER_WRITE'] }, { deny: ['JOB_VIEW_ALL'] }]
    for (const change of changes)
      expect(
        await mutate(admin, 'updateUser', { input: { userId: id, ...change } }),
        JSON.stringify(change),
      ).toMatchObject({
        code: 'INVALID_INPUT',
        violations: [{ path: Object.keys(change), message: expect.stringContaining('is the last ADMIN') }],
      })
    const other = await createUser('second', 'ADMIN')
    const second = await createTokenFor(other)
    const lowered = await mutate(second, 'updateUser', {
      input: { userId: id, level: 'LEAD' },
      wanted: 'user { level }',
    })
    expect(lowered.user).toEqual({ level: 'LEAD' })
    expect(await mutate(second, 'updateUser', { input: { userId: other, level: 'LEAD' } })).toMatchObject({
      code: 'INVALID_INPUT',
    })
    expect(
      await mutate(second, 'updateUser', { input: { userId: id, level: 'ADMIN' }, wanted: 'user { level }' }),
    ).toEqual({
      __typename: 'UpdateUserSuccess',
      user: { level: 'ADMIN' },
    })
    await mutate(admin, 'disableUser', { input: { userId: other } })
  })

  it('are visible to viewers who may see their jobs; other viewers see only themselves', async () => {
    const eve = await createTokenFor(await createUser('eve', 'RESEARCHER'))
    const lead = await createTokenFor(await createUser('lea', 'LEAD'))
    const query = '{ users(first: 100) { nodes { id name } } }'
    const all = (await lead.data(query))['users'].nodes
    expect(all.length).toBeGreaterThan(4)
    expect((await eve.data(query))['users'].nodes).toMatchObject([{ name: 'eve' }])
    const ann = all.find(({ name }: { name: string }) => name === 'ann')
    const node = 'query ($id: ID!) { node(id: $id) { ... on User { name } } }'
    expect(await eve.data(node, { id: ann.id })).toEqual({ node: null })
    expect(await lead.data(node, { id: ann.id })).toEqual({ node: { name: 'ann' } })
    const own = 'query ($id: ID!) { node(id: $id) { ... on User { allow } } }'
    expect(await lead.ask(own, { id: ann.id })).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    })
  })
})

describe('teams', () => {
  it.each(['users', 'users.ann', 'Users', 'a..b', '', 'a b'])('are refused with the name %j', async (name) => {
    expect(await mutate(admin, 'createTeam', { input: { name } })).toMatchObject({
      code: 'INVALID_INPUT',
      violations: [{ path: ['name'] }],
    })
  })

  it('add and remove members, are renamed with their account, and are deleted', async () => {
    const [fay, gus] = [await createUser('fay', 'RESEARCHER'), await createUser('gus', 'RESEARCHER')]
    const made = await mutate(admin, 'createTeam', { input: { name: 'bio' }, wanted: 'team { id account }' })
    expect(made.team.account).toBe('bio')
    const { id } = made.team
    const wanted = 'team { name account members { nodes { name } } }'
    const grown = await mutate(admin, 'updateTeam', { input: { teamId: id, addMembers: [fay, gus] }, wanted })
    expect(grown.team.members.nodes).toEqual([{ name: 'fay' }, { name: 'gus' }])
    for (const member of [fay, gus])
      await mutate(admin, 'updateUser', { input: { userId: member, defaultTeam: { name: 'bio' } } })
    const shrunk = await mutate(admin, 'updateTeam', {
      input: { teamId: id, name: 'biology', removeMembers: [gus] },
      wanted,
    })
    expect(shrunk.team).toEqual({ name: 'biology', account: 'biology', members: { nodes: [{ name: 'fay' }] } })
    const defaults = 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on User { defaultTeam { name } } } }'
    expect(await admin.data(defaults, { ids: [fay, gus] })).toEqual({
      nodes: [{ defaultTeam: { name: 'biology' } }, { defaultTeam: null }],
    })
    expect(await mutate(admin, 'updateTeam', { input: { teamId: id, addMembers: ['user_x'] } })).toMatchObject({
      code: 'INVALID_INPUT',
      violations: [{ path: ['addMembers', '0'] }],
    })
    expect(await mutate(admin, 'updateTeam', { input: { teamId: id, name: 'ml' } })).toMatchObject({
      code: 'INVALID_INPUT',
    })
    expect(await mutate(admin, 'deleteTeam', { input: { teamId: id }, wanted: 'deletedId' })).toMatchObject({
      deletedId: id,
    })
    expect(await mutate(admin, 'deleteTeam', { input: { teamId: id } })).toMatchObject({ code: 'NOT_FOUND' })
    expect(await admin.data('query ($id: ID!) { node(id: $id) { id } }', { id })).toEqual({ node: null })
  })

  it('are charged for jobs of their members, by default team, named team or sub-account', async () => {
    await mutate(admin, 'createTeam', { input: { name: 'phys' } })
    await mutate(admin, 'createTeam', { input: { name: 'chem' } })
    const hal = await createTokenFor(
      await createUser('hal', 'RESEARCHER', {
        teams: [{ name: 'phys' }, { name: 'chem' }],
        defaultTeam: { name: 'phys' },
      }),
    )
    expect((await submit(hal)).job).toMatchObject({ account: 'phys', team: { name: 'phys' } })
    expect((await submit(hal, { team: 'chem' })).job).toMatchObject({ account: 'chem', team: { name: 'chem' } })
    const { teams } = await hal.data('{ teams { nodes { id name } } }')
    const chem = teams.nodes.find(({ name }: { name: string }) => name === 'chem')
    const list = 'query ($team: ID!) { jobs(filter: { teams: [$team] }) { nodes { account team { name } } } }'
    expect((await hal.data(list, { team: chem.id }))['jobs'].nodes).toEqual([
      { account: 'chem', team: { name: 'chem' } },
    ])
    expect((await submit(hal, { account: 'phys.laser' })).job).toMatchObject({ account: 'phys.laser' })
    expect((await submit(hal, { account: 'users.hal.x' })).job).toMatchObject({ account: 'users.hal.x' })
    for (const spec of [{ team: 'ml' }, { account: 'ml' }, { account: 'physics' }, { account: 'users.ann' }])
      expect(await submit(hal, spec)).toMatchObject({ code: 'INVALID_INPUT' })
    expect((await submit(admin, { account: 'anything.at.all' })).job).toMatchObject({ account: 'anything.at.all' })
  })
})

describe('a viewer without access to other users', () => {
  it("sees the members of the viewer's teams, but not their other teams", async () => {
    const teamId = async (name: string) =>
      (await mutate(admin, 'createTeam', { input: { name }, wanted: 'team { id }' })).team.id
    const [lab, board] = [await teamId('lab'), await teamId('board')]
    const ned = await createUser('ned', 'LEAD', {
      ...{ teams: [{ name: 'lab' }, { name: 'board' }], defaultTeam: { name: 'board' } },
    })
    const mia = await createUser('mia', 'RESEARCHER', { teams: [{ name: 'lab' }], defaultTeam: { name: 'lab' } })
    const asMia = await createTokenFor(mia)
    const members = 'members { nodes { name teams { name } } }'
    const seen = [
      { name: 'ned', teams: [{ name: 'lab' }] },
      { name: 'mia', teams: [{ name: 'lab' }] },
    ]
    expect(await asMia.data(`{ teams { nodes { name ${members} } } users { nodes { name } } }`)).toEqual({
      teams: { nodes: [{ name: 'lab', members: { nodes: seen } }] },
      users: { nodes: [{ name: 'mia' }] },
    })
    const node = 'query ($id: ID!) { node(id: $id) { id } }'
    for (const id of [board, ned]) expect(await asMia.data(node, { id })).toEqual({ node: null })
    expect(await asMia.data(node, { id: lab })).toEqual({ node: { id: lab } })
    for (const field of ['defaultTeam { name }', 'unixUser', 'allow', 'deny'])
      expect(await asMia.ask(`{ teams { nodes { members { nodes { ${field} } } } } }`)).toMatchObject({
        errors: [{ extensions: { code: 'FORBIDDEN' } }],
      })

    // A job still names its team to a user who left the team.
    await submit(asMia)
    await mutate(admin, 'updateTeam', { input: { teamId: lab, removeMembers: [mia] } })
    expect(await asMia.data(`{ jobs { nodes { team { name ${members} } } } }`)).toEqual({
      jobs: { nodes: [{ team: { name: 'lab', members: { nodes: [] } } }] },
    })
  })
})

describe('lists of jobs with users and teams', () => {
  it('need as many SQL statements for 12 jobs as for 2', async () => {
    const query = `{ jobs(first: 100) { nodes { user { name teams { name members(first: 2) { nodes { name } } } } team { name }
      again: team { account } } } }`
    const statements = server.countStatements()
    const cost = async () => {
      statements.length = 0
      const { jobs } = await admin.data(query)
      return {
        jobs: jobs.nodes.length,
        statements: statements.filter((text) => /^SELECT.*(team|"public"\."user")/s.test(text)).length,
      }
    }
    const before = await cost()
    expect(before.statements).toBeGreaterThan(2)
    for (let i = 0; i < 5; i++) {
      const name = `crowd${i}`
      const { team } = await mutate(admin, 'createTeam', { input: { name }, wanted: 'team { id }' })
      const person = await createTokenFor(
        await createUser(name, 'RESEARCHER', { teams: [{ name }], defaultTeam: { name } }),
      )
      expect(team.id).toMatch(/^team_/)
      for (let j = 0; j < 2; j++) await submit(person)
    }
    const after = await cost()
    expect(after).toEqual({ jobs: before.jobs + 10, statements: before.statements })
  })
})

describe('user levels', () => {
  it('grant permissions, to which allow adds, and from which deny removes', async () => {
    const viewer = await createTokenFor(await createUser('ida', 'VIEWER', { allow: ['JOB_SUBMIT'] }))
    expect((await submit(viewer)).job).toMatchObject({ basePriority: 0 })
    const plain = await createTokenFor(await createUser('jan', 'VIEWER'))
    expect(await submit(plain)).toMatchObject({ code: 'FORBIDDEN', requiredPermission: 'JOB_SUBMIT' })
    const denied = await createTokenFor(
      await createUser('kim', 'RESEARCHER', { allow: ['JOB_SUBMIT'], deny: ['JOB_SUBMIT', 'JOB_VIEW_OWN'] }),
    )
    expect(await submit(denied)).toMatchObject({ code: 'FORBIDDEN', requiredPermission: 'JOB_SUBMIT' })
  })

  it('hide even their own jobs from users without job.view.own', async () => {
    const id = await createUser('nia', 'RESEARCHER')
    const nia = await createTokenFor(id)
    const { job } = await submit(nia)
    const query =
      'query ($id: ID!) { job(id: $id) { id } jobs { nodes { id } totalCount } pool { workload { entries { nodes { id } } } } }'
    expect(await nia.data(query, { id: job.id })).toMatchObject({ job: { id: job.id }, jobs: { totalCount: 1 } })
    await mutate(admin, 'updateUser', { input: { userId: id, deny: ['JOB_VIEW_OWN'] } })
    expect(await nia.data(query, { id: job.id })).toEqual({
      job: null,
      jobs: { nodes: [], totalCount: 0 },
      pool: { workload: { entries: { nodes: [] } } },
    })
    expect(await mutate(nia, 'cancelJob', { input: { jobId: job.id } })).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('return the same error for a missing object as for one that the viewer may not see', async () => {
    const { job } = await submit(admin)
    const eve = await createTokenFor(await createUser('lou', 'RESEARCHER'))
    const missing = 'job_00000000000000000000000000'
    const answers = async (id: string) => {
      const cancelled = await mutate(eve, 'cancelJob', { input: { jobId: id } })
      const read = await eve.ask('query ($id: ID!) { job(id: $id) { id } node(id: $id) { id } }', { id })
      const depends = await submit(eve, { dependsOn: [{ jobId: id }] })
      return JSON.stringify([cancelled, read, depends]).replaceAll(id, 'ID')
    }
    expect(await answers(job.id)).toBe(await answers(missing))
  })
})
