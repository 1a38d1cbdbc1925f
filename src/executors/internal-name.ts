import { accountInDns, type JobSpec } from '../domain/spec.ts'

/**
 * The internal name of a job in DNS, `dns-<account>-<name>`. Null: the job has none.
 */
export function internalName({ internalDns, account }: Pick<JobSpec, 'internalDns' | 'account'>): string | null {
  if (!internalDns) return null
  const prefix = `dns-${account}-`
  const given = internalDns.name.startsWith(prefix) ? internalDns.name.slice(prefix.length) : internalDns.name
  return `dns-${accountInDns(account)}-${given}`.toLowerCase()
}
