import type { JobSpec } from '../domain/spec.ts'

/**
 * The internal name of a job in DNS, `dns-<account>-<name>`. Accounts have characters that DNS names cannot have;
 * different accounts stay different. Null: the job has none.
 */
export function internalName({ internalDns, account }: Pick<JobSpec, 'internalDns' | 'account'>): string | null {
  if (!internalDns) return null
  const prefix = `dns-${account}-`
  const given = internalDns.name.startsWith(prefix) ? internalDns.name.slice(prefix.length) : internalDns.name
  const inDns = account.replaceAll('-', '--').replaceAll(/[^A-Za-z0-9-]/g, '-')
  return `dns-${inDns}-${given}`.toLowerCase()
}
