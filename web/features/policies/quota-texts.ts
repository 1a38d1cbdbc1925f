import type { QuotaAction, QuotaType, ScopeKind } from '../../generated/graphql.ts'
import { formatCount, formatMoney } from '../../parts/format.ts'
import { listExceeding } from './limit-effects.ts'

export const quotaTypes: Readonly<Record<QuotaType, string>> = {
  CONCURRENT_JOBS: 'Unfinished jobs',
  JOBS_PER_HOUR: 'Jobs per hour',
  JOBS_PER_DAY: 'Jobs per day',
  COST_PER_DAY: 'Cost per day',
  COST_PER_MONTH: 'Cost of 30 days',
  LOCAL_GPUS: 'GPUs of this machine',
}

export const quotaActions: Readonly<Record<QuotaAction, string>> = {
  BLOCK: 'is refused',
  REQUIRE_APPROVAL: 'needs an approval',
  WARN: 'gets a warning',
}

export type QuotaScope = Exclude<ScopeKind, 'PROJECT' | 'QUEUE' | 'POOL'>

export const quotaScopes: Readonly<Record<QuotaScope, string>> = {
  GLOBAL: 'each user',
  LEVEL: 'each user of a level',
  USER: 'one user',
  TEAM: 'a team together',
  ACCOUNT: 'an account and those below it',
}

export interface ScopeName {
  kind: ScopeKind
  name: string | null
}

/** "team ml", "each lead", "each user". */
export function describeScope({ kind, name }: ScopeName): string {
  if (kind === 'GLOBAL') return 'each user'
  if (kind === 'LEVEL') return `each ${(name ?? '').toLowerCase()}`
  return `${kind.toLowerCase()} ${name}`
}

export const isCost = (type: QuotaType): boolean => type === 'COST_PER_DAY' || type === 'COST_PER_MONTH'

/** Formats the limit or the use of a quota: "8", "EUR 50.00". */
export const formatAmount = (type: QuotaType, amount: number, currency: string | null): string =>
  isCost(type) ? formatMoney({ amount, currency }) : formatCount(amount)

/** "ann is at 9 of 8: a further submission is refused." */
export function describeQuotaEffect(action: QuotaAction, limit: number, use: ReadonlyMap<string, number>): string {
  const exceeding = listExceeding(use, limit)
  return exceeding === ''
    ? 'All are below it now.'
    : `${exceeding}: jobs stay, a further submission ${quotaActions[action]}.`
}
