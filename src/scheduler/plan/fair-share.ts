import type { Accounts } from './accounts.ts'
import { compareFractions } from './fractions.ts'
import { compareHeads } from './lane-window.ts'
import type { OrderingPolicy } from './policy.ts'

/**
 * The account with the smallest share first, of equal ones the account that was served longest ago; within one the higher
 * bid, then the earlier submission. What a share is: accounts.ts.
 */
export function fairShare(accounts: Accounts): OrderingPolicy {
  return {
    groupOf: ({ lane }) => lane.account,
    compare(a, b) {
      const [one, other] = [a.lane.account, b.lane.account]
      if (one === other) return compareHeads(a, b)
      return (
        compareFractions(accounts.share(one), accounts.share(other)) ||
        accounts.service.compare(one, other) ||
        compareHeads(a, b)
      )
    },
    age: () => null,
  }
}
