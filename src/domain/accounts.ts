/**
 * Accounts: what jobs are charged to. An account is dotted: `ml.vision` is below `ml`. A person owns `users.<name>`, a
 * team owns the account of its name, and the owner of an account may charge everything below it.
 *
 * A share of a pool belongs to an owner, not to a name: an account and everything below it have one share together, or
 * else a person would have as many shares as names of sub-accounts. An operator gives a sub-account a share of its own by
 * a weight for it in the pool.
 */
const people = 'users'

/** One segment for each person: names of users have no `~`, so `john` does not own what is `john.doe`'s. */
export const ownAccount = (userName: string): string => `${people}.${userName.replaceAll('.', '~')}`

export const isAtOrBelow = (account: string, above: string): boolean =>
  account === above || account.startsWith(`${above}.`)

/** `a.b.c` → a, a.b, a.b.c */
export const accountsAbove = (account: string): string[] =>
  account.split('.').map((_, index, parts) => parts.slice(0, index + 1).join('.'))

/**
 * The highest account at or above this one that somebody owns; one that only an ADMIN may charge begins at its first part.
 * `teams`: accounts of teams that may be above it.
 */
export function rootOf(account: string, teams: readonly string[]): string {
  const [first = account, person] = account.split('.')
  if (first === people && person !== undefined) return `${people}.${person}`
  return accountsAbove(account).find((above) => teams.includes(above)) ?? first
}

/** Weights of a pool, by account. */
export type Weights = Readonly<Record<string, number>>

/** The account whose share of a pool an account counts for. */
export const shareAccountOf = (account: string, root: string, weights: Weights): string =>
  accountsAbove(account).findLast((above) => isAtOrBelow(above, root) && Object.hasOwn(weights, above)) ?? root
