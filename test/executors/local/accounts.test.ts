import { describe, expect, it } from 'vitest'
import {
  type AccountRules,
  describeSeparation,
  findAccount,
  requiresAccount,
} from '../../../src/executors/accounts/account.ts'
import { createAccountTable, findAccountEntry } from '../../../src/executors/accounts/account-table.ts'
import { findOwners } from '../../../src/executors/accounts/file-owners.ts'

const isRoot = process.getuid?.() === 0
const users: AccountRules = { hasUsers: true, jobsAsRoot: false, owners: [] }

describe.runIf(isRoot)('a server that runs as root', () => {
  it('does not run jobs of users as root, unless the pool has jobsAsRoot', async () => {
    await expect(findAccount(null, users)).rejects.toMatchObject({ reason: 'BAD_SPEC', message: /no unixUser/ })
    expect(requiresAccount(users)).toBe(true)
    const aloud = { ...users, jobsAsRoot: true }
    expect(await findAccount(null, aloud)).toBeNull()
    expect(requiresAccount(aloud)).toBe(false)
    expect(await findAccount(null, { ...users, hasUsers: false })).toBeNull()
  })

  it('rejects root, owners of files of the server, and accounts that do not exist', async () => {
    const nobody = Number((await findAccountEntry('nobody'))?.[2])
    const owners = [{ uid: nobody, name: 'nobody', path: '/srv/berth' }]
    await expect(findAccount('nobody', { ...users, owners })).rejects.toMatchObject({
      reason: 'BAD_SPEC',
      message: 'Jobs never run as nobody: it owns /srv/berth',
    })
    await expect(findAccount('root', users)).rejects.toMatchObject({ message: 'Jobs never run as root: its uid is 0' })
    await expect(findAccount('no-such-one', users)).rejects.toMatchObject({
      message: 'This machine has no account no-such-one',
    })
    expect(await findAccount('nobody', users)).toMatchObject({ uid: nobody })
  })
})

it.runIf(!isRoot)('a server that is not root reports that it cannot run jobs under other accounts', async () => {
  expect(await findAccount('nobody', users)).toBeNull()
  expect(describeSeparation(users)).toMatch(/not protected from each other/)
})

it('the description of the executor says how users are separated, and is null there for a single user', () => {
  expect(describeSeparation({ ...users, hasUsers: false })).toBeNull()
  const aloud = describeSeparation({ ...users, jobsAsRoot: true })
  expect(describeSeparation(users)).toMatch(isRoot ? /^Each job runs as the unixUser/ : /users are not protected/)
  expect(aloud).toMatch(isRoot ? /run as root/ : /users are not protected/)
})

it('the owners of files are found, and missing files are skipped', async () => {
  const owners = await findOwners(['/', '/no/such/file'])
  expect(owners).toContainEqual({ uid: 0, name: 'root', path: '/' })
})

describe('the table of machine accounts', () => {
  const asked: string[] = []
  const system = { nowMs: 0, version: 'a', uid: '7' }
  const open = () =>
    createAccountTable({
      ask: async (account) => {
        asked.push(account)
        return account === 'nobody' ? [account, 'x', system.uid] : null
      },
      version: () => system.version,
      monotonicMs: () => system.nowMs,
    })
  const uidOf = async (table: ReturnType<typeof open>) => (await table('nobody'))?.[2]

  it('is read once for concurrent starts, and again after 10 s', async () => {
    asked.length = 0
    const table = open()
    await Promise.all([table('nobody'), table('nobody')])
    system.nowMs += 9_999
    await table('nobody')
    expect(asked).toEqual(['nobody'])
    system.nowMs += 1
    system.uid = '8'
    expect(await uidOf(table)).toBe('8')
  })

  it('is read again after the accounts of the machine changed', async () => {
    const table = open()
    await table('nobody')
    system.uid = '9'
    expect(await uidOf(table)).toBe('8')
    system.version = 'b'
    expect(await uidOf(table)).toBe('9')
  })

  it('is read again if an account is not found', async () => {
    asked.length = 0
    const table = open()
    expect([await table('new'), await table('new')]).toEqual([null, null])
    expect(asked).toEqual(['new', 'new'])
  })
})
