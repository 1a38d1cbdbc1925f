import { createHmac } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { applyBootstrapToken } from '../../../src/domain/people/tokens.ts'
import { startOpenIdProvider } from '../../support/openid-provider.ts'
import { mutate, type Person, personWith } from '../../support/people.ts'
import { startServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

const secret = 'the-bootstrap-secret-of-this-test'
const rules = {
  audience: 'berth',
  userClaim: 'email',
  levelClaim: 'role',
  levels: { boss: 'ADMIN', scientist: 'RESEARCHER' },
  teamsClaim: 'groups',
} as const

const provider = await startOpenIdProvider()
const server = await startServer({ logIn: { oidc: { ...rules, issuer: provider.issuer } } })
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await provider.close()
})

const me = '{ viewer { user { name displayName email level teams { name } } scopes } }'
const as = (jwt: string): Person => personWith(server.url, jwt)
const statusOf = async (jwt: string) => (await as(jwt).ask(me)).status

describe('a user of the OpenID provider', () => {
  it('is created at the first log-in, with the level and the teams of its claims', async () => {
    const claims = { email: 'ann@example.org', name: 'Ann', role: ['other', 'scientist'], groups: ['ml', 'bio', 'a b'] }
    const { viewer } = await as(await provider.token(claims)).data(me)
    expect(viewer).toEqual({
      user: {
        name: 'ann@example.org',
        displayName: 'Ann',
        email: 'ann@example.org',
        level: 'RESEARCHER',
        teams: [{ name: 'bio' }, { name: 'ml' }],
      },
      scopes: ['READ', 'SUBMIT', 'OPERATE', 'ADMIN', 'EXEC'],
    })
  })

  it('gets the level and the teams of its new claims at a later log-in', async () => {
    const email = 'bob@example.org'
    await as(await provider.token({ email, role: 'scientist', groups: ['ml'] })).data(me)
    const { viewer } = await as(await provider.token({ email, role: ['scientist', 'boss'], groups: [] })).data(me)
    expect(viewer.user).toMatchObject({ level: 'ADMIN', teams: [] })
    const again = await as(await provider.token({ email, role: 'nobody' })).data(me)
    expect(again['viewer'].user.level).toBe('VIEWER')
  })

  it.each([
    ['NUL', 'a\0b'],
    ['a lone surrogate', 'a\ud800b'],
  ])('is refused with %s in the subject or name; other claims with it are not stored', async (_what, text) => {
    for (const claims of [{ sub: text }, { email: text }])
      expect(await statusOf(await provider.token({ email: 'odd@example.org', ...claims }))).toBe(401)
    const jwt = await provider.token({ email: 'odd@example.org', sub: 'odd', name: text, groups: [text, 'ml'] })
    const { viewer } = await as(jwt).data(me)
    expect(viewer.user).toMatchObject({ displayName: null, teams: [{ name: 'ml' }] })
  })

  it('is created only once if its first requests arrive at the same time', async () => {
    const jwt = await provider.token({ email: 'many@example.org', groups: ['crowd'] })
    const statuses = await Promise.all(Array.from({ length: 12 }, () => statusOf(jwt)))
    expect(new Set(statuses)).toEqual(new Set([200]))
  })

  it('is refused if an administrator has disabled the user', async () => {
    const jwt = await provider.token({ email: 'out@example.org' })
    expect(await statusOf(jwt)).toBe(200)
    await server.domain.db.sql.query(`UPDATE "user" SET disabled = true WHERE name = 'out@example.org'`)
    expect(await statusOf(jwt)).toBe(401)
  })

  it('is identified by issuer and subject, and cannot take over a local user of the same name', async () => {
    await using local = await startServer({ logIn: { oidc: { ...rules, issuer: provider.issuer } } })
    await applyBootstrapToken(local.domain, secret)
    const boss = personWith(local.url, secret)
    const as = (jwt: string) => personWith(local.url, jwt)
    const email = 'carl@example.org'
    const jwt = await provider.token({ email, role: 'boss', groups: ['ml'] })
    const { user } = await mutate(boss, 'createUser', {
      input: { name: email, level: 'VIEWER' },
      wanted: 'user { id }',
    })
    expect((await as(jwt).ask(me)).status).toBe(401)
    const { node } = await boss.data(
      'query ($id: ID!) { node(id: $id) { ... on User { level identity { subject } } } }',
      {
        id: user.id,
      },
    )
    expect(node).toEqual({ level: 'VIEWER', identity: null })

    const identity = { issuer: provider.issuer, subject: `sub of ${email}` }
    const linked = { input: { userId: user.id, identity }, wanted: 'user { identity { issuer subject } }' }
    expect((await mutate(boss, 'updateUser', linked)).user.identity).toEqual(identity)
    expect((await as(jwt).data(me))['viewer'].user).toMatchObject({ name: email, level: 'ADMIN' })
    const other = await mutate(boss, 'createUser', { input: { name: 'other', level: 'VIEWER' }, wanted: 'user { id }' })
    expect(await mutate(boss, 'updateUser', { input: { userId: other.user.id, identity } })).toMatchObject({
      code: 'INVALID_INPUT',
      violations: [{ path: ['identity'] }],
    })
    await mutate(boss, 'updateUser', { input: { userId: user.id, identity: null } })
    expect((await as(jwt).ask(me)).status).toBe(401)
  })

  it('is recognised after a change of name; another person with the old name is refused', async () => {
    const sub = 'the same person'
    await as(await provider.token({ email: 'dora@example.org', sub, role: 'boss' })).data(me)
    const { viewer } = await as(await provider.token({ email: 'dora.new@example.org', sub, role: 'boss' })).data(me)
    expect(viewer.user.name).toBe('dora@example.org')
    expect(await statusOf(await provider.token({ email: 'dora@example.org', sub: 'another', role: 'boss' }))).toBe(401)
  })

  it('is not linked again by name after an administrator has unlinked it', async () => {
    const email = 'unlinked@example.org'
    const { viewer } = await as(await provider.token({ email })).data('{ viewer { user { id } } }')
    const boss = as(await provider.token({ email: 'unlinks@example.org', role: 'boss' }))
    await mutate(boss, 'updateUser', { input: { userId: viewer.user.id, identity: null } })
    expect(await statusOf(await provider.token({ email }))).toBe(401)
  })

  it('cannot create an API token that expires after the token of the provider', async () => {
    const jwt = await provider.token({ email: 'short@example.org', role: 'boss' }, { expiresInSeconds: 60 })
    const short = as(jwt)
    const wanted = 'secret token { expiresAt }'
    const made = await mutate(short, 'createToken', { input: { name: 't' }, wanted })
    const latest = new Date(Number((decode(jwt.split('.')[1]) as { exp: number }).exp) * 1_000).toISOString()
    expect(made.token.expiresAt).toBe(latest)
    const later = { name: 't', expiresAt: '2100-01-01T00:00:00Z' }
    for (const by of [short, as(made.secret)])
      expect(await mutate(by, 'createToken', { input: later })).toMatchObject({
        code: 'INVALID_INPUT',
        violations: [{ path: ['expiresAt'], message: expect.stringContaining(latest) }],
      })
    expect((await mutate(as(made.secret), 'createToken', { input: { name: 't' }, wanted })).token.expiresAt).toBe(
      latest,
    )
  })

  it('is refused if its name is reserved by the server', async () => {
    for (const email of ['local', 'admin']) expect(await statusOf(await provider.token({ email }))).toBe(401)
  })
})

