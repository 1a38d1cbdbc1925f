import { PoolNamesDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'

/**
 * Returns the currency of quotas and rules, which apply to all pools; null: the pools have no rates, or different
 * currencies.
 */
export async function readCurrency({ connection }: Cli): Promise<string | null> {
  const { pools } = await connection().request(PoolNamesDocument, {})
  const [currency = null, ...others] = new Set(pools.nodes.flatMap(({ rates }) => rates?.currency ?? []))
  return others.length === 0 ? currency : null
}
