import type { UserLevel } from '../access.ts'
import { listAccountsAbove } from '../accounts.ts'
import { QuotaExceeded } from '../errors.ts'
import { type Amounts, findQuotaType, isCost, mapQuotaTypes, type QuotaType, quotaTypes } from './quota-types.ts'

/**
 * Quota arithmetic, as pure functions. For each type and action a user has one base quota: the user's own, else that of
 * the level, else the global one; it limits the usage of the user. Quotas of the team, of the account and of the
 * accounts above it are additional ceilings on the usage of the whole team or account. Each is checked separately, so
 * the strictest decides.
 */

export const quotaActions = ['BLOCK', 'WARN', 'REQUIRE_APPROVAL'] as const
export type QuotaAction = (typeof quotaActions)[number]

export const quotaScopes = ['GLOBAL', 'LEVEL', 'USER', 'TEAM', 'ACCOUNT'] as const
export type QuotaScope = (typeof quotaScopes)[number]

export interface QuotaRule {
  type: QuotaType
  action: QuotaAction
  scope: QuotaScope
  /** Name of the level, user, team or account; null for GLOBAL. */
  key: string | null
  limit: number
}

export interface Payer {
  userId: string
  userName: string
  level: UserLevel
  team: { id: string; name: string } | null
  account: string
}

/**
 * The user, team or account whose usage is measured. For an account, `id` is its name, and usage includes the accounts
 * below it.
 */
export interface Subject {
  kind: 'user' | 'team' | 'account'
  id: string
  name: string
}

export interface ApplicableQuota {
  type: QuotaType
  action: QuotaAction
  limit: number
  label: QuotaType | 'MAX_ACTIVE'
  subject: Subject
  /** true: an additional limit of a team or account; false: the base quota. */
  ceiling: boolean
}

export const makeSubjectKey = ({ kind, id }: Subject) => `${kind}/${id}`
export const makeUserSubject = ({ userId, userName }: Pick<Payer, 'userId' | 'userName'>): Subject => ({
  kind: 'user',
  id: userId,
  name: userName,
})

export function listSubjects(payer: Payer): Subject[] {
  const { team, account } = payer
  return [
    makeUserSubject(payer),
    ...(team ? [{ kind: 'team' as const, ...team }] : []),
    ...listAccountsAbove(account).map((name) => ({ kind: 'account' as const, id: name, name })),
  ]
}

/**
 * `maxActive`: userMaxActive of the pool, which acts like a CONCURRENT_JOBS quota with the action BLOCK; the lower of
 * the two applies.
 */
export function listApplicableQuotas(
  rules: readonly QuotaRule[],
  payer: Payer,
  maxActive: number | null,
): ApplicableQuota[] {
  const subject = makeUserSubject(payer)
  const base = quotaTypes.flatMap((type) =>
    quotaActions.flatMap((action) => {
      const rule = baseRule(
        rules.filter((each) => each.type === type && each.action === action),
        payer,
      )
      const shorthand = type === 'CONCURRENT_JOBS' && action === 'BLOCK' ? maxActive : null
      if (shorthand !== null && shorthand <= (rule?.limit ?? shorthand))
        return [{ type, action, limit: shorthand, label: 'MAX_ACTIVE' as const, subject, ceiling: false }]
      return rule ? [toApplicable(rule, subject, false)] : []
    }),
  )
  const ceilings = rules.flatMap((rule) => {
    const above = listSubjects(payer).find(({ kind, name }) => kind.toUpperCase() === rule.scope && name === rule.key)
    return above && above.kind !== 'user' ? [toApplicable(rule, above, true)] : []
  })
  return [...base, ...ceilings]
}

const toApplicable = ({ type, action, limit }: QuotaRule, subject: Subject, ceiling: boolean): ApplicableQuota => ({
  type,
  action,
  limit,
  label: type,
  subject,
  ceiling,
})

const baseRule = (rules: readonly QuotaRule[], { userName, level }: Payer): QuotaRule | undefined =>
  rules.find(({ scope, key }) => scope === 'USER' && key === userName) ??
  rules.find(({ scope, key }) => scope === 'LEVEL' && key === level) ??
  rules.find(({ scope }) => scope === 'GLOBAL')

