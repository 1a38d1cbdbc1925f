import type { PoolSharesQuery } from '../../generated/graphql.ts'

export type AccountShare = NonNullable<PoolSharesQuery['pool']>['accounts'][number]

/** An account of a pool: what it holds, and what is due to it, as parts of the pool. */
export interface ShareRow {
  account: string
  /** How many accounts of the list are above it. */
  depth: number
  heldNow: number
  /** On average over its past; null: the past does not count. */
  heldLately: number | null
  /** null: unknown, because the viewer does not see the other accounts. */
  due: number | null
  running: number
  queued: number
}

/**
 * The accounts as a tree; of accounts at one place in the tree the next to start is first. What is due depends on the
 * weights of all accounts, so `isWhole` says whether these are all.
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

/** The nearest account of the list above it; null: none. */
function findParent(account: string, names: ReadonlySet<string>): string | null {
  for (let end = account.lastIndexOf('.'); end > 0; end = account.lastIndexOf('.', end - 1)) {
    const above = account.slice(0, end)
    if (names.has(above)) return above
  }
  return null
}

const compare = (a: string, b: string) => (a < b ? -1 : 1)
