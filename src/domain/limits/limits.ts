import { z } from 'zod'
import { given } from '../../platform/models.ts'
import type { Sql, Tx } from '../../platform/tx.ts'
import { demand, type Viewer } from '../access.ts'
import { storeAppliedSetting } from '../applied.ts'
import { audit } from '../audit/audit.ts'
import { announceLimits } from '../changes.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { isDelegated, isOneMachine } from '../executors.ts'
import { parseInput } from '../parse.ts'
import { demandUnchanged, type ExpectedVersion, versionInput } from '../versions.ts'

/**
 * Limits on the jobs that run in a pool at the same time: a number, null (unlimited) or unset. In multi-user mode an
 * unset limit has the default of its pool; in single-user mode it is unlimited. Lowering a limit does not end runs; it
 * delays later starts. Changes of limits and starts lock the row of the pool, so a limit applies as soon as it is
 * committed.
 */

export interface Limits {
  maxConcurrent: number | null
  userMaxConcurrent: number | null
  teamMaxConcurrent: number | null
  enableFairShare: boolean
  localGpuMaxConcurrent: number | null
  localJobMaxConcurrent: number | null
  /** This limit and the next are checked at submission. */
  userMaxActive: number | null
  userMaxBlocked: number | null
  starvationThresholdSeconds: number | null
}

/** A change of limits; a missing key keeps its value. */
export type LimitChange = { [Name in keyof Limits]?: Limits[Name] | undefined }

const unlimited: Limits = {
  maxConcurrent: null,
  userMaxConcurrent: null,
  teamMaxConcurrent: null,
  enableFairShare: false,
  localGpuMaxConcurrent: null,
  localJobMaxConcurrent: null,
  userMaxActive: null,
  userMaxBlocked: null,
  starvationThresholdSeconds: 3_600,
}

interface LimitsRow {
  pool: string
  policy: 'PRIORITY' | 'FAIR_SHARE'
  executors: string[]
  values: Partial<Limits>
}

function defaultLimits({ policy, executors }: LimitsRow): Limits {
  const shared: Limits = { ...unlimited, userMaxBlocked: 100 }
  if (policy === 'FAIR_SHARE') return shared
  const localJobMaxConcurrent = isOneMachine(executors) ? 1 : null
  return { ...shared, maxConcurrent: 5, userMaxConcurrent: 2, teamMaxConcurrent: 10, localJobMaxConcurrent }
}

export async function readLimits(
  sql: Sql,
  pools: readonly string[],
  singleUser: boolean,
): Promise<ReadonlyMap<string, Limits>> {
  const rows = await sql.query<LimitsRow>(limitsSql, [JSON.stringify(pools)], 'limits_of')
  return new Map(rows.map((row) => [row.pool, { ...(singleUser ? unlimited : defaultLimits(row)), ...row.values }]))
}

const limitsSql = `
SELECT p.name AS pool, p.policy::text AS policy, p.executors, coalesce(l."values", '{}') AS "values"
FROM pool p LEFT JOIN pool_limits l ON l.pool = p.name
WHERE p.name IN (SELECT jsonb_array_elements_text($1::text::jsonb))`

/** Serialises the starts and limit changes of a pool. Rows with a foreign key to the pool can still be written. */
export const lockPool = (sql: Sql, pool: string | null): Promise<string> =>
  readPoolName(sql, pool, `${poolSql} FOR NO KEY UPDATE`, 'lock_pool')

/** Returns the name of the pool; null: the pool of the default queue. */
export const findPool = (sql: Sql, pool: string | null): Promise<string> =>
  readPoolName(sql, pool, poolSql, 'pool_named')

async function readPoolName(sql: Sql, pool: string | null, text: string, name: string): Promise<string> {
  const [row] = await sql.query<{ name: string }>(text, [pool], name)
  if (row) return row.name
  throw new NotFound(pool === null ? 'No queue is the default; name a pool' : `Pool ${pool.slice(0, 64)} not found`)
}

const poolSql = 'SELECT name FROM pool WHERE name = coalesce($1, (SELECT pool FROM submission_queue WHERE is_default))'

const countMax = 1_000_000_000
const count = z.int().min(0, 'must not be negative').max(countMax, `must be at most ${countMax}`).nullish()
const yearSeconds = 31_622_400

const limitsInput = z.strictObject({
  pool: z.string().nullish(),
  maxConcurrent: count,
  userMaxConcurrent: count,
  teamMaxConcurrent: count,
  enableFairShare: z.boolean().nullish(),
  localGpuMaxConcurrent: count,
  localJobMaxConcurrent: count,
  userMaxActive: count,
  userMaxBlocked: count,
  starvationThresholdSeconds: z
    .number()
    .positive('must be above 0; null means never')
    .max(yearSeconds, 'must be at most a year')
    .nullish(),
  expectedVersion: versionInput,
})

