/**
 * Accounts that jobs are charged to. Names are dotted: `ml.vision` is below `ml`. A person owns `users.<name>`, a team
 * owns the account of its name, and both may charge every account below their own. All accounts of one owner share one
 * fair share of a pool; otherwise sub-accounts would multiply it. A weight in the pool gives a sub-account, and those
 * above it, a part of this share.
 */

const people = 'users'

/** Matches every name of a user or team. Excludes invisible characters and empty parts. */
export const accountForm = /^[\w@+'~-]+(\.[\w@+'~-]+)*$/
export const accountRule = "must consist of letters a–z, digits and _ @ + ' ~ -, in parts joined by single dots"

/** Dots become `~`, which user names do not contain, so the account of `john` is not above that of `john.doe`. */
export const toUserAccount = (userName: string): string => `${people}.${userName.replaceAll('.', '~')}`

export const isAtOrBelow = (account: string, above: string): boolean =>
  account === above || account.startsWith(`${above}.`)

/** `a.b.c` → `a`, `a.b`, `a.b.c`. */
export const listAccountsAbove = (account: string): string[] =>
  account.split('.').map((_, index, parts) => parts.slice(0, index + 1).join('.'))

/** The highest owned account at or above this one; without an owner, the first segment. `teams`: accounts of teams. */
export function findRootAccount(account: string, teams: readonly string[]): string {
  const [first = account, person] = account.split('.')
  if (first === people && person !== undefined) return `${people}.${person}`
  return listAccountsAbove(account).find((above) => teams.includes(above)) ?? first
}

export type Weights = Readonly<Record<string, number>>

/** The account whose fair share a job of this account uses. */
export function toShareAccount(account: string, root: string, weights: Weights): string {
  const isNamed = (above: string) => Object.keys(weights).some((weighted) => isAtOrBelow(weighted, above))
  return (
    listAccountsAbove(account).findLast((above) => above !== root && isAtOrBelow(above, root) && isNamed(above)) ?? root
  )
}
