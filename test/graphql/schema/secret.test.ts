import { beforeAll, describe, expect, it } from 'vitest'
import type { UserLevel } from '../../../src/domain/access.ts'
import { applyBootstrapToken } from '../../../src/domain/people/tokens.ts'
import { mutate, type Person, personWith } from '../../support/people.ts'
import { openTestServer } from '../../support/server.ts'

const value = 'the-value-of-a-secret'
let admin: Person
let ann: Person
let ben: Person
let lea: Person
let eve: Person
let team: string

const server = await openTestServer({ logIn: { oidc: null }, singleUser: false })
beforeAll(async () => {
  await applyBootstrapToken(server.domain, 'the-bootstrap-secret-of-this-test')
  admin = personWith(server.url, 'the-bootstrap-secret-of-this-test')
  const ids = [await createUser('ann'), await createUser('ben'), await createUser('lea', 'LEAD')] as const
  ann = await logIn(ids[0])
  ben = await logIn(ids[1])
  lea = await logIn(ids[2])
  eve = await logIn(await createUser('eve', 'LEAD'))
  team = await createTeam('ml', ids)
})

async function createUser(name: string, level: UserLevel = 'RESEARCHER'): Promise<string> {
  return (await mutate(admin, 'createUser', { input: { name, level }, wanted: 'user { id }' })).user.id
}

async function createTeam(name: string, addMembers: readonly string[]): Promise<string> {
  const { id } = (await mutate(admin, 'createTeam', { input: { name }, wanted: 'team { id }' })).team
  await mutate(admin, 'updateTeam', { input: { teamId: id, addMembers } })
  return id
}

async function logIn(userId: string, scopes?: readonly string[]): Promise<Person> {
  const made = await mutate(admin, 'createToken', { input: { name: 't', userId, scopes }, wanted: 'secret' })
  return personWith(server.url, made.secret)
}

const set = (person: Person, name: string, more: object = {}) =>
  mutate(person, 'setSecret', {
    input: { name, value, ...more },
    wanted: 'secret { id name ownedBy { name } team { name } setBy { name } createdAt updatedAt lastUsedAt }',
  })
const remove = (person: Person, name: string, more: object = {}) =>
  mutate(person, 'deleteSecret', { input: { name, ...more }, wanted: 'deletedId' })
const submit = (person: Person, spec: object) =>
  mutate(person, 'submitJob', {
    input: { spec: { command: ['true'], ...spec } },
    wanted: 'job { id spec { secrets } }',
  })

const names = async (person: Person, args = ''): Promise<string[]> =>
  (await person.data(`{ secrets${args} { nodes { name team { name } } } }`))['secrets'].nodes.map(
    (each: { name: string; team: { name: string } | null }) => [each.team?.name, each.name].filter(Boolean).join('/'),
  )