export async function updateLimits(domain: Domain, viewer: Viewer, raw: unknown): Promise<string> {
  demand(viewer, 'limits.write')
  const { pool: asked, change, expectedVersion } = parseChange(raw)
  const pool = await domain.db.serializable(async (tx) => {
    const name = await lockPool(tx, asked)
    await demandLimitsUnchanged(tx, name, expectedVersion)
    if (Object.keys(change).length === 0) return name
    await writeLimits(tx, name, change)
    await audit(tx, viewer, [auditRecord(name, change)], domain.time.nowMs())
    return name
  })
  domain.wakeups.poke('queue')
  return pool
}

function parseChange(raw: unknown): { pool: string | null; change: LimitChange; expectedVersion: ExpectedVersion } {
  const { pool, expectedVersion, enableFairShare, ...values } = parseInput(limitsInput, raw)
  if (enableFairShare === null) throw InvalidInput.at('enableFairShare', 'Must be true or false')
  return { pool: pool ?? null, expectedVersion, change: given({ ...values, enableFairShare }) }
}

const auditRecord = (pool: string, detail: Record<string, unknown>) => ({
  action: 'limits.update',
  objectId: `pool_${pool}`,
  detail,
})

/** `unset`: names of limits that are reset to their default. */
async function writeLimits(tx: Tx, pool: string, change: LimitChange, unset: readonly string[] = []): Promise<void> {
  const kept = Object.entries(await storedLimits(tx, pool)).filter(([name]) => !unset.includes(name))
  const values: LimitChange = { ...Object.fromEntries(kept), ...change }
  await tx.prisma.poolLimits.upsert({
    where: { poolName: pool },
    create: { poolName: pool, values, version: 2 },
    update: { values },
  })
  await announceLimits(tx, pool)
}

/** Applies the limits of the configuration. A limit that is no longer declared becomes unset. */
export async function applyLimits(tx: Tx, pool: string, declared: LimitChange, nowMs: number): Promise<boolean> {
  const applied = await storeAppliedSetting(tx, `limits/${pool}`, declared)
  const last = (applied?.last ?? {}) as Record<string, unknown>
  if (!applied || (Object.keys(declared).length === 0 && Object.keys(last).length === 0)) return false
  const change = Object.fromEntries(Object.entries(declared).filter(([name, value]) => last[name] !== value))
  await lockPool(tx, pool)
  const values = await storedLimits(tx, pool)
  const unset = Object.keys(last).filter((name) => !(name in declared) && values[name] === last[name])
  await writeLimits(tx, pool, change, unset)
  await audit(tx, null, [auditRecord(pool, { ...change, ...(unset.length > 0 && { unset }) })], nowMs)
  return true
}

async function demandLimitsUnchanged(tx: Tx, pool: string, expected: ExpectedVersion): Promise<void> {
  demandUnchanged('limits of the pool', { version: (await readLimitsVersions(tx, [pool])).get(pool) ?? 1 }, expected)
}

/** Versions of the limits of pools and of their scopes. A pool without stored limits has 1. */
export async function readLimitsVersions(sql: Sql, pools: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const text = `SELECT w.pool, coalesce(l.version, 1) AS version
    FROM unnest($1::text[]) AS w(pool) LEFT JOIN pool_limits l ON l.pool = w.pool`
  const rows = await sql.query<{ pool: string; version: number }>(text, [pools], 'limits_versions')
  return new Map(rows.map(({ pool, version }) => [pool, version]))
}

async function storedLimits({ prisma }: Tx, poolName: string): Promise<Record<string, unknown>> {
  const row = await prisma.poolLimits.findUnique({ where: { poolName } })
  return (row?.values ?? {}) as Record<string, unknown>
}

export const limitScopes = ['QUEUE', 'PROJECT', 'TEAM', 'USER'] as const
export type LimitScope = (typeof limitScopes)[number]

export interface ScopeLimit {
  scope: LimitScope
  name: string
  /** The limit counts only GPUs whose model contains this text, in lower case; empty: all GPUs. */
  gpuModel: string
  maxJobs: number | null
  maxGpus: number | null
  /** The key of the scope in a tally; null: the user or team with this name no longer exists. */
  counted: string | null
}

const scopesMax = 500

export const readScopeLimits = (sql: Sql, pools: readonly string[]): Promise<(ScopeLimit & { pool: string })[]> =>
  sql.query<ScopeLimit & { pool: string }>(scopesSql, [pools], 'scope_limits')

