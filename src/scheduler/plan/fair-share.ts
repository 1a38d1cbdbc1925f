import type { Accounts } from './accounts.ts'
import { compareFractions } from './fractions.ts'
import { compareHeads } from './lane-window.ts'
import type { OrderingPolicy } from './policy.ts'

/**
 * The account with the smallest share first; within one the higher bid, then the earlier submission. What a share is:
 * accounts.ts.
 */
export function fairShare(accounts: Accounts): OrderingPolicy {
  return {
    groupOf: ({ lane }) => lane.account,
    compare: (a, b) =>
      (a.lane.account === b.lane.account
        ? 0
        : compareFractions(accounts.share(a.lane.account), accounts.share(b.lane.account))) || compareHeads(a, b),
    age: () => null,
  }
}