interface Verdict {
  warnings: string[]
  approvals: string[]
}

/** Tolerance for rounding errors in a sum of decimal costs. */
const tolerance = 1e-9
const warnAt = 0.8

const isOver = (amount: number, limit: number) => amount > limit * (1 + tolerance)
export const isNear = (amount: number, limit: number) => amount >= warnAt * limit * (1 - tolerance)

/** Adds two amounts as decimals: 0.1 and 0.2 are 0.3. */
export function addDecimals(a: number, b: number): number {
  if (Number.isInteger(a) && Number.isInteger(b)) return a + b
  const places = Math.max(countPlaces(a), countPlaces(b))
  return places > placesMax ? a + b : Number((a + b).toFixed(places))
}

/** The largest number of digits that toFixed accepts. */
const placesMax = 100

function countPlaces(amount: number): number {
  const [, fraction = '', exponent = '0'] = /^-?\d+(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(amount)) ?? []
  return Math.max(0, fraction.length - Number(exponent))
}

/** Throws QuotaExceeded. `takes`: the amounts that the submission adds. */
export function judgeQuotas(
  quotas: readonly ApplicableQuota[],
  usedBy: (subject: Subject) => Amounts,
  takes: Amounts,
): Verdict {
  const verdict: Verdict = { warnings: [], approvals: [] }
  const order = quotas.toSorted((a, b) => quotaActions.indexOf(a.action) - quotaActions.indexOf(b.action))
  for (const quota of order) {
    const used = usedBy(quota.subject)[quota.type]
    const after = addDecimals(used, takes[quota.type])
    if (takes[quota.type] === 0) continue
    if (!isOver(after, quota.limit)) {
      if (isNear(after, quota.limit)) verdict.warnings.push(nearWarning(quota, after))
    } else if (quota.action === 'BLOCK') throw exceeded(quota, used, after)
    else if (quota.action === 'WARN') verdict.warnings.push(overWarning(quota, after))
    else verdict.approvals.push(`${allowance(quota)} without approval${remedy(after)}`)
  }
  return verdict
}

const amountText = (amount: number) => String(Number(amount.toFixed(6)))
const allowance = (quota: ApplicableQuota) =>
  `Maximum ${amountText(quota.limit)} ${findQuotaType(quota.type).words} allowed${describeSubject(quota)}`
/** Returns the words that name the subject; empty: the message is about the user's own usage. */
const describeSubject = ({ subject }: ApplicableQuota) =>
  subject.kind === 'user' ? '' : ` for ${formatSubject(subject)}`
export const formatSubject = ({ kind, name }: Subject) => `${kind}:${name}`

const warn = (quota: ApplicableQuota, text: string) => `${isCost(quota) ? 'Cost' : 'Quota'} warning: ${text}`
const nearWarning = (quota: ApplicableQuota, amount: number) =>
  warn(
    quota,
    `${amountText(amount)} of ${amountText(quota.limit)} ${findQuotaType(quota.type).words} used${describeSubject(quota)}`,
  )
const overWarning = (quota: ApplicableQuota, amount: number) =>
  warn(quota, `${allowance(quota)}${Number.isFinite(amount) ? `, ${amountText(amount)} used` : remedy(amount)}`)

export const withUnboundedCost = (takes: Amounts): Amounts =>
  mapQuotaTypes((row, type) => (row.isCost ? Number.POSITIVE_INFINITY : takes[type]))

export const unboundedText = 'and the cost of a job without maxRunTimeSeconds is unbounded; set maxRunTimeSeconds'

const remedy = (after: number) => (Number.isFinite(after) ? '' : `, ${unboundedText}`)

function exceeded(quota: ApplicableQuota, used: number, after: number): QuotaExceeded {
  return new QuotaExceeded(`${isCost(quota) ? 'Cost limit' : 'Quota'} exceeded: ${allowance(quota)}${remedy(after)}`, {
    code: isCost(quota) ? 'COST_LIMIT_EXCEEDED' : 'QUOTA_EXCEEDED',
    quota: quota.label,
    scope: formatSubject(quota.subject),
    limit: quota.limit,
    used,
  })
}
