import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  findRootAccount,
  isAtOrBelow,
  listAccountsAbove,
  toShareAccount,
  toUserAccount,
} from '../../src/domain/accounts.ts'
import { newId } from '../../src/domain/ids.ts'
import { userName } from '../../src/domain/people/users.ts'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { openTestDomain } from '../support/domain.ts'

const name = fc.stringMatching(/^[a-z0-9][\w.@+'-]{0,8}$/).filter((text) => userName.safeParse(text).success)
const below = fc.array(fc.constantFrom('a', 'b', 'x~y', 'sub'), { maxLength: 3 }).map((parts) => parts.join('.'))
const under = (account: string, more: string) => (more === '' ? account : `${account}.${more}`)

describe('accounts', () => {
  test('an account below the account of a user belongs to no other user', () => {
    fc.assert(
      fc.property(name, name, below, (one, other, more) => {
        fc.pre(one !== other)
        expect(isAtOrBelow(under(toUserAccount(other), more), toUserAccount(one))).toBe(false)
      }),
    )
    expect(toUserAccount('john.doe')).toBe('users.john~doe')
  })

  test('the accounts below a user or team share its fair share, unless one of them has a weight of its own', () => {
    const teams = ['ml', 'lab.one']
    const owner = fc.oneof(name.map(toUserAccount), fc.constantFrom(...teams))
    fc.assert(
      fc.property(owner, below, below, fc.boolean(), (account, one, other, weighs) => {
        const weights = weighs ? { [under(account, one)]: 2, users: 3, lab: 3 } : {}
        const share = (of: string) => toShareAccount(of, findRootAccount(of, teams), weights)
        expect(share(under(account, one))).toBe(weighs ? under(account, one) : account)
        const else_ = under(account, other)
        const shared = listAccountsAbove(else_).filter((above) => isAtOrBelow(under(account, one), above))
        expect(share(else_)).toBe(weighs ? shared.at(-1) : account)
        expect(listAccountsAbove(else_)).toContain(share(else_))
      }),
    )
  })

  test.each([
    ['ml.vision', ['ml', 'ml.vision'], 'ml'],
    ['ml.vision.x', ['ml.vision'], 'ml.vision'],
    ['mlops.x', ['ml'], 'mlops'],
    ['users.ann.x', [], 'users.ann'],
    ['users', [], 'users'],
  ])('the root account of %s with the teams %j is %s', (account, teams, expected) => {
    expect(findRootAccount(account, teams)).toBe(expected)
  })
})

describe('charged accounts and their fair share:', async () => {
  const { database, it } = await openTestDomain({
    pool: { policy: 'FAIR_SHARE', weights: { 'ml.heavy': 2 }, scheduling: {} },
  })
  const { sql } = database.db
  const [john, doe] = [await it.user('john', 'RESEARCHER'), await it.user('john.doe', 'RESEARCHER')]
  const id = newId('team', 0)
  await sql.query("INSERT INTO team (id, name, account) VALUES ($1, 'ml', 'ml')", [id])
  await sql.query('INSERT INTO team_member (team_id, user_id) VALUES ($1, $2)', [id, john.userId])
  const chargedBy = async (jobId: string) =>
    (
      await sql.query<{ charged: string; share: string }>(
        'SELECT j.account AS charged, l.account AS share FROM job j JOIN lane l ON l.id = j.lane_id WHERE j.id = $1',
        [jobId],
      )
    )[0]

  test.each([
    ['users.john.doe', 'users.john'],
    ['users.john.doe.x', 'users.john'],
    ['ml.vision', 'ml'],
    ['ml.heavy.x', 'ml.heavy'],
  ])('john may charge %s, which counts toward the share of %s', async (account, share) => {
    expect(await chargedBy(await it.submit({ account }, john))).toEqual({ charged: account, share })
    expect(await findViolations(sql)).toEqual([])
  })

  test('a member of a parent team may charge a team below it; a member of that team may not charge the parent', async () => {
    const eve = await it.user('eve', 'RESEARCHER')
    const part = newId('team', 1)
    await sql.query("INSERT INTO team (id, name, account) VALUES ($1, 'ml.part', 'ml.part')", [part])
    await sql.query('INSERT INTO team_member (team_id, user_id) VALUES ($1, $2)', [part, eve.userId])
    const account = 'ml.part'
    expect(await chargedBy(await it.submit({ account }, john))).toEqual({ charged: account, share: 'ml' })
    expect(await chargedBy(await it.submit({ account }, eve))).toEqual({ charged: account, share: 'ml' })
    await expect(it.submit({ account: 'ml' }, eve)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('user john cannot charge the account of user john.doe', async () => {
    expect(await chargedBy(await it.submit({}, doe))).toEqual({ charged: 'users.john~doe', share: 'users.john~doe' })
    await expect(it.submit({ account: 'users.john~doe' }, john)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(it.submit({ account: 'users.john.doe' }, doe)).rejects.toThrow(
      'Must be users.john~doe, or an account below it',
    )
  })

  test('an ADMIN may charge the account of any team, and the job counts toward its share', async () => {
    expect(await chargedBy(await it.submit({ account: 'ml.other' }))).toMatchObject({ share: 'ml' })
    expect(await chargedBy(await it.submit({ account: 'users.john.x' }))).toMatchObject({ share: 'users.john' })
    expect(await chargedBy(await it.submit({ account: 'lab.x' }))).toMatchObject({ share: 'lab' })
  })
})
