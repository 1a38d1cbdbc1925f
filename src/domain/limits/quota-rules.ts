import type { UserLevel } from '../access.ts'
import { accountsAbove } from '../accounts.ts'
import { QuotaExceeded } from '../errors.ts'

/**
 * Quota arithmetic, without I/O: which quotas a submission meets, and what they say of it.
 *
 * The base quota of a type and action is the user's own, else that of the level, else the global one; it is measured on
 * what the user uses. Quotas of the job's team, and of its account and the accounts above that, are ceilings beside it,
 * measured on what all of the team or account uses. Each is asked by itself, so the strictest decides.
 */

export const quotaTypes = [
  'CONCURRENT_JOBS',
  'JOBS_PER_HOUR',
  'JOBS_PER_DAY',
  'COST_PER_DAY',
  'COST_PER_MONTH',
  'LOCAL_GPUS',
] as const
export type QuotaType = (typeof quotaTypes)[number]

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

/** Who pays for a submission. */
export interface Payer {
  userId: string
  userName: string
  level: UserLevel
  team: { id: string; name: string } | null
  account: string
}

/** Whose usage is measured. `id` of an account is its name, and its usage includes the accounts below it. */
export interface Subject {
  kind: 'user' | 'team' | 'account'
  id: string
  name: string
}

/** A quota that a submission meets. `label`: how it is called to the caller. */
export interface MetQuota {
  type: QuotaType
  action: QuotaAction
  limit: number
  label: QuotaType | 'MAX_ACTIVE'
  subject: Subject
  /** Whether it stands beside the base quota. */
  ceiling: boolean
}

export const subjectKey = ({ kind, id }: Subject) => `${kind}/${id}`
export const userSubject = ({ userId, userName }: Pick<Payer, 'userId' | 'userName'>): Subject => ({
  kind: 'user',
  id: userId,
  name: userName,
})

/** Everybody whose usage grows with a submission. */
export function subjectsOf(payer: Payer): Subject[] {
  const { team, account } = payer
  return [
    userSubject(payer),
    ...(team ? [{ kind: 'team' as const, ...team }] : []),
    ...accountsAbove(account).map((name) => ({ kind: 'account' as const, id: name, name })),
  ]
}

/** `maxActive`: userMaxActive of the pool, the shorthand for a CONCURRENT_JOBS BLOCK quota; the lower of the two counts. */
export function metQuotas(rules: readonly QuotaRule[], payer: Payer, maxActive: number | null): MetQuota[] {
  const subject = userSubject(payer)
  const base = quotaTypes.flatMap((type) =>
    quotaActions.flatMap((action) => {
      const rule = baseRule(
        rules.filter((each) => each.type === type && each.action === action),
        payer,
      )
      const shorthand = type === 'CONCURRENT_JOBS' && action === 'BLOCK' ? maxActive : null
      if (shorthand !== null && shorthand <= (rule?.limit ?? shorthand))
        return [{ type, action, limit: shorthand, label: 'MAX_ACTIVE' as const, subject, ceiling: false }]
      return rule ? [met(rule, subject, false)] : []
    }),
  )
  const ceilings = rules.flatMap((rule) => {
    const above = subjectsOf(payer).find(({ kind, name }) => kind.toUpperCase() === rule.scope && name === rule.key)
    return above && above.kind !== 'user' ? [met(rule, above, true)] : []
  })
  return [...base, ...ceilings]
}

