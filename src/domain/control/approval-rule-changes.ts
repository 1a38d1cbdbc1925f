import { z } from 'zod'
import type { Prisma } from '../../platform/generated/client.ts'
import type { Sql, Tx } from '../../platform/tx.ts'
import { demand, userLevels, type Viewer } from '../access.ts'
import { deleteAppliedSettings, lockAppliedSettings, storeAppliedSetting } from '../applied.ts'
import { type AuditRecord, audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { newId } from '../ids.ts'
import { parseInput } from '../parse.ts'
import { findPatternProblem, patternCharactersMax } from '../pattern.ts'
import { demandUnchanged, type ExpectedVersion, type Target, versionInput } from '../versions.ts'
import type { ApprovalCondition, ApprovalRule } from './approval-rules.ts'
import { expiresAfterSecondsDefault } from './approval-rules.ts'

/** Changes approval rules. A rule applies from its commit on; waiting jobs keep their request. */

const int32Max = 2 ** 31 - 1
const secondsMax = 31_536_000
const amount = z.number().min(0, 'must not be negative').max(1e12, 'must be at most 10¹²')
const text = z.string().min(1, 'must not be empty').max(255, 'must have at most 255 characters')
const level = z.enum(userLevels)
const pattern = z
  .string()
  .max(patternCharactersMax, `must have at most ${patternCharactersMax} characters`)
  .superRefine((given, context) => {
    const wrong = findPatternProblem(given)
    if (wrong) context.addIssue({ code: 'custom', message: wrong })
  })

export const conditionInput = z
  .strictObject({
    costAbove: amount.nullish(),
    hardware: pattern.nullish(),
    executor: text.nullish(),
    levelNotIn: z.array(level).max(userLevels.length).nullish(),
    jobsPerDayAbove: z.int().min(0, 'must not be negative').max(int32Max).nullish(),
    firstJob: z.boolean().nullish(),
    name: pattern.nullish(),
  })
  .refine(
    (given) => Object.values(given).filter((each) => each != null).length === 1,
    'must contain exactly one condition',
  )

const name = text
const priority = z.int().min(-int32Max).max(int32Max)
export const exemptLevelsInput = z.array(level).max(userLevels.length)
const expiresAfterSeconds = z.int().min(1, 'must be at least 1').max(secondsMax, 'must be at most a year')

const newRule = z.strictObject({
  name,
  condition: conditionInput,
  priority: priority.nullish(),
  enabled: z.boolean().nullish(),
  exemptLevels: exemptLevelsInput.nullish(),
  requiredLevel: level.nullish(),
  expiresAfterSeconds: expiresAfterSeconds.nullish(),
})
const changedRule = z.strictObject({
  ...newRule.shape,
  id: z.string(),
  name: name.nullish(),
  condition: conditionInput.nullish(),
  expectedVersion: versionInput,
})

export async function createApprovalRule(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ id: string }> {
  demand(viewer, 'rule.write')
  const rule = completeRule(parseInput(newRule, raw), newId('rule', domain.time.nowMs()))
  await change(domain, viewer, async (tx) => {
    await demandName(tx, rule)
    await writeRule(tx, rule)
    return { action: 'rule.create', objectId: rule.id, detail: { ...rule } }
  })
  return { id: rule.id }
}

export async function updateApprovalRule(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ id: string }> {
  demand(viewer, 'rule.write')
  const { id, expectedVersion, ...given } = parseInput(changedRule, raw)
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value != null))
  await change(domain, viewer, async (tx) => {
    const rule: ApprovalRule = { ...(await readRule(tx, id, expectedVersion)), ...fields }
    await demandName(tx, rule)
    await writeRule(tx, rule)
    return { action: 'rule.update', objectId: id, detail: fields }
  })
  return { id }
}

export async function deleteApprovalRule(
  domain: Domain,
  viewer: Viewer,
  { id, expectedVersion }: Target,
): Promise<{ id: string }> {
  demand(viewer, 'rule.write')
  await change(domain, viewer, async (tx) => {
    const rule = await readRule(tx, id, expectedVersion)
    await tx.prisma.approvalRule.delete({ where: { id } })
    return { action: 'rule.delete', objectId: id, detail: { name: rule.name } }
  })
  return { id }
}

type DeclaredRule = z.input<typeof newRule>