describe('a token of the provider', () => {
  const email = 'eve@example.org'

  it.each<[string, () => Promise<string>]>([
    ['of another issuer', () => provider.token({ email, iss: 'https://elsewhere.example.org' })],
    ['for another audience', () => provider.token({ email, aud: 'somebody-else' })],
    ['that has expired', () => provider.token({ email }, { expiresInSeconds: -10 })],
    ['that never expires', () => provider.token({ email, exp: undefined })],
    ['that is not valid yet', () => provider.token({ email, nbf: Math.floor(Date.now() / 1_000) + 600 })],
    ['without a name', () => provider.token({})],
    ['without a subject', () => provider.token({ email, sub: undefined })],
    ['with an unverified email address', () => provider.token({ email, email_verified: false })],
    ['of a key that is not published', async () => provider.token({ email }, { key: await provider.strangeKey() })],
    ['whose signature is cut', async () => (await provider.token({ email })).replace(/\.[^.]*$/, '.')],
    [
      'whose claims were changed',
      async () => withPart(await provider.token({ email }), 1, { email: 'boss@example.org' }),
    ],
    ['without a signature, by alg none', async () => unsigned(await provider.token({ email }))],
    ['signed with the public key as a shared secret', async () => sharedSecret(await provider.token({ email }))],
  ])('%s is refused', async (_, make) => {
    expect(await as(await make()).ask(me)).toMatchObject({
      status: 401,
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
    })
  })

  it('is accepted if signed with the new key after a rotation, and refused with the old key', async () => {
    const before = await provider.token({ email })
    expect(await statusOf(before)).toBe(200)
    await provider.rotate()
    const after = await provider.token({ email })
    await until(async () => (await statusOf(after)) === 200, { what: 'the new key is known' })
    expect(await statusOf(before)).toBe(401)
  })

  it('expires by the clock of the database, not by that of the server', async () => {
    const jwt = await provider.token({ email }, { expiresInSeconds: 60 })
    expect(await statusOf(jwt)).toBe(200)
    await server.moveTime(61_000)
    expect(await statusOf(jwt)).toBe(401)
    await server.moveTime(-61_000)
  })
})

describe('an OpenID provider that cannot be used', () => {
  it('makes log-ins unavailable if its issuer differs from the configured one', async () => {
    const other = `${provider.issuer}/`
    await using alone = await startServer({ logIn: { oidc: { ...rules, issuer: other } } })
    const jwt = await provider.token({ email: 'mixed@example.org', iss: other })
    expect((await personWith(alone.url, jwt).ask(me)).errors?.[0]?.extensions.code).toBe('UNAVAILABLE')
  })

  it('makes log-ins unavailable until it can be reached', async () => {
    const other = await startOpenIdProvider()
    const jwt = await other.token({ email: 'late@example.org' })
    await other.close()
    await using alone = await startServer({ logIn: { oidc: { ...rules, issuer: other.issuer } } })
    expect((await personWith(alone.url, jwt).ask(me)).errors?.[0]?.extensions.code).toBe('UNAVAILABLE')
  })
})

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
const decode = (part: string | undefined): object =>
  JSON.parse(Buffer.from(part ?? '', 'base64url').toString()) as object

function withPart(jwt: string, index: number, change: object): string {
  const parts = jwt.split('.')
  return parts.map((part, i) => (i === index ? encode({ ...decode(part), ...change }) : part)).join('.')
}

const unsigned = (jwt: string) => withPart(jwt, 0, { alg: 'none' }).replace(/\.[^.]*$/, '.')

async function sharedSecret(jwt: string): Promise<string> {
  const keys = await (await fetch(`${provider.issuer}/keys`)).text()
  const content = withPart(jwt, 0, { alg: 'HS256' }).replace(/\.[^.]*$/, '')
  return `${content}.${createHmac('sha256', keys).update(content).digest('base64url')}`
}