const met = ({ type, action, limit }: QuotaRule, subject: Subject, ceiling: boolean): MetQuota => ({
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

/** What each type counts, of a subject or of one submission. */
export type Amounts = Readonly<Record<QuotaType, number>>

export interface Verdict {
  warnings: string[]
  /** Why a person must say yes; empty: nobody need. */
  approvals: string[]
}

/** A sum of decimal costs may miss its limit by a rounding error. */
const tolerance = 1e-9
const warnAt = 0.8

export const isOver = (amount: number, limit: number) => amount > limit * (1 + tolerance)
export const isNear = (amount: number, limit: number) => amount >= warnAt * limit * (1 - tolerance)

/** The sum of two amounts as the decimals that they are written as: 0.1 and 0.2 are 0.3. */
export function plus(a: number, b: number): number {
  const places = Math.max(placesOf(a), placesOf(b))
  return places > placesMax ? a + b : Number((a + b).toFixed(places))
}

/** What `toFixed` knows. */
const placesMax = 100

function placesOf(amount: number): number {
  const [, fraction = '', exponent = '0'] = /^-?\d+(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(amount)) ?? []
  return Math.max(0, fraction.length - Number(exponent))
}

/** Throws QuotaExceeded. `usedBy`: what each subject uses without the submission, which takes `takes`. */
export function judge(quotas: readonly MetQuota[], usedBy: (subject: Subject) => Amounts, takes: Amounts): Verdict {
  const verdict: Verdict = { warnings: [], approvals: [] }
  const order = quotas.toSorted((a, b) => quotaActions.indexOf(a.action) - quotaActions.indexOf(b.action))
  for (const quota of order) {
    const used = usedBy(quota.subject)[quota.type]
    const after = plus(used, takes[quota.type])
    if (takes[quota.type] === 0) continue
    if (!isOver(after, quota.limit)) {
      if (isNear(after, quota.limit)) verdict.warnings.push(nearWarning(quota, after))
    } else if (quota.action === 'BLOCK') throw exceeded(quota, used, after)
    else if (quota.action === 'WARN') verdict.warnings.push(overWarning(quota, after))
    else verdict.approvals.push(`${allowance(quota)} without approval${remedy(after)}`)
  }
  return verdict
}

const words = {
  CONCURRENT_JOBS: 'concurrent jobs',
  JOBS_PER_HOUR: 'jobs per hour',
  JOBS_PER_DAY: 'jobs per day',
  COST_PER_DAY: 'per day',
  COST_PER_MONTH: 'per month',
  LOCAL_GPUS: 'local GPUs',
} as const satisfies Record<QuotaType, string>

const isCost = ({ type }: MetQuota) => type === 'COST_PER_DAY' || type === 'COST_PER_MONTH'
const amountText = (amount: number) => String(Number(amount.toFixed(6)))
const allowance = (quota: MetQuota) => `Maximum ${amountText(quota.limit)} ${words[quota.type]} allowed${whose(quota)}`
/** One's own usage needs no name. */
const whose = ({ subject }: MetQuota) => (subject.kind === 'user' ? '' : ` for ${scopeText(subject)}`)
export const scopeText = ({ kind, name }: Subject) => `${kind}:${name}`

const warningOf = (quota: MetQuota, text: string) => `${isCost(quota) ? 'Cost' : 'Quota'} warning: ${text}`
const nearWarning = (quota: MetQuota, amount: number) =>
  warningOf(quota, `${amountText(amount)} of ${amountText(quota.limit)} ${words[quota.type]} used${whose(quota)}`)
const overWarning = (quota: MetQuota, amount: number) =>
  warningOf(quota, `${allowance(quota)}${Number.isFinite(amount) ? `, ${amountText(amount)} used` : remedy(amount)}`)

/** What a job takes whose cost has no bound. */
export const unbounded = (takes: Amounts): Amounts => ({
  ...takes,
  COST_PER_DAY: Number.POSITIVE_INFINITY,
  COST_PER_MONTH: Number.POSITIVE_INFINITY,
})

export const unboundedText = 'and the cost of a job without maxRunTimeSeconds is unbounded; set maxRunTimeSeconds'

const remedy = (after: number) => (Number.isFinite(after) ? '' : `, ${unboundedText}`)

function exceeded(quota: MetQuota, used: number, after: number): QuotaExceeded {
  return new QuotaExceeded(`${isCost(quota) ? 'Cost limit' : 'Quota'} exceeded: ${allowance(quota)}${remedy(after)}`, {
    code: isCost(quota) ? 'COST_LIMIT_EXCEEDED' : 'QUOTA_EXCEEDED',
    quota: quota.label,
    scope: scopeText(quota.subject),
    limit: quota.limit,
    used,
  })
}