/** Applies the rules of the configuration, by name. Rules created by people stay. */
export async function applyApprovalRules(domain: Domain, declared: readonly DeclaredRule[]): Promise<void> {
  const { db, time, log } = domain
  const rules = declared.map((raw, index) => ({
    raw,
    rule: completeRule(parseInput(newRule, raw, ['approvalRules', String(index)]), newId('rule', time.nowMs())),
  }))
  await db.serializable(async (tx) => {
    await lockAppliedSettings(tx)
    await lockRules(tx)
    for (const { raw, rule } of rules) {
      if (!(await storeAppliedSetting(tx, appliedKey(rule.name), raw))) continue
      const id = await declareRule(tx, rule)
      await audit(tx, null, [{ action: 'rule.apply', objectId: id, detail: { ...rule, id } }], time.nowMs())
      log.info({ rule: rule.name }, 'applied an approval rule from the configuration')
    }
    const ended = await removeUndeclaredRules(
      tx,
      rules.map(({ rule }) => rule.name),
    )
    const records = ended.map(({ id, name }) => ({ action: 'rule.delete', objectId: id, detail: { name } }))
    await audit(tx, null, records, time.nowMs())
    for (const { name } of ended)
      log.info({ rule: name }, 'removed an approval rule that is no longer in the configuration')
  })
}

const appliedKey = (name: string) => `approvalRule/${name}`

async function declareRule(tx: Tx, rule: ApprovalRule): Promise<string> {
  const { name } = rule
  const { approvalRule } = tx.prisma
  const known =
    (await approvalRule.findUnique({ where: { name } })) ??
    (await approvalRule.findFirst({ where: { declaredAs: name } }))
  const id = known?.id ?? rule.id
  await writeRule(tx, { ...rule, id, declaredAs: name })
  return id
}

/** Removes rules that are no longer declared, even if people renamed them. A rule that is declared again is new. */
async function removeUndeclaredRules(tx: Tx, names: readonly string[]): Promise<{ id: string; name: string }[]> {
  await deleteAppliedSettings(tx, appliedKey(''), names)
  const { approvalRule } = tx.prisma
  const ended = await approvalRule.findMany({ where: { declaredAs: { not: null, notIn: [...names] } } })
  await approvalRule.deleteMany({ where: { id: { in: ended.map(({ id }) => id) } } })
  return ended
}

async function change(domain: Domain, viewer: Viewer, work: (tx: Tx) => Promise<AuditRecord>): Promise<void> {
  await domain.db.serializable(async (tx) => {
    await lockRules(tx)
    await audit(tx, viewer, [await work(tx)], domain.time.nowMs())
  })
}

/** Readers do not wait for this lock. */
const lockRules = (sql: Sql) => sql.query('LOCK TABLE approval_rule IN SHARE ROW EXCLUSIVE MODE')

const completeRule = (given: z.output<typeof newRule>, id: string): ApprovalRule => ({
  id,
  name: given.name,
  condition: given.condition,
  priority: given.priority ?? 0,
  enabled: given.enabled ?? true,
  exemptLevels: given.exemptLevels ?? [],
  requiredLevel: given.requiredLevel ?? 'LEAD',
  expiresAfterSeconds: given.expiresAfterSeconds ?? expiresAfterSecondsDefault,
})

async function readRule({ prisma }: Tx, id: string, expected: ExpectedVersion): Promise<ApprovalRule> {
  const found = await prisma.approvalRule.findUnique({ where: { id }, omit: { createdAt: true, declaredAs: true } })
  if (!found) throw new NotFound(`Approval rule ${id.slice(0, 64)} not found`)
  demandUnchanged('approval rule', found, expected)
  const { version: _, ...rule } = found
  return { ...rule, condition: rule.condition as ApprovalCondition }
}

async function demandName({ prisma }: Tx, { id, name }: ApprovalRule): Promise<void> {
  const other = await prisma.approvalRule.findUnique({ where: { name } })
  if (other && other.id !== id)
    throw InvalidInput.at('name', 'Another approval rule has this name; choose another name')
}

async function writeRule({ prisma }: Tx, rule: ApprovalRule & { declaredAs?: string }): Promise<void> {
  const data = { ...rule, condition: rule.condition as Prisma.InputJsonObject }
  await prisma.approvalRule.upsert({ where: { id: rule.id }, create: data, update: data })
}
