import type { z } from 'zod'
import { quotaActions, quotaScopes } from '../domain/limits/quota-rules.ts'
import { quotaTypes } from '../domain/limits/quota-types.ts'
import { section } from './keys.ts'
import { type ConfigProblem, configUserLevels, parseAmount, text, word } from './value.ts'

export const quotaSection = section({
  type: word(quotaTypes),
  action: word(quotaActions),
  scope: word(quotaScopes),
  key: text('ml').optional(),
  limit: parseAmount('jobs, GPUs or cost', [0, 1e15], '5'),
})

type QuotaEntry = z.output<typeof quotaSection>

export interface QuotaConfig extends Readonly<Omit<QuotaEntry, 'key'>> {
  /** Name of the level, user, team or account; null for GLOBAL. */
  readonly key: string | null
}

export const toQuotaConfig = ({ key, ...rest }: QuotaEntry): QuotaConfig => ({ ...rest, key: key ?? null })

export function checkQuotas(quotas: readonly QuotaEntry[]): ConfigProblem[] {
  const kind = ({ type, action, scope, key }: QuotaEntry) => JSON.stringify([type, action, scope, key])
  return quotas.flatMap((quota, index) => {
    const { type, scope, key, limit } = quota
    const at = (field: string, reason: string, remedy: string) => [{ path: `quotas[${index}]${field}`, reason, remedy }]
    if (scope === 'GLOBAL' && key !== undefined) return at('.key', 'must be omitted with scope GLOBAL', 'remove it')
    if (scope !== 'GLOBAL' && key === undefined)
      return at('.key', 'is missing', `name the ${scope.toLowerCase()} that it limits`)
    if (scope === 'LEVEL' && !configUserLevels.some((each) => each === key))
      return at('.key', `${JSON.stringify(key)} is not a level`, `use ${configUserLevels.join(' or ')}`)
    if (!type.startsWith('COST') && !Number.isInteger(limit))
      return at('.limit', `${limit} is not a whole number`, 'round it')
    if (quotas.findIndex((other) => kind(other) === kind(quota)) < index)
      return at('', 'is defined twice', 'keep one of each type, action, scope and key')
    return []
  })
}
