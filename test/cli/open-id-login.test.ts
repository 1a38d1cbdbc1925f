import { existsSync } from 'node:fs'
import { generateKeyPair } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Forgery, sign } from '../support/issuer.ts'
import { followLogInPages } from '../support/login-pages.ts'
import { LoginWorld } from './login-world.ts'

const world = new LoginWorld()
beforeAll(() => world.open())
afterAll(() => world.close())
afterEach(() => {
  world.issuer.forgery = null
  world.issuer.hasEnded = false
})

const ann = 'ann@example.org'

describe('berth login with the browser', () => {
  it('logs in by the authorization code flow; berth whoami shows the user, the server and the expiry', async () => {
    const account = await world.account()
    expect(await world.logIn(account)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining(
        `Logged in to ${world.url} as ${ann}; the current context is ${world.contextName}.\n`,
      ),
    })
    const { stdout } = await account.run(['whoami', '-o', 'json'])
    expect(JSON.parse(stdout)).toMatchObject({
      user: ann,
      level: 'LEAD',
      scopes: ['READ', 'SUBMIT', 'OPERATE', 'ADMIN', 'EXEC'],
      server: world.url,
      context: world.contextName,
      validUntil: expect.stringMatching(/^\d{4}-/),
      isRenewed: true,
    })
    expect((await account.run(['whoami'])).stdout).toMatch(/valid until +renewed by the OpenID provider/)
  })

  it('sends a code challenge, a state and a nonce, and a redirect URL with a local port', async () => {
    const account = await world.account()
    const { child, find, ended } = account.start(['login', world.url])
    const [address] = await find(/http:\S+\/auth\?\S+/)
    const { searchParams } = new URL(address)
    expect(Object.fromEntries(searchParams)).toMatchObject({
      client_id: 'berth-web',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^.{43}$/),
      state: expect.stringMatching(/^.{43}$/),
      nonce: expect.stringMatching(/^.{43}$/),
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
    })
    child.kill('SIGINT')
    await ended
    expect(existsSync(world.contextPath(account))).toBe(false)
  })

  it('rejects a callback with a wrong state, and then accepts the right one', async () => {
    const account = await world.account()
    const { command, returnUrl } = await world.beginLogIn(account)
    const changed = new URL(returnUrl)
    changed.searchParams.set('state', 'x'.repeat(43))
    const without = new URL(returnUrl)
    without.searchParams.delete('state')
    for (const url of [changed, without]) expect((await fetch(url)).status).toBe(400)
    expect((await fetch(new URL('/elsewhere', returnUrl))).status).toBe(404)
    expect(existsSync(world.contextPath(account))).toBe(false)
    expect((await fetch(returnUrl)).status).toBe(200)
    expect((await command.ended).code).toBe(0)
  })

  it('receives a code that is useless without the code verifier', async () => {
    const account = await world.account()
    const command = account.start(['login', world.url])
    const [address] = await command.find(/http:\S+\/auth\?\S+/)
    const { searchParams, origin, pathname } = new URL(await followLogInPages(address, 'ann'))
    const request = {
      grant_type: 'authorization_code',
      client_id: 'berth-web',
      code: searchParams.get('code') ?? '',
      redirect_uri: `${origin}${pathname}`,
    }
    const stolen = await fetch(`${world.issuer.url}/token`, { method: 'POST', body: new URLSearchParams(request) })
    expect({ status: stolen.status, ...(await stolen.json()) }).toMatchObject({ status: 400, error: 'invalid_grant' })
    command.child.kill('SIGINT')
    await command.ended
  })

  it('reports in one line that the user refused the log-in', async () => {
    const account = await world.account()
    const { command, returnUrl } = await world.beginLogIn(account)
    const refused = new URL(returnUrl)
    refused.searchParams.delete('code')
    refused.searchParams.set('error', 'access_denied')
    await fetch(refused)
    const { code, stderr } = await command.ended
    expect(code).toBe(6)
    expect(stderr).toMatch(
      /\nberth: the OpenID provider \S+ refused the log-in: access_denied; run "berth login" again\n$/,
    )
    expect(existsSync(world.contextPath(account))).toBe(false)
  })
})

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

