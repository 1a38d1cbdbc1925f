import { existsSync } from 'node:fs'
import { StartFailed } from '../executor.ts'
import type { Environment } from '../process/environment.ts'
import { readLoginPath } from '../process/search-path.ts'
import { type AccountEntry, findAccountEntry } from './account-table.ts'
import type { Owner } from './file-owners.ts'

export interface Account {
  name: string
  uid: number
  gid: number
  environment: Environment
  /** All groups of the account; undefined: the groups that this machine lists. */
  groups?: readonly string[]
}

/** Rules for the system accounts of a pool's runs. */
export interface AccountRules {
  /** true: several people submit jobs. */
  hasUsers: boolean
  /** true: jobs of users without a system account may run as root. */
  jobsAsRoot: boolean
  /** true: the runs are on other machines, so their accounts do not depend on the server's account. */
  isRemote?: boolean
  owners: readonly Owner[]
}

export const singleUserRules: AccountRules = { hasUsers: false, jobsAsRoot: true, owners: [] }

const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path)) ?? 'setpriv'
const isRoot = () => process.getuid?.() === 0

/** true: the pool refuses jobs of users without a system account. */
export const requiresAccount = ({ hasUsers, jobsAsRoot, isRemote = false }: AccountRules) =>
  hasUsers && (isRemote || isRoot()) && !jobsAsRoot

/**
 * Returns the account of a run. null: the server's own account, because the run has no other account or the server may
 * not switch accounts.
 */
export async function findAccount(unixUser: string | null, rules: AccountRules): Promise<Account | null> {
  if (!isRoot()) return null
  if (unixUser === null) {
    if (requiresAccount(rules))
      throw refused('The user of this job has no unixUser, so the job would run as root; an ADMIN can set one')
    return null
  }
  const entry = await findAccountEntry(unixUser)
  if (!entry) throw refused(`This machine has no account ${unixUser}`)
  const account = parseAccount(entry)
  const owner = rules.owners.find(({ uid }) => uid === account.uid)
  if (owner) throw refused(`Jobs never run as ${unixUser}: it owns ${owner.path}`)
  return { ...account, environment: { ...account.environment, PATH: await readLoginPath() } }
}

/** Parses a row of /etc/passwd. Throws StartFailed if the account is root. */
export function parseAccount([name = '', , uid, gid, , home = '/', shell = '']: AccountEntry): Account {
  if (!Number(uid)) throw refused(`Jobs never run as ${name}: its uid is 0`)
  const environment = { HOME: home, USER: name, LOGNAME: name, SHELL: shell || '/bin/sh' }
  return { name, uid: Number(uid), gid: Number(gid), environment }
}

/** The beginning of a command line that switches to the account; empty for the server's own account. */
export function switchToAccount(account: Account | null): string[] {
  if (!account) return []
  return [setpriv, '--reuid', account.uid, '--regid', account.gid, '--init-groups', '--'].map(String)
}

/** Switches to the owner of a file, whose account may no longer exist; empty for the server's own account. */
export const switchToOwner = ({ uid, gid }: { uid: number; gid: number }): string[] =>
  uid === process.getuid?.() ? [] : [setpriv, '--reuid', uid, '--regid', gid, '--clear-groups', '--'].map(String)

const refused = (message: string) => new StartFailed('BAD_SPEC', message)

/** Describes how the jobs of different users are separated; null: the server has one user. */
export function describeSeparation(rules: AccountRules): string | null {
  if (!rules.hasUsers) return null
  if (!isRoot())
    return 'Jobs of all users run as the account of the server: users are not protected from each other, nor is the server from them'
  return rules.jobsAsRoot
    ? 'Jobs of users without unixUser run as root: nothing of this machine is protected from them'
    : 'Each job runs as the unixUser of its user'
}
