import type { Viewer } from '../access.ts'
import type { Domain } from '../domain.ts'
import { findPool, readLimits } from '../limits/limits.ts'
import {
  type ApplicableQuota,
  formatSubject,
  isNear,
  listApplicableQuotas,
  makeSubjectKey,
  type Payer,
  type QuotaAction,
} from '../limits/quota-rules.ts'
import { type QuotaType, windowHours } from '../limits/quota-types.ts'
import { mergeMeasured, noUsage, readUsage } from '../limits/quota-usage.ts'
import { readQuotasFor } from '../limits/stored-quotas.ts'
import { type Memberships, noMemberships, readMemberships, resolveAccount } from '../people/teams.ts'

/** A quota as it applies to a person now. */
export interface QuotaUsage {
  type: QuotaType
  action: QuotaAction
  scope: string
  limit: number
  used: number
  warning: boolean
}

/** Reads, for each type and action, the lowest quota of the viewer, of the viewer's teams, and of their accounts. */
export async function readQuotaUsage({ db: { sql }, singleUser }: Domain, viewer: Viewer): Promise<QuotaUsage[]> {
  const pool = await findPool(sql, null)
  const maxActive = (await readLimits(sql, [pool], singleUser)).get(pool)?.userMaxActive ?? null
  const memberships = (await readMemberships(sql, [viewer.userId])).get(viewer.userId) ?? noMemberships
  const payers = listPayers(viewer, memberships)
  const rules = await readQuotasFor(sql, payers)
  const deciding = pickStrictest(payers.flatMap((payer) => listApplicableQuotas(rules, payer, maxActive)))
  const wanted = deciding.map(({ subject, type }) => ({ subject, hours: windowHours[type] }))
  const usage = await readUsage(sql, mergeMeasured(wanted))
  return deciding.map((quota) => {
    const { type, action, limit, subject } = quota
    const used = (usage.get(makeSubjectKey(subject)) ?? noUsage).amounts[type]
    const scope = formatSubject(subject)
    return { type, action, scope, limit, used, warning: isNear(used, limit) }
  })
}

/** Lists one payer for each team of the viewer, with the account of the team. */
function listPayers(viewer: Viewer, memberships: Memberships): Payer[] {
  const { userId, userName, level } = viewer
  const teams = memberships.defaultTeam ? memberships.teams : [null, ...memberships.teams]
  return teams.map((team) => {
    const account = resolveAccount({ asked: null, viewer, memberships, team })
    return { userId, userName, level, team, account }
  })
}

function pickStrictest(quotas: readonly ApplicableQuota[]): ApplicableQuota[] {
  const byKind = Map.groupBy(quotas, ({ type, action }) => `${type} ${action}`)
  return [...byKind.values()].map((alike) => alike.reduce((a, b) => (b.limit < a.limit ? b : a)))
}
