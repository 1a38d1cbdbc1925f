import type { Viewer } from './access.ts'
import type { Domain } from './domain.ts'
import { limitsOf, poolNamed } from './limits.ts'
import {
  isNear,
  type MetQuota,
  metQuotas,
  type Payer,
  type QuotaAction,
  type QuotaType,
  scopeText,
  subjectKey,
} from './quota-rules.ts'
import { readQuotasOf } from './quotas.ts'
import { accountFor, noMemberships, readMemberships } from './teams.ts'
import { measuredOf, noUsage, readUsage, windowHours } from './usage.ts'

/** A quota as it meets one person now. */
export interface QuotaUsage {
  type: QuotaType
  action: QuotaAction
  /** Whose usage is counted. */
  scope: string
  limit: number
  used: number
  warning: boolean
  ceiling: string | null
}

/**
 * What a plain submission of the viewer would meet: of each type and action the strictest, the user's own or a ceiling.
 * Who is in several teams may submit for any of them, so the highest ceiling of the teams counts.
 */
export async function quotaUsageOf({ db: { sql }, singleUser }: Domain, viewer: Viewer): Promise<QuotaUsage[]> {
  const pool = await poolNamed(sql, null)
  const maxActive = (await limitsOf(sql, [pool], singleUser)).get(pool)?.userMaxActive ?? null
  const memberships = (await readMemberships(sql, [viewer.userId])).get(viewer.userId) ?? noMemberships
  const { userId, userName, level } = viewer
  const account = accountFor({ asked: null, viewer, memberships, team: memberships.defaultTeam })
  const payers = [null, ...memberships.teams].map((team): Payer => ({ userId, userName, level, team, account }))
  const rules = await readQuotasOf(sql, payers)
  const met = payers.flatMap((payer) => metQuotas(rules, payer, maxActive))
  const strictest = [...Map.groupBy(met, ({ type, action }) => `${type} ${action}`).values()].map(strictestOf)
  const wanted = strictest.map(({ subject, type }) => ({ subject, hours: windowHours[type] }))
  const usage = await readUsage(sql, measuredOf(wanted))
  return strictest.map((quota) => {
    const { type, action, limit, subject, ceiling } = quota
    const used = (usage.get(subjectKey(subject)) ?? noUsage).amounts[type]
    const scope = scopeText(subject)
    return { type, action, scope, limit, used, warning: isNear(used, limit), ceiling: ceiling ? scope : null }
  })
}

function strictestOf(quotas: readonly MetQuota[]): MetQuota {
  const highestOfTeams = quotas
    .filter(({ subject }) => subject.kind === 'team')
    .toSorted((a, b) => b.limit - a.limit)
    .slice(0, 1)
  const rest = quotas.filter(({ subject }) => subject.kind !== 'team')
  const [strictest] = [...rest, ...highestOfTeams].toSorted((a, b) => a.limit - b.limit)
  if (!strictest) throw new Error('A group has a member')
  return strictest
}
