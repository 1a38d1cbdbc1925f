import { z } from 'zod'
import { isUnavailable, type Sql, type Tx, Unavailable } from '../../platform/tx.ts'
import { demand, userLevels, type Viewer } from '../access.ts'
import { accountForm, accountRule, toUserAccount } from '../accounts.ts'
import { lockAppliedSettings, storeAppliedSetting } from '../applied.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, NotFound, Refusal } from '../errors.ts'
import { newId } from '../ids.ts'
import { capitalise, parseInput } from '../parse.ts'
import { withSubmissionsLocked } from '../submission-lock.ts'
import { demandUnchanged, type Target, versionInput } from '../versions.ts'
import { listSubjects, type Payer, type QuotaRule, quotaActions, quotaScopes } from './quota-rules.ts'
import { isCost, quotaTypes } from './quota-types.ts'

/** Stored quotas. A change takes the submission lock, so it applies to every submission after its commit. */

export interface Quota extends QuotaRule {
  id: string
  version: number
  createdAt: Date
}

export function readVisibleQuotas(sql: Sql, viewer: Viewer, ids: readonly string[]): Promise<Quota[]> {
  const values: unknown[] = []
  const bind = (value: unknown) => `$${values.push(value)}`
  return sql.query<Quota>(
    `SELECT q.id, q.type::text AS type, q.action::text AS action, q.scope::text AS scope, q.key, q."limit",
       q.version, q.created_at AS "createdAt"
     FROM quota q WHERE q.id = ANY(${bind(ids)}::text[]) AND (${quotasVisibleTo(viewer, 'q', bind)})`,
    values,
  )
}

/** SQL condition on a table alias: the quota may apply to the viewer. */
export function quotasVisibleTo(viewer: Viewer, alias: string, bind: (value: unknown) => string): string {
  if (viewer.permissions.has('job.view.all') || viewer.granted.has('quota.write')) return 'TRUE'
  const [name, id, level] = [bind(viewer.userName), bind(viewer.userId), bind(viewer.level)]
  const own = bind(toUserAccount(viewer.userName))
  return `CASE ${alias}.scope WHEN 'GLOBAL' THEN TRUE WHEN 'LEVEL' THEN ${alias}.key = ${level}
    WHEN 'USER' THEN ${alias}.key = ${name}
    WHEN 'TEAM' THEN ${alias}.key IN (SELECT t.name FROM team t JOIN team_member m ON m.team_id = t.id WHERE m.user_id = ${id})
    ELSE ${alias}.key = ${own} OR ${alias}.key IN
      (SELECT t.account FROM team t JOIN team_member m ON m.team_id = t.id WHERE m.user_id = ${id}) END`
}

/** If quotas cannot be read, refuses submissions with Unavailable, so that callers retry. */
export async function refuseIfUnreadable<T>({ log }: Domain, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Refusal || isUnavailable(error)) throw error
    log.error({ err: error }, 'cannot read quotas; refusing submissions')
    throw new Unavailable('The quotas cannot be read right now', { cause: error })
  }
}

export async function readQuotasFor(sql: Sql, payers: readonly Payer[]): Promise<QuotaRule[]> {
  if (payers.length === 0) return []
  const keys = new Set(
    payers.flatMap((payer) => listSubjects(payer).map(({ kind, name }) => `${kind.toUpperCase()}/${name}`)),
  )
  return sql.query<QuotaRule>(
    `SELECT type::text AS type, action::text AS action, scope::text AS scope, key, "limit" FROM quota
     WHERE scope IN ('GLOBAL', 'LEVEL')
       OR (scope, key) IN (SELECT split_part(k, '/', 1)::quota_scope, substr(k, strpos(k, '/') + 1)
                           FROM jsonb_array_elements_text($1::text::jsonb) AS k)`,
    [JSON.stringify([...keys])],
    'quotas_of',
  )
}

const limit = z.number().min(0, 'must not be negative').max(1e15, 'must be at most 10¹⁵')

const createInput = z.strictObject({
  type: z.enum(quotaTypes),
  action: z.enum(quotaActions),
  scope: z.enum(quotaScopes),
  key: z.string().min(1, 'must not be empty').max(255, 'must have at most 255 characters').nullish(),
  limit,
})

const updateInput = z.strictObject({
  id: z.string(),
  action: z.enum(quotaActions).nullish(),
  limit: limit.nullish(),
  expectedVersion: versionInput,
})

/** `path`: the path of the quota in the configuration, where the name of the scope is `key`. */
function demandValidQuota({ type, scope, key, limit: value }: QuotaRule, path: readonly string[] = []): void {
  const named = path.length > 0 ? 'key' : 'scope'
  const refuse = (field: string, message: string) => InvalidInput.at([...path, field].join('.'), message)
  if (scope === 'GLOBAL' && key !== null) throw refuse(named, 'Must be omitted: a GLOBAL quota applies to all users')
  if (scope !== 'GLOBAL' && key === null) throw refuse(named, `Must name the ${scope.toLowerCase()} that it limits`)
  if (scope === 'LEVEL' && !userLevels.some((level) => level === key))
    throw refuse(named, `Must be ${userLevels.join(', ')}`)
  if (scope === 'ACCOUNT' && !accountForm.test(key ?? '')) throw refuse(named, capitalise(accountRule))
  if (!isCost({ type }) && !Number.isInteger(value)) throw refuse('limit', 'Must be a whole number')
}