describe('a secret', () => {
  it('of a user is seen, replaced and deleted only by this user', async () => {
    const { secret } = await set(ann, 'OWN')
    expect(secret).toMatchObject({ name: 'OWN', ownedBy: { name: 'ann' }, team: null, setBy: { name: 'ann' } })
    expect(secret.lastUsedAt).toBeNull()
    expect((await set(ann, 'OWN', { value: 'another value' })).secret.id).toBe(secret.id)
    expect(await names(ann)).toEqual(['OWN'])
    for (const other of [ben, eve, admin]) {
      expect(await names(other)).toEqual([])
      expect(await other.data('query ($id: ID!) { node(id: $id) { id } }', { id: secret.id })).toEqual({ node: null })
      expect(await remove(other, 'OWN')).toMatchObject({ deletedId: null })
    }
    expect(await remove(ann, 'OWN')).toMatchObject({ deletedId: secret.id })
    expect(await remove(ann, 'OWN')).toMatchObject({ deletedId: null })
    expect(await names(ann)).toEqual([])
  })

  it('of a team is set by its LEAD and an ADMIN, and seen by its members', async () => {
    const { secret } = await set(lea, 'SHARED', { teamId: team })
    expect(secret).toMatchObject({ ownedBy: null, team: { name: 'ml' }, setBy: { name: 'lea' } })
    expect((await set(admin, 'SHARED', { teamId: team })).secret).toMatchObject({ id: secret.id })
    expect(await set(ann, 'SHARED', { teamId: team })).toMatchObject({ requiredPermission: 'SECRET_TEAM' })
    const foreign = await set(eve, 'SHARED', { teamId: team })
    expect(foreign.code).toBe('NOT_FOUND')
    const missing = `team_${'0'.repeat(26)}`
    expect((await set(eve, 'SHARED', { teamId: missing })).message).toBe(foreign.message.replace(team, missing))
    for (const member of [ann, ben, lea, admin]) expect(await names(member)).toEqual(['ml/SHARED'])
    expect(await names(eve)).toEqual([])
    expect(await names(ann, `(teamId: "${team}")`)).toEqual(['ml/SHARED'])
    expect(await remove(ann, 'SHARED', { teamId: team })).toMatchObject({ code: 'FORBIDDEN' })
    expect(await remove(lea, 'SHARED', { teamId: team })).toMatchObject({ deletedId: secret.id })
  })

  it('can be set with the scope SUBMIT, and for a team with the scope OPERATE', async () => {
    const { viewer } = await lea.data('{ viewer { user { id } } }')
    const reader = await logIn(viewer.user.id, ['READ'])
    const submitter = await logIn(viewer.user.id, ['SUBMIT'])
    expect(await set(reader, 'A')).toMatchObject({ requiredScope: 'SUBMIT' })
    expect(await set(submitter, 'A', { teamId: team })).toMatchObject({ requiredScope: 'OPERATE' })
    expect(await set(submitter, 'A')).toMatchObject({ secret: { name: 'A' } })
  })

  const badNames = ['', '1A', 'A-B', 'A=B', 'a'.repeat(129), 'BERTH_TOKEN', 'PATH', 'HOME', 'LD_PRELOAD', 'MASTER_PORT']
  it.each(badNames)('is refused with the name %j', async (name) => {
    expect(await set(ann, name)).toMatchObject({ code: 'INVALID_INPUT', violations: [{ path: ['name'] }] })
  })

  const badValues: [string, string, string][] = [
    ['empty', '', 'Must not be empty'],
    ['with NUL', 'a\0b', 'Must not contain the character NUL'],
    ['over 64 KiB', 'ä'.repeat(32_769), 'Must have at most 64 KiB'],
    ['of 129 lines', `${'x\n'.repeat(128)}x`, 'Must have at most 128 lines'],
  ]
  it.each(badValues)('is refused with a value that is %s', async (_name, bad, message) => {
    expect(await set(ann, 'A', { value: bad })).toMatchObject({ violations: [{ path: ['value'], message }] })
  })

  it('of the maximum size is accepted', async () => {
    expect(await set(ann, 'LARGE', { value: 'x'.repeat(65_536) })).toMatchObject({ secret: { name: 'LARGE' } })
  })

  it('is refused if its owner already has 100 secrets', async () => {
    const userId = await createUser('max')
    const owner = await logIn(userId)
    await server.domain.db.sql.query(
      `INSERT INTO secret (id, user_id, name, key_id, data)
       SELECT 'secret_' || n, $1, 'S' || n, '', '' FROM generate_series(0, 98) n`,
      [userId],
    )
    expect(await set(owner, 'S99')).toMatchObject({ secret: { name: 'S99' } })
    expect(await set(owner, 'S100')).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await set(owner, 'S99', { value: 'new' })).toMatchObject({ secret: { name: 'S99' } })
  })
})

describe('spec.secrets', () => {
  it('may name secrets of the user and of the team of the job', async () => {
    await set(ann, 'MINE')
    await set(lea, 'OURS', { teamId: team })
    expect((await submit(ann, { secrets: ['MINE', 'OURS'], team: 'ml' })).job.spec.secrets).toEqual(['MINE', 'OURS'])
    expect((await submit(ann, {})).job.spec.secrets).toEqual([])
  })

  it('has the same error for a secret of another user as for a missing secret', async () => {
    const refusalOf = async (person: Person, name: string) =>
      JSON.stringify((await submit(person, { secrets: [name] })).violations).replaceAll(name, 'NAME')
    const missing = await refusalOf(eve, 'NOTHING')
    expect(missing).toContain('You have no secret NAME')
    for (const name of ['MINE', 'OURS']) expect(await refusalOf(eve, name)).toBe(missing)
    expect(await submit(ben, { secrets: ['MINE'], team: 'ml' })).toMatchObject({
      violations: [{ path: ['spec', 'secrets', '0'], message: 'Neither you nor the team ml has a secret MINE' }],
    })
    // A member names the team of the secret.
    expect(await submit(ann, { secrets: ['OURS'] })).toMatchObject({ code: 'INVALID_INPUT' })
  })

  const refused: [string, object, string][] = [
    ['a name given twice', { secrets: ['MINE', 'MINE'] }, 'MINE is given twice'],
    [
      'a variable of the environment',
      { secrets: ['MINE'], environment: [{ name: 'MINE', value: 'x' }] },
      'MINE is also in environment; give it in one of them',
    ],
    [
      'an expansion in an argument',
      { command: null, executable: '/bin/echo', arguments: [`\${MINE}`], secrets: ['MINE'] },
      'Must not expand MINE: every account of the machine can read arguments; let the command read the variable',
    ],
    [
      'an expansion through another variable',
      {
        command: null,
        executable: '/bin/echo',
        arguments: [`\${COPY}`],
        environment: [{ name: 'COPY', value: `x\${MINE}` }],
        secrets: ['MINE'],
      },
      'Must not expand COPY: every account of the machine can read arguments; let the command read the variable',
    ],
    [
      'the name of a variable of Berth',
      { secrets: ['BERTH_URL'] },
      'Must not be a variable that Berth or the system sets',
    ],
  ]
  it.each(refused)('is refused with %s', async (_name, spec, message) => {
    expect((await submit(ann, spec)).violations).toMatchObject([{ message }])
  })
})
