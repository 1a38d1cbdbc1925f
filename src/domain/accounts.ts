/**
 * Accounts: what jobs are charged to. An account is dotted: `ml.vision` is below `ml`. A person owns `users.<name>`, a
 * team owns the account of its name, and the owner of an account may charge everything below it.
 *
 * A share of a pool belongs to an owner, not to a name: an account and everything below it have one share together.
 * Otherwise a person would have as many shares as names of sub-accounts. An operator gives a sub-account its own share
 * by a weight for it in the pool.
 */

const people = 'users'

/** All names of people and teams fit into it. No invisible characters, and no empty part. */
export const accountForm = /^[\w@+'~-]+(\.[\w@+'~-]+)*$/
export const accountRule = "must consist of letters a–z, digits and _ @ + ' ~ -, in parts joined by single dots"

/**
 * A user name is one segment: dots become `~`, which no user name has. So `john` does not own the account of
 * `john.doe`.
 */
export const ownAccount = (userName: string): string => `${people}.${userName.replaceAll('.', '~')}`

export const isAtOrBelow = (account: string, above: string): boolean =>
  account === above || account.startsWith(`${above}.`)

/** `a.b.c` → `a`, `a.b`, `a.b.c`. */
export const accountsAbove = (account: string): string[] =>
  account.split('.').map((_, index, parts) => parts.slice(0, index + 1).join('.'))

/**
 * The highest owned account at or above this one. An account without an owner, which only an ADMIN may charge, counts
 * by its first segment. `teams`: accounts of teams that may be above it.
 */
export function findRootAccount(account: string, teams: readonly string[]): string {
  const [first = account, person] = account.split('.')
  if (first === people && person !== undefined) return `${people}.${person}`
  return accountsAbove(account).find((above) => teams.includes(above)) ?? first
}

/** Weights of a pool by account. */
export type Weights = Readonly<Record<string, number>>

/** The account whose share of the pool a job of this account uses. */
export const toShareAccount = (account: string, root: string, weights: Weights): string =>
  accountsAbove(account).findLast((above) => isAtOrBelow(above, root) && Object.hasOwn(weights, above)) ?? root
