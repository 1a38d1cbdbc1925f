import type { Sql } from '../../platform/tx.ts'
import type { UserLevel } from '../access.ts'
import { unboundedText } from '../limits/quota-rules.ts'
import { type Pattern, parsePattern, parsePatternOfAnyCase } from '../pattern.ts'

/** Decides by rules whether a submission needs an approval. The first rule that matches decides. Pure function. */

export interface ApprovalRule {
  id: string
  name: string
  priority: number
  enabled: boolean
  condition: ApprovalCondition
  exemptLevels: UserLevel[]
  requiredLevel: UserLevel
  expiresAfterSeconds: number
}

/** Exactly one field is set. */
export interface ApprovalCondition {
  costAbove?: number | null | undefined
  /** Glob over the GPU and CPU models of the machines that the job may get, or that its spec names; ignores case. */
  hardware?: string | null | undefined
  executor?: string | null | undefined
  levelNotIn?: readonly UserLevel[] | null | undefined
  jobsPerDayAbove?: number | null | undefined
  firstJob?: boolean | null | undefined
  /** Glob, or `^regular expression$`. */
  name?: string | null | undefined
}

export interface ApprovalItem {
  level: UserLevel
  name: string | null
  executor: string
  /** null: unknown; infinite: unbounded. */
  cost: number | null
  /** The currency of the pool's prices; null: it has no prices. */
  currency: string | null
  /** CPU and GPU models of the machines that it may get. */
  hardware: readonly string[]
  gpuModel: readonly string[]
  cpuModel: readonly string[]
  /** The user's accepted submissions of the last 24 h, without this one. */
  jobsLastDay: number
  isFirstJob: boolean
}

export interface ApprovalNeed {
  /** Name of the rule; null: the submitter or a quota requires the approval. */
  rule: string | null
  reason: string
  requiredLevel: UserLevel
  expiresAfterSeconds: number
}

export const expiresAfterSecondsDefault = 86_400

/** For requiresApproval, and for quotas with the action REQUIRE_APPROVAL. */
export const makeNeedWithoutRule = (reason: string): ApprovalNeed => ({
  rule: null,
  reason,
  requiredLevel: 'LEAD',
  expiresAfterSeconds: expiresAfterSecondsDefault,
})

export const describeApprovers = (
  { requiredLevel }: Pick<ApprovalNeed, 'requiredLevel'>,
  singleUser: boolean,
): string =>
  `${singleUser ? 'a user' : 'another user'} of level ${requiredLevel}${requiredLevel === 'ADMIN' ? '' : ' or above'}`

export function decideApprovalNeed(rules: readonly ApprovalRule[], item: ApprovalItem): ApprovalNeed | null {
  for (const { name, condition, exemptLevels, requiredLevel, expiresAfterSeconds } of rules) {
    if (exemptLevels.includes(item.level)) continue
    const why = amountReason(condition, item) ?? wordReason(condition, item) ?? personReason(condition, item)
    if (why) return { rule: name, reason: `${why} (rule ${name})`, requiredLevel, expiresAfterSeconds }
  }
  return null
}

/** The enabled rules, in the order in which they are tried. */
export async function readApprovalRules(sql: Sql): Promise<ApprovalRule[]> {
  return sql.query<ApprovalRule>(
    `SELECT id, name, priority, enabled, condition, exempt_levels::text[] AS "exemptLevels",
       required_level::text AS "requiredLevel", expires_after_seconds AS "expiresAfterSeconds"
     FROM approval_rule WHERE enabled ORDER BY priority DESC, created_at, id`,
    [],
    'approval_rules',
  )
}

function amountReason(
  { costAbove, jobsPerDayAbove }: ApprovalCondition,
  { cost, currency, jobsLastDay }: ApprovalItem,
) {
  const moneyText = (amount: number) => [currency, +amount.toFixed(4)].filter((part) => part !== null).join(' ')
  if (costAbove != null && cost !== null && cost > costAbove)
    return Number.isFinite(cost)
      ? `Costs ${moneyText(cost)}, more than ${moneyText(costAbove)}`
      : `May cost more than ${moneyText(costAbove)}, ${unboundedText}`
  if (jobsPerDayAbove != null && jobsLastDay + 1 > jobsPerDayAbove)
    return `More than ${jobsPerDayAbove} ${jobsPerDayAbove === 1 ? 'job' : 'jobs'} in 24 hours`
  return null
}

function wordReason({ hardware, executor, name }: ApprovalCondition, item: ApprovalItem): string | null {
  if (executor != null && item.executor === executor) return `Runs on executor ${executor}`
  if (name != null && item.name !== null && parsePattern(name).matches(item.name)) return `Job name is ${item.name}`
  return hardware == null ? null : hardwareReason(parsePatternOfAnyCase(hardware), item)
}

function hardwareReason(pattern: Pattern, item: ApprovalItem): string | null {
  const asked = askedModels(item).find((model) => pattern.matches(model))
  if (asked !== undefined) return `Requests the hardware ${asked}`
  const given = item.hardware.find((model) => pattern.matches(model))
  return given === undefined ? null : `May be placed on the hardware ${given}`
}

function personReason({ levelNotIn, firstJob }: ApprovalCondition, { level, isFirstJob }: ApprovalItem): string | null {
  if (levelNotIn && !levelNotIn.includes(level)) return `Submitted by a user of level ${level}`
  if (firstJob == null || firstJob !== isFirstJob) return null
  return isFirstJob ? 'First job of this user' : 'The user had jobs before'
}

/** A filter that begins with ! excludes models. */
const askedModels = ({ gpuModel, cpuModel }: ApprovalItem): string[] =>
  [...gpuModel, ...cpuModel].filter((filter) => !filter.startsWith('!')).map((filter) => filter.toLowerCase())
