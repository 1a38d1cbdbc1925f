import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { CommandLine, Ended } from '../support/command-line.ts'
import { until } from '../support/until.ts'
import { LoginWorld } from './login-world.ts'

const world = new LoginWorld()
beforeAll(() => world.open())
afterAll(() => world.close())
afterEach(() => {
  world.issuer.hasEnded = false
})

const ann = 'ann@example.org\n'
const readName = ['api', '{ viewer { user { name } } }']
const whoami = (account: CommandLine): Promise<Ended> => account.run(readName)
const whoamiInProcess = (account: CommandLine): Promise<Ended> => account.start(readName).ended

async function loggedIn(): Promise<CommandLine> {
  const account = await world.account()
  expect((await world.logIn(account)).code).toBe(0)
  return account
}

/** Makes the log-in due for renewal, or expired. */
async function age(account: CommandLine, times: { renewAtMs?: number; expiresAtMs?: number }): Promise<void> {
  const { openId } = await world.readContext(account)
  await world.changeContext(account, { openId: { ...openId, ...times } })
}

async function countRenewals(work: () => Promise<unknown>): Promise<number> {
  const before = world.issuer.renewals
  await work()
  return world.issuer.renewals - before
}

describe('a log-in by OpenID', () => {
  it.each([
    ['is renewed before it expires', { renewAtMs: 0 }, {}, whoamiInProcess],
    ['is renewed after it has expired', { renewAtMs: 0, expiresAtMs: 0 }, {}, whoami],
    ['is renewed when the server refuses its token', {}, { token: 'a.b.c' }, whoami],
  ])('%s, only once by ten concurrent commands', async (_, times, change, read) => {
    const account = await loggedIn()
    const first = await world.readContext(account)
    await age(account, times)
    await world.changeContext(account, change)
    const ten = Array.from({ length: 10 }, () => read(account))
    const count = await countRenewals(async () => {
      for (const { code, stderr, stdout } of await Promise.all(ten)) {
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
        expect(stdout).toContain(ann.trim())
      }
    })
    expect(count).toBe(1)
    const renewed = await world.readContext(account)
    expect(renewed.openId.refreshToken).not.toBe(first.openId.refreshToken)
    expect(renewed.openId.renewAtMs).toBeGreaterThan(Date.now())
    expect(await countRenewals(() => whoami(account))).toBe(0)
  })

  it('is renewed after a command was killed during the renewal', async () => {
    const account = await loggedIn()
    await age(account, { renewAtMs: 0, expiresAtMs: 0 })
    const { child, ended } = account.start(['--version'])
    await ended
    await world.lock(account, child.pid ?? 0)
    expect(await countRenewals(() => whoami(account))).toBe(1)
  })

  it('that has ended at the provider makes a command print in one line how to log in again', async () => {
    const account = await loggedIn()
    world.issuer.hasEnded = true
    await age(account, { renewAtMs: 0 })
    expect(await whoami(account)).toMatchObject({ code: 0, stderr: '' })
    await age(account, { expiresAtMs: 0 })
    expect(await whoami(account)).toEqual({
      code: 6,
      stdout: '',
      stderr: `berth: your log-in to ${world.url} has ended; log in again: berth login\n`,
    })
    expect((await account.run(['ls', '--context', world.contextName])).code).toBe(6)
  })

  it('without a refresh token makes a command print in one line how to log in again', async () => {
    const account = await loggedIn()
    const { openId } = await world.readContext(account)
    await world.changeContext(account, { openId: { ...openId, refreshToken: null, renewAtMs: 0 } })
    expect(await whoami(account)).toMatchObject({ code: 0 })
    await age(account, { expiresAtMs: 0 })
    expect(await whoami(account)).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/; log in again: berth login\n$/),
    })
  })

  it('is renewed only once if the server refuses also the new token', async () => {
    const account = await loggedIn()
    await world.server?.domain.db.sql.query('UPDATE "user" SET disabled = true')
    let end: Ended | undefined
    const count = await countRenewals(async () => {
      end = await whoami(account)
    })
    await world.server?.domain.db.sql.query('UPDATE "user" SET disabled = false')
    expect(end).toMatchObject({ code: 6, stdout: '' })
    expect(count).toBe(1)
  })

  it('is used until it expires if the provider is unreachable; then the command names the provider', async () => {
    const account = await loggedIn()
    const { openId } = await world.readContext(account)
    const away = { ...openId, issuer: 'http://localhost:1', renewAtMs: 0 }
    await world.changeContext(account, { openId: away })
    expect(await whoami(account)).toMatchObject({ code: 0, stderr: '' })
    await world.changeContext(account, { openId: { ...away, expiresAtMs: 0 } })
    expect(await whoami(account)).toMatchObject({
      code: 4,
      stderr: 'berth: the OpenID provider http://localhost:1 is unreachable; try again in a moment\n',
    })
  })
})

describe('a command that runs longer than its token lives', () => {
  const short = new LoginWorld()
  beforeAll(() => short.open({ idTokenSeconds: 6 }))
  afterAll(() => short.close())

  it('renews the token and continues', async () => {
    const account = await short.account()
    await short.logIn(account)
    const command = account.start(['events', '-f', '-o', 'jsonl'])
    const submitting = setInterval(() => void short.server?.submit({ command: ['true'] }), 500)
    await command.find(/job_/).finally(() => clearInterval(submitting))
    const before = short.issuer.renewals
    await until(() => short.issuer.renewals >= before + 2, { what: 'two renewals' })
    const id = await short.server?.submit({ command: ['true'] })
    await command.find(new RegExp(`${id}`))
    command.child.kill('SIGINT')
    expect(await command.ended).toMatchObject({ code: 130, stderr: expect.not.stringContaining('log in') })
  })
})
