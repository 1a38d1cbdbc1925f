import { hash } from 'node:crypto'
import type { Violation } from './errors.ts'
import type { JobSpec } from './spec.ts'

/**
 * The prefix of an account's DNS names. No prefix is the beginning of another, so an account cannot take names of
 * another account. Accounts of lower-case letters and digits appear in the prefix, others as a hash: `dns-ml-`,
 * `dns-users-ann-`, `dns--<16 hexadecimal digits>-`.
 */
export function computeDnsPrefix(account: string): string {
  const [, person, only] = account.match(/^(?:users\.([a-z0-9]+)|([a-z0-9]+))$/) ?? []
  if (person !== undefined) return `dns-users-${person}-`
  if (only !== undefined && only !== 'users') return `dns-${only}-`
  return `dns--${hash('sha256', account).slice(0, 16)}-`
}

/** Adds the prefix of the account, unless `given` already begins with it. */
export const addDnsPrefix = (given: string, account: string): string =>
  computeDnsPrefix(account) + removeDnsPrefix(given, account)

export function removeDnsPrefix(name: string, account: string): string {
  const prefix = computeDnsPrefix(account)
  return name.startsWith(prefix) ? name.slice(prefix.length) : name
}

const labelMax = 63

export function listDnsNameViolations({ internalDns, account }: Pick<JobSpec, 'internalDns' | 'account'>): Violation[] {
  if (!internalDns || internalDns.name.length <= labelMax) return []
  const most = labelMax - computeDnsPrefix(account).length
  const message = `The name in DNS would be ${internalDns.name}, which has more than ${labelMax} characters; with this account it may have ${most}`
  return [{ path: ['spec', 'internalDns', 'name'], message }]
}
