import type { PoolSharesQuery } from '../../generated/graphql.ts'

export type AccountShare = NonNullable<PoolSharesQuery['pool']>['accounts'][number]

/** The usage and the fair share of an account, as fractions of the pool. */
export interface ShareRow {
  account: string
  /** Number of ancestors in the list. */
  depth: number
  heldNow: number
  /** Decayed average of past usage; null: the pool ignores past usage. */
  heldLately: number | null
  /** The fair share; null: unknown, because the viewer does not see the other accounts. */
  due: number | null
  running: number
  queued: number
}

/**
 * Lists the accounts as a tree. Of siblings, the account that starts next is first. `isWhole`: `accounts` are all accounts
 * of the pool. Otherwise their fair shares are unknown.
 */
export function listShares(accounts: readonly AccountShare[], isWhole: boolean): ShareRow[] {
  const names = new Set(accounts.map(({ account }) => account))
  const children = Map.groupBy(accounts, ({ account }) => findParent(account, names))
  const listBelow = (parent: string | null, due: number, depth: number): ShareRow[] => {
    const siblings = (children.get(parent) ?? []).toSorted((a, b) => a.share - b.share || compare(a.account, b.account))
    const weights = siblings.reduce((sum, { weight }) => sum + weight, 0)
    return siblings.flatMap((each) => {
      const part = (due * each.weight) / weights
      return [toRow(each, isWhole ? part : null, depth), ...listBelow(each.account, part, depth + 1)]
    })
  }
  return listBelow(null, 1, 0)
}

const toRow = (share: AccountShare, due: number | null, depth: number): ShareRow => {
  const { account, occupancy, decayedUse, weight, running, queued } = share
  const heldLately = decayedUse === null ? null : decayedUse * weight
  return { account, depth, heldNow: occupancy * weight, heldLately, due, running, queued }
}

/** Finds the nearest ancestor of an account in the list; null: none. */
function findParent(account: string, names: ReadonlySet<string>): string | null {
  for (let end = account.lastIndexOf('.'); end > 0; end = account.lastIndexOf('.', end - 1)) {
    const above = account.slice(0, end)
    if (names.has(above)) return above
  }
  return null
}

const compare = (a: string, b: string) => (a < b ? -1 : 1)
