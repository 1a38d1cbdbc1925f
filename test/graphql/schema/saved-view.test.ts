import { beforeAll, describe, expect, it } from 'vitest'
import { applyBootstrapToken } from '../../../src/domain/people/tokens.ts'
import { mutate, type Person, personWith } from '../../support/people.ts'
import { openTestServer } from '../../support/server.ts'

const secret = 'the-bootstrap-secret-of-this-test'
let admin: Person
let ann: Person
let ben: Person
let team: string

const server = await openTestServer({ logIn: { oidc: null }, singleUser: false })
beforeAll(async () => {
  await applyBootstrapToken(server.domain, secret)
  admin = personWith(server.url, secret)
  const members = [await createUser('ann'), await createUser('ben')] as const
  ann = await createToken(members[0])
  ben = await createToken(members[1])
  const made = await mutate(admin, 'createTeam', { input: { name: 'ml' }, wanted: 'team { id }' })
  team = made.team.id
  await mutate(admin, 'updateTeam', { input: { teamId: team, addMembers: members } })
})

async function createUser(name: string): Promise<string> {
  const made = await mutate(admin, 'createUser', { input: { name, level: 'VIEWER' }, wanted: 'user { id }' })
  return made.user.id
}

async function createToken(userId: string): Promise<Person> {
  const made = await mutate(admin, 'createToken', { input: { name: 't', userId }, wanted: 'secret' })
  return personWith(server.url, made.secret)
}

const save = (person: Person, more: object = {}) =>
  mutate(person, 'saveView', {
    input: { name: 'Mine', page: '/jobs', search: 'user=me', ...more },
    wanted: 'savedView { id name page search visibility pinned editable owner { name } team { name } }',
  })

const names = async (person: Person, args = ''): Promise<string[]> =>
  (await person.data(`{ savedViews${args} { name } }`))['savedViews'].map(({ name }: { name: string }) => name)

describe('a saved view', () => {
  it('is seen only by its user, who can replace and delete it', async () => {
    const { savedView } = await save(ann, { name: ' First ', pinned: true })
    expect(savedView).toEqual({
      id: savedView.id,
      name: 'First',
      page: '/jobs',
      search: 'user=me',
      visibility: 'USER',
      pinned: true,
      editable: true,
      owner: { name: 'ann' },
      team: null,
    })
    expect(await names(ben)).toEqual([])
    expect(await ben.data('query ($id: ID!) { node(id: $id) { id } }', { id: savedView.id })).toEqual({ node: null })
    for (const other of [ben, admin])
      expect(await save(other, { savedViewId: savedView.id })).toMatchObject({ code: 'NOT_FOUND' })
    await save(ann, { savedViewId: savedView.id, name: 'Renamed', page: '/audit' })
    await save(ann, { name: 'after', pinned: true })
    expect(await names(ann)).toEqual(['after', 'Renamed'])
    expect(await names(ann, '(page: "/audit")')).toEqual(['Renamed'])
    const answer = await mutate(ann, 'deleteView', { input: { savedViewId: savedView.id }, wanted: 'deletedId' })
    expect(answer.deletedId).toBe(savedView.id)
    expect(await names(ann)).toEqual(['after'])
  })

  it('of a team is seen by its members, and can be changed only by its creator or an ADMIN', async () => {
    const { savedView } = await save(ann, { name: 'Team', visibility: 'TEAM', teamId: team })
    expect(await names(ben)).toEqual(['Team'])
    expect(await save(ben, { savedViewId: savedView.id })).toMatchObject({ code: 'NOT_FOUND' })
    expect(await save(admin, { visibility: 'TEAM', teamId: team })).toMatchObject({
      violations: [{ path: ['teamId'], message: 'You are not a member of this team' }],
    })
    expect(await mutate(admin, 'deleteView', { input: { savedViewId: savedView.id } })).toMatchObject({
      __typename: 'DeleteViewSuccess',
    })
    expect(await save(ann, { visibility: 'TEAM' })).toMatchObject({ violations: [{ path: ['teamId'] }] })
    expect(await save(ann, { teamId: team })).toMatchObject({ violations: [{ path: ['teamId'] }] })
  })

  it('can be saved for all users only by an ADMIN', async () => {
    expect(await save(ann, { visibility: 'ALL' })).toMatchObject({ code: 'FORBIDDEN', requiredLevel: 'ADMIN' })
    await save(admin, { name: 'For all', visibility: 'ALL' })
    expect(await names(ben)).toEqual(['For all'])
  })

  it('is refused if its page, name or search is invalid, or the user has 100 views', async () => {
    for (const page of ['https://example.org', '//example.org/x', '/../..//x', '/jobs/../x', '/./x', '/jobs/'])
      expect(await save(ann, { page }), page).toMatchObject({ violations: [{ path: ['page'] }] })
    for (const name of ['two\nlines', 'a\u202eb', 'a\u200bb'])
      expect(await save(ann, { name }), name).toMatchObject({ violations: [{ path: ['name'] }] })
    expect(await save(ann, { search: 'x'.repeat(2_049) })).toMatchObject({ violations: [{ path: ['search'] }] })
    for (let n = 0; n < 100; n++) await save(ben, { name: `v${n}` })
    expect(await save(ben)).toMatchObject({
      violations: [{ path: ['name'], message: expect.stringContaining('delete one first') }],
    })
  })
})
