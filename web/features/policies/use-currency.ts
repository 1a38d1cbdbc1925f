import { PoolNamesDocument } from '../../generated/graphql.ts'
import { useQuery } from '../../ground/resource.ts'

/** The currency of quotas and rules, which apply to all pools; null: the pools have no rates, or different currencies. */
export function useCurrency(): string | null {
  const pools = useQuery(PoolNamesDocument, {}).value?.pools.nodes ?? []
  const [currency = null, ...others] = new Set(pools.flatMap(({ rates }) => rates?.currency ?? []))
  return others.length === 0 ? currency : null
}