const scopesSql = `
SELECT l.pool, l.scope::text AS scope, l.name, l.gpu_model AS "gpuModel", l.max_jobs AS "maxJobs", l.max_gpus AS "maxGpus",
  CASE l.scope WHEN 'USER' THEN 'user:' || u.id WHEN 'TEAM' THEN 'team:' || t.id
    WHEN 'QUEUE' THEN 'queue:' || l.name ELSE 'project:' || l.name END AS counted
FROM scope_limit l
LEFT JOIN "user" u ON l.scope = 'USER' AND u.name = l.name
LEFT JOIN team t ON l.scope = 'TEAM' AND t.name = l.name
WHERE l.pool = ANY($1::text[]) ORDER BY l.scope, l.name, l.gpu_model`

const scopeInput = z.strictObject({
  pool: z.string().nullish(),
  scope: z.enum(limitScopes),
  name: z.string().min(1, 'must not be empty').max(255, 'must have at most 255 characters'),
  gpuModel: z.string().min(1, 'must not be empty').max(255, 'must have at most 255 characters').nullish(),
  maxJobs: count,
  maxGpus: count,
  expectedVersion: versionInput,
})

/** A number that is left out stays unchanged. Removes the limit if both numbers are null. */
export async function setScopeLimit(domain: Domain, viewer: Viewer, raw: unknown): Promise<string> {
  demand(viewer, 'limits.write')
  const { pool: asked, gpuModel, maxJobs, maxGpus, expectedVersion, ...named } = parseInput(scopeInput, raw)
  const key = { ...named, gpuModel: gpuModel?.toLowerCase() ?? '' }
  const pool = await domain.db.serializable(async (tx) => {
    const name = await lockPool(tx, asked ?? null)
    await demandLimitsUnchanged(tx, name, expectedVersion)
    const before = await tx.prisma.scopeLimit.findUnique({
      where: { poolName_scope_name_gpuModel: { poolName: name, ...key } },
    })
    const limit = {
      ...key,
      maxJobs: maxJobs === undefined ? (before?.maxJobs ?? null) : maxJobs,
      maxGpus: maxGpus === undefined ? (before?.maxGpus ?? null) : maxGpus,
    }
    await demandModels(tx, name, limit)
    await writeScopeLimit(tx, name, limit)
    await writeLimits(tx, name, {})
    await audit(tx, viewer, [{ ...auditRecord(name, limit), action: 'limits.scope' }], domain.time.nowMs())
    return name
  })
  domain.wakeups.poke('queue')
  return pool
}

/** Refuses a model limit where the backend chooses GPUs, because their models are unknown when a run starts. */
async function demandModels(
  { prisma }: Tx,
  poolName: string,
  { gpuModel }: Pick<ScopeLimit, 'gpuModel'>,
): Promise<void> {
  if (gpuModel === '') return
  const pool = await prisma.pool.findUnique({ where: { name: poolName } })
  if (!isDelegated(pool?.executors ?? [])) return
  const message = `The backend of pool ${poolName} chooses the GPUs of a run; limit GPUs of any model, or use another queue for this model`
  throw InvalidInput.at('gpuModel', message)
}

type WrittenScope = Omit<ScopeLimit, 'counted'>

async function writeScopeLimit(tx: Tx, poolName: string, limit: WrittenScope): Promise<void> {
  const { maxJobs, maxGpus, ...named } = limit
  const { scopeLimit } = tx.prisma
  const key = { poolName, ...named }
  if (maxJobs === null && maxGpus === null) {
    await scopeLimit.deleteMany({ where: key })
    return
  }
  await demandScopeExists(tx, limit)
  await scopeLimit.upsert({
    where: { poolName_scope_name_gpuModel: key },
    create: { ...key, maxJobs, maxGpus },
    update: { maxJobs, maxGpus },
  })
  if ((await scopeLimit.count({ where: { poolName } })) > scopesMax)
    throw InvalidInput.at('scope', `A pool can have at most ${scopesMax} scope limits; remove one first`)
}

/** Refuses unknown users and teams, for which a limit would have no effect. Projects are free text. */
async function demandScopeExists({ prisma }: Tx, { scope, name }: Pick<WrittenScope, 'scope' | 'name'>): Promise<void> {
  const where = { name }
  const find = {
    QUEUE: () => prisma.submissionQueue.findUnique({ where }),
    TEAM: () => prisma.team.findUnique({ where }),
    USER: () => prisma.user.findUnique({ where }),
    PROJECT: () => ({ name }),
  } as const satisfies Record<LimitScope, unknown>
  if (!(await find[scope]()))
    throw InvalidInput.at('scope', `The ${scope.toLowerCase()} ${name.slice(0, 64)} does not exist`)
}
