import { expect, it } from 'vitest'
import {
  addDnsPrefix,
  computeDnsPrefix,
  listDnsNameViolations,
  removeDnsPrefix,
} from '../../src/domain/internal-dns.ts'

it.each([
  ['ml', 'dns-ml-web'],
  ['users.ann', 'dns-users-ann-web'],
  ['users.john~doe', 'dns--82d6b4dceb993c57-web'],
])('the internal DNS name of a job of the account %s is %s', (account, name) => {
  expect(addDnsPrefix('web', account)).toBe(name)
  expect(addDnsPrefix(name, account)).toBe(name)
  expect(removeDnsPrefix(name, account)).toBe('web')
  expect(name).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/)
})

it('DNS prefixes of different accounts never overlap', () => {
  const accounts = ['users', 'ml', 'ml_a', 'ml.a', 'ml-a', 'ML', 'm', 'users.john', 'users.john.doe', 'users.john~doe']
  const more = [
    'users.john-doe',
    'users.john_doe',
    'users.John',
    'users-john',
    'users_john',
    "users.o'neil",
    'users.a.b',
  ]
  const prefixes = [...accounts, ...more].map(computeDnsPrefix)
  for (const [at, one] of prefixes.entries())
    for (const other of prefixes.slice(at + 1)) {
      expect(one.startsWith(other) || other.startsWith(one), `${one} ${other}`).toBe(false)
    }
})

it('an internal name that is too long together with its prefix is refused', () => {
  const violations = (given: string, account = 'users.ann') => {
    const internalDns = { name: addDnsPrefix(given, account), ports: [] }
    return listDnsNameViolations({ internalDns, account }).map(({ message }) => message)
  }
  expect(violations('a'.repeat(49))).toEqual([])
  expect(violations('a'.repeat(50))).toEqual([expect.stringMatching(/has more than 63 characters; .* may have 49$/)])
  expect(violations('a'.repeat(42), 'ml_a')).toEqual([expect.stringContaining('may have 41')])
  expect(listDnsNameViolations({ internalDns: null, account: 'ml' })).toEqual([])
})
