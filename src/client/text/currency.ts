interface Pool {
  readonly rates: { readonly currency: string } | null
}

/**
 * Returns the currency of quotas and rules, which apply to all pools; null: the pools have no rates, or different
 * currencies.
 */
export function findCurrency(pools: readonly Pool[]): string | null {
  const [currency = null, ...others] = new Set(pools.flatMap(({ rates }) => rates?.currency ?? []))
  return others.length === 0 ? currency : null
}