describe('an ID token', () => {
  it.each<[string, Forgery, string]>([
    ['of another issuer', (claims, key) => sign({ ...claims, iss: 'https://elsewhere.example.org' }, key), '"iss"'],
    ['for another audience', (claims, key) => sign({ ...claims, aud: 'another-client' }, key), '"aud"'],
    ['of another key', async (claims) => sign(claims, (await generateKeyPair('RS256')).privateKey), 'signature'],
    ['by algorithm none', async (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`, '"alg"'],
    ['that has expired', (claims, key) => sign({ ...claims, exp: Number(claims.iat) - 3_600 }, key), '"exp"'],
    ['with another nonce', (claims, key) => sign({ ...claims, nonce: 'x' }, key), '"nonce"'],
  ])('%s is refused, and nothing is stored', async (_, forgery, reason) => {
    world.issuer.forgery = forgery
    const account = await world.account()
    const { code, stderr } = await world.logIn(account)
    expect(code).toBe(3)
    expect(stderr).toMatch(/\nberth: the OpenID provider \S+ sent a wrong answer: .*\n$/)
    expect(stderr).toContain(reason)
    expect(existsSync(world.contextPath(account))).toBe(false)
  })
})

describe('berth login --device', () => {
  it('logs in with a code that the user enters on another machine', async () => {
    const account = await world.account()
    const command = account.start(['login', world.url, '--device'])
    const [, page, code, complete = ''] = await command.find(/Open (\S+) on any machine and enter (\S+), or (\S+)\n/)
    expect(complete).toContain(code)
    expect(complete).toContain(page)
    await followLogInPages(complete, 'ann')
    expect(await command.ended).toMatchObject({ code: 0, stderr: expect.stringContaining(`as ${ann};`) })
    expect(JSON.parse((await account.run(['whoami', '--json', 'user'])).stdout)).toEqual({ user: ann })
  })
})

describe('berth logout', () => {
  it('revokes the tokens at the provider, and removes them', async () => {
    const account = await world.account()
    await world.logIn(account)
    const { openId } = await world.readContext(account)
    const before = world.issuer.revocations
    expect(await account.run(['logout'])).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Logged out of /) })
    expect(world.issuer.revocations).toBe(before + 1)
    const request = { grant_type: 'refresh_token', client_id: 'berth-web', refresh_token: openId.refreshToken }
    const used = await fetch(`${world.issuer.url}/token`, { method: 'POST', body: new URLSearchParams(request) })
    expect(await used.json()).toMatchObject({ error: 'invalid_grant' })
    expect(await world.readContext(account)).toEqual({ url: world.url, user: null, token: null, openId: null })
    const { code, stderr } = await account.run(['whoami'])
    expect(code).toBe(6)
    expect(stderr).toMatch(/^berth: .*; log in with "berth login", or set BERTH_TOKEN to a valid token\n$/)
  })
})

describe('a log-in', () => {
  it('is revoked when its context is removed', async () => {
    const account = await world.account()
    await world.logIn(account)
    const before = world.issuer.revocations
    expect(await account.run(['context', 'rm', world.contextName])).toMatchObject({ code: 0, stderr: '' })
    expect(world.issuer.revocations).toBe(before + 1)
    expect(existsSync(world.contextPath(account))).toBe(false)
  })

  it('is removed by logout even if the provider is unreachable', async () => {
    const account = await world.account()
    await world.logIn(account)
    const { openId } = await world.readContext(account)
    await world.changeContext(account, { openId: { ...openId, issuer: 'http://localhost:1' } })
    const { code, stderr } = await account.run(['logout'])
    expect(code).toBe(0)
    expect(stderr).toMatch(/^berth: the log-in is forgotten here, but not revoked: .* is unreachable\nLogged out of /)
    expect((await world.readContext(account)).token).toBeNull()
  })
})

describe('an OpenID provider without device log-in and revocation', () => {
  const plain = new LoginWorld()
  beforeAll(() => plain.open({ isPlain: true }))
  afterAll(() => plain.close())

  it('makes login refuse --device with the next step; logout still removes the log-in', async () => {
    const account = await plain.account()
    const { code, stderr } = await account.run(['login', plain.url, '--device'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^berth: --device: the OpenID provider \S+ does not offer it; use "berth login", .*\n$/)
    await plain.logIn(account)
    expect(await account.run(['logout'])).toMatchObject({ code: 0 })
    expect((await plain.readContext(account)).token).toBeNull()
  })
})