export async function createQuota(domain: Domain, viewer: Viewer, raw: unknown): Promise<string> {
  demand(viewer, 'quota.write')
  const { key = null, ...rest } = parseInput(createInput, raw)
  const rule: QuotaRule = { ...rest, key }
  demandValidQuota(rule)
  return withSubmissionsLocked(domain, async (tx) => {
    await demandScopeExists(tx, rule)
    const id = newId('quota', domain.time.nowMs())
    const { count } = await tx.prisma.quota.createMany({ data: { ...rule, id }, skipDuplicates: true })
    if (count === 0) throw duplicateQuota(rule)
    await audit(tx, viewer, [{ action: 'quota.create', objectId: id, detail: { ...rule } }], domain.time.nowMs())
    return id
  })
}

const duplicateQuota = ({ type, action, scope }: QuotaRule) =>
  InvalidInput.at('type', `A ${scope} ${type} quota with action ${action} exists already; update that quota`)

/** Refuses unknown levels, users and teams, for which a quota would have no effect. Accounts are free text. */
async function demandScopeExists({ prisma }: Tx, { scope, key }: QuotaRule): Promise<void> {
  if (scope !== 'USER' && scope !== 'TEAM') return
  const where = { name: key ?? '' }
  const found = await (scope === 'USER' ? prisma.user.count({ where }) : prisma.team.count({ where }))
  if (found === 0) throw new NotFound(`The ${scope.toLowerCase()} ${key?.slice(0, 64)} does not exist`)
}

export async function updateQuota(domain: Domain, viewer: Viewer, raw: unknown): Promise<string> {
  demand(viewer, 'quota.write')
  const change = parseInput(updateInput, raw)
  return withSubmissionsLocked(domain, async (tx) => {
    const { quota } = tx.prisma
    const { id, version, ...before } = await readQuota(tx, change.id)
    demandUnchanged('quota', { version }, change.expectedVersion)
    const detail = { action: change.action ?? before.action, limit: change.limit ?? before.limit }
    const rule = { ...before, ...detail }
    demandValidQuota(rule)
    const { limit: _, ...kind } = rule
    if (await quota.findFirst({ where: { ...kind, id: { not: id } } })) throw duplicateQuota(rule)
    await quota.update({ where: { id }, data: detail })
    await audit(tx, viewer, [{ action: 'quota.update', objectId: change.id, detail }], domain.time.nowMs())
    return change.id
  })
}

/** Moves the ceilings of a team to its new name; removes ceilings that were stored under the new name. */
export async function renameTeamQuotas({ prisma }: Tx, before: string, name: string): Promise<void> {
  if (before === name) return
  await prisma.quota.deleteMany({ where: { scope: 'TEAM', key: name } })
  await prisma.quota.updateMany({ where: { scope: 'TEAM', key: before }, data: { key: name } })
}

export async function deleteQuota(
  domain: Domain,
  viewer: Viewer,
  { id, expectedVersion }: Target,
): Promise<{ id: string }> {
  demand(viewer, 'quota.write')
  await withSubmissionsLocked(domain, async (tx) => {
    const { id: _, version, ...detail } = await readQuota(tx, id)
    demandUnchanged('quota', { version }, expectedVersion)
    await tx.prisma.quota.delete({ where: { id } })
    await audit(tx, viewer, [{ action: 'quota.delete', objectId: id, detail }], domain.time.nowMs())
  })
  return { id }
}

const ruleFields = { id: true, type: true, action: true, scope: true, key: true, limit: true } as const

async function readQuota({ prisma }: Tx, id: string): Promise<QuotaRule & { id: string; version: number }> {
  const row = await prisma.quota.findUnique({ where: { id }, select: { ...ruleFields, version: true } })
  if (!row) throw new NotFound(`Quota ${id.slice(0, 64)} not found`)
  return row
}

/** Applies the quotas of the configuration. Quotas that people created stay. */
export async function applyQuotas(domain: Domain, declared: readonly QuotaRule[]): Promise<void> {
  for (const [index, rule] of declared.entries()) demandValidQuota(rule, ['quotas', String(index)])
  const { db, time, log } = domain
  await db.serializable(async (tx) => {
    await lockAppliedSettings(tx)
    const applied = await storeAppliedSetting(tx, 'quotas', declared)
    if (!applied) return
    const last = new Map(((applied.last ?? []) as QuotaRule[]).map((rule) => [kindKey(rule), rule.limit]))
    const changed = declared.filter((rule) => last.get(kindKey(rule)) !== rule.limit)
    for (const rule of changed) await declareQuota(tx, rule, time.nowMs())
    const ended = await removeUndeclaredQuotas(tx, declared)
    const records = [
      ...changed.map((rule) => ({ action: 'quota.create', objectId: null, detail: { ...rule } })),
      ...ended.map(({ id, ...rule }) => ({ action: 'quota.delete', objectId: id, detail: { ...rule } })),
    ]
    await audit(tx, null, records, time.nowMs())
    for (const quota of changed) log.info({ quota }, 'applied a quota from the configuration')
    for (const quota of ended) log.info({ quota }, 'removed a quota that is no longer in the configuration')
  })
}

/** Replaces the quota with the same scope, type and action, overwriting changes that people made. */
async function declareQuota({ prisma }: Tx, rule: QuotaRule, nowMs: number): Promise<void> {
  const { limit: _, ...kind } = rule
  const declaredAs = kindKey(rule)
  await prisma.quota.deleteMany({ where: { OR: [{ declaredAs }, kind] } })
  await prisma.quota.create({ data: { ...rule, id: newId('quota', nowMs), declaredAs } })
}

async function removeUndeclaredQuotas(
  { prisma }: Tx,
  declared: readonly QuotaRule[],
): Promise<(QuotaRule & { id: string })[]> {
  const where = { declaredAs: { not: null, notIn: declared.map(kindKey) } }
  const ended = await prisma.quota.findMany({ where, select: ruleFields })
  await prisma.quota.deleteMany({ where })
  return ended
}

const kindKey = ({ type, action, scope, key }: QuotaRule) => JSON.stringify([type, action, scope, key])
