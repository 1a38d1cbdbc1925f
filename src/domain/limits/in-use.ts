import type { Sql } from '../../platform/tx.ts'
import { demandToRead, seesAll, type Viewer } from '../access.ts'
import type { Domain } from '../domain.ts'
import type { LimitCode } from '../reason.ts'
import { holdingSql } from '../state.ts'
import { type Limits, readLimits, readLimitsVersions, readScopeLimits, type ScopeLimit } from './limits.ts'

/**
 * Usage of running jobs against the limits of their pool, computed from the runs that hold resources. A job counts in
 * its *scopes*: the pool, its user, team, queue and project, and `gpu` for jobs with GPUs. Limits of a GPU model are
 * checked after devices are chosen, and so are all GPU limits of an exclusive job.
 */

export interface Counted {
  userId: string
  userName: string
  teamId: string | null
  team: string | null
  queue: string
  project: string | null
  /** GPUs of all copies together. */
  gpu: number
  /** true: an exclusive job. Until it is placed, `gpu` is the minimum that it will hold. */
  exclusive?: boolean
}

export interface LimitRule {
  code: LimitCode
  /** A scope; with `each`, a prefix of scopes, each of which is counted separately. */
  on: string
  each: boolean
  counts: 'jobs' | 'gpus'
  max: number
  /** The limit counts only GPUs whose model contains this text, in lower case; null: all GPUs. */
  model: string | null
}

export interface Amount {
  jobs: number
  gpus: number
}

/** Counts by scope, and by scope and model filter. */
export type Tally = ReadonlyMap<string, Amount>

export interface Ceilings {
  pool: string
  rules: readonly LimitRule[]
  tally: Tally
}

export interface LimitReached {
  code: LimitCode
  message: string
  scope: string
  limit: number
  used: number
  key: string
  asked: number
}

export function listLimitRules(limits: Limits, scopes: readonly ScopeLimit[]): LimitRule[] {
  const rule = (code: LimitCode, max: number | null, rest: Partial<LimitRule> & { on: string }): LimitRule[] =>
    max === null ? [] : [{ code, max, each: false, counts: 'jobs', model: null, ...rest }]
  const { maxConcurrent, userMaxConcurrent, enableFairShare, teamMaxConcurrent } = limits
  return [
    ...rule(maxConcurrent === 0 ? 'POOL_PAUSED' : 'GLOBAL_LIMIT', maxConcurrent, { on: 'pool' }),
    ...rule('USER_LIMIT', userMaxConcurrent, { on: 'user:', each: true }),
    ...rule('TEAM_LIMIT', enableFairShare ? teamMaxConcurrent : null, { on: 'team:', each: true }),
    ...scopes.flatMap(({ scope, counted, gpuModel, maxJobs, maxGpus }) => {
      if (counted === null) return []
      const rest = { on: counted, model: gpuModel || null }
      return [...rule(`${scope}_LIMIT`, maxJobs, rest), ...rule('GPU_LIMIT', maxGpus, { ...rest, counts: 'gpus' })]
    }),
    ...rule('LOCAL_JOB_LIMIT', limits.localJobMaxConcurrent, { on: 'gpu' }),
    ...rule('LOCAL_GPU_LIMIT', limits.localGpuMaxConcurrent, { on: 'gpu', counts: 'gpus' }),
  ]
}

function listScopes({ userId, teamId, queue, project, gpu }: Counted): string[] {
  return [
    'pool',
    `user:${userId}`,
    ...(teamId === null ? [] : [`team:${teamId}`]),
    `queue:${queue}`,
    ...(project === null ? [] : [`project:${project}`]),
    ...(gpu > 0 ? ['gpu'] : []),
  ]
}

export interface Holding extends Counted {
  jobs: number
  /** Models of the GPUs that each job holds. */
  models: readonly string[]
}

function tallyHoldings(rules: readonly LimitRule[], holdings: readonly Holding[]): Tally {
  const tally = new Map<string, Amount>()
  for (const holding of holdings) addHolding(tally, rules, holding)
  return tally
}

/** A negative number removes jobs. Returns the scopes in which they count. */
export function countHolding(
  tally: Map<string, Amount>,
  rules: readonly LimitRule[],
  holding: Holding,
): readonly string[] {
  if (rules.length === 0) return []
  addHolding(tally, rules, holding)
  return listScopes(holding)
}

function addHolding(tally: Map<string, Amount>, rules: readonly LimitRule[], { jobs, models, ...job }: Holding): void {
  const filters = models.length === 0 ? [] : new Set(rules.flatMap(({ model }) => model ?? []))
  for (const scope of listScopes(job)) {
    grow(tally, scope, { jobs, gpus: jobs * job.gpu })
    for (const filter of filters) {
      const gpus = matching(models, filter)
      if (gpus > 0) grow(tally, modelKey(scope, filter), { jobs, gpus: jobs * gpus })
    }
  }
}

/** Keys begin with a digit, so they never equal a scope. */
const modelKey = (scope: string, filter: string) => `${filter.length}/${filter}/${scope}`

function grow(tally: Map<string, Amount>, key: string, { jobs, gpus }: Amount): void {
  const before = tally.get(key)
  const after = { jobs: (before?.jobs ?? 0) + jobs, gpus: (before?.gpus ?? 0) + gpus }
  if (after.jobs === 0 && after.gpus === 0) tally.delete(key)
  else tally.set(key, after)
}

const matching = (models: readonly string[], filter: string) =>
  models.filter((model) => model.toLowerCase().includes(filter)).length

export const countUsed = ({ tally }: Ceilings, { model, counts }: LimitRule, scope: string): number =>
  tally.get(model === null ? scope : modelKey(scope, model))?.[counts] ?? 0

/** The first limit that stops the job whatever devices it gets; null: none. */
export function limitReached(ceilings: Ceilings, job: Counted): LimitReached | null {
  const scopes = listScopes(job)
  for (const rule of ceilings.rules) {
    const key = rule.model === null ? scopeUnder(rule, scopes) : undefined
    const limit = key === undefined ? null : checkLimit(ceilings, rule, { key, job, gpus: job.gpu })
    if (limit) return limit
  }
  return null
}

/** The first limit of a GPU model that the job would exceed on these devices, with its model filter. */
export const modelLimitReached = (
  ceilings: Ceilings,
  job: Counted,
  models: readonly string[],
): ModelLimitReached | null => overModels(ceilings, job, (model) => matching(models, model))[0] ?? null

/** The limits of GPU models that the job would exceed with this many GPUs of the model. */
export const listFullModels = (ceilings: Ceilings, job: Counted, gpus: number): ModelLimitReached[] =>
  overModels(ceilings, job, () => gpus)

/**
 * The number of GPUs of each model filter that the limits still allow for the job. The empty filter matches any model.
 */
export function listRemainingGpus(ceilings: Ceilings, job: Counted): { model: string; gpus: number }[] {
  return checkedOnDevices(ceilings, job).map(({ rule, key, model }) => {
    const left = rule.max - (ceilings.tally.get(key)?.[rule.counts] ?? 0)
    return { model, gpus: rule.counts === 'gpus' || left < 1 ? Math.max(0, left) : Infinity }
  })
}

interface OnDevices {
  rule: LimitRule
  key: string
  /** Text that the GPU model contains; empty: any model. */
  model: string
}

/** The limits that can be checked only when the devices of the job are known. */
function checkedOnDevices({ rules }: Ceilings, job: Counted): OnDevices[] {
  const scopes = listScopes(job.exclusive ? { ...job, gpu: Math.max(1, job.gpu) } : job)
  return rules.flatMap((rule) => {
    const scope = scopeUnder(rule, scopes)
    if (scope === undefined || (rule.model === null && !isOfWholeNodes(rule, job))) return []
    return [{ rule, key: rule.model === null ? scope : modelKey(scope, rule.model), model: rule.model ?? '' }]
  })
}

/** true: the limit counts all GPUs of the nodes of an exclusive job, even if it requests no GPU. */
const isOfWholeNodes = ({ on, counts }: LimitRule, { exclusive }: Counted): boolean =>
  exclusive === true && (counts === 'gpus' || on === 'gpu')

export const hasModelLimits = ({ rules }: Pick<Ceilings, 'rules'>): boolean => rules.some(({ model }) => model !== null)

interface ModelLimitReached {
  limit: LimitReached
  model: string
}

const overModels = (ceilings: Ceilings, job: Counted, gpusOf: (model: string) => number): ModelLimitReached[] =>
  checkedOnDevices(ceilings, job).flatMap(({ rule, key, model }) => {
    const gpus = gpusOf(model)
    const limit = gpus === 0 ? null : checkLimit(ceilings, rule, { key, job, gpus })
    return limit ? [{ limit, model }] : []
  })

const scopeUnder = ({ on, each }: LimitRule, scopes: readonly string[]) =>
  scopes.find((scope) => (each ? scope.startsWith(on) : scope === on))

/** null: the job stays within the limit with this many GPUs. */
function checkLimit(
  { pool, tally }: Ceilings,
  { code, on, max, counts, model }: LimitRule,
  { key, job, gpus }: { key: string; job: Counted; gpus: number },
): LimitReached | null {
  const asked = counts === 'jobs' ? 1 : gpus
  const used = tally.get(key)?.[counts] ?? 0
  if (asked === 0 || used + asked <= max) return null
  const scope = scopeName(on, pool, job)
  const what = counts === 'jobs' ? 'running jobs' : model === null ? 'GPUs' : `GPUs of model ${model}`
  const message =
    code === 'POOL_PAUSED'
      ? `Pool ${pool} is paused: its limit maxConcurrent is 0`
      : code === 'USER_DISABLED'
        ? `The user ${job.userName} is disabled; an administrator can enable the user, or cancel the job`
        : asked > max
          ? `The limit of ${scope} is ${max} ${what}, and this job alone needs ${asked}`
          : `Limit reached: ${used} of ${max} ${what} for ${scope}`
  return { code, message, scope, limit: max, used, key, asked }
}

/** The scope with the name of the user or team, for messages; counters use ids. */
function scopeName(on: string, pool: string, job: Counted): string {
  if (on.startsWith('user:')) return `user:${job.userName}`
  if (on.startsWith('team:')) return `team:${job.team}`
  return on === 'pool' || on === 'gpu' ? `pool:${pool}` : on
}

export const withoutUsage = (ceilings: Ceilings): Ceilings => ({ ...ceilings, tally: new Map() })

/** The limits of the pool and their counts now. A pool without limits counts nothing. */
export async function readCeilings(sql: Sql, pool: string, singleUser: boolean): Promise<Ceilings> {
  const limits = (await readLimits(sql, [pool], singleUser)).get(pool)
  const rules = limits ? await readLimitRules(sql, { pool, limits, singleUser }) : []
  return { pool, rules, tally: rules.length > 0 ? tallyHoldings(rules, await readHoldings(sql, [pool])) : new Map() }
}

export async function readLimitRules(
  sql: Sql,
  { pool, limits, singleUser }: { pool: string; limits: Limits; singleUser: boolean },
): Promise<LimitRule[]> {
  const disabled = singleUser ? [] : await readDisabled(sql, pool)
  return [...disabled.map(disabledRule), ...listLimitRules(limits, await readScopeLimits(sql, [pool]))]
}

const disabledRule = (userId: string): LimitRule => ({
  code: 'USER_DISABLED',
  on: `user:${userId}`,
  each: false,
  counts: 'jobs',
  max: 0,
  model: null,
})

/** The disabled users who have waiting jobs in the pool, or jobs that may wait again. */
async function readDisabled(sql: Sql, pool: string): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `SELECT u.id FROM "user" u WHERE u.disabled AND EXISTS (SELECT FROM lane l WHERE l.pool = $1 AND l.user_id = u.id)
     ORDER BY u.id`,
    [pool],
    'disabled_users',
  )
  return rows.map(({ id }) => id)
}

const readHoldings = (sql: Sql, pools: readonly string[]): Promise<(Holding & { pool: string })[]> =>
  sql.query<Holding & { pool: string }>(holdingsSql, [pools], 'holdings')

/** Groups equal runs into one row with their number, so there are few rows for any number of runs. */
const holdingsSql = `
SELECT h.pool, h.user_id AS "userId", u.name AS "userName", h.team_id AS "teamId", t.name AS team, h.queue, h.project, h.gpu,
  h.models, h.jobs
FROM (
  SELECT r.pool, j.user_id, j.team_id, j.queue, j.project, g.gpu, m.models, count(*) AS jobs
  FROM run r JOIN job j ON j.id = r.job_id
  CROSS JOIN LATERAL (SELECT CASE WHEN j.gpu_most IS NULL THEN j.gpu ELSE greatest(j.gpu,
    (SELECT count(*) FROM held_device h WHERE h.run_id = r.id)::int) END AS gpu) g
  CROSS JOIN LATERAL (SELECT coalesce(array_agg(d.model ORDER BY d.model), '{}') AS models
    FROM device_claim c JOIN device d ON d.node_id = c.node_id AND d.device = c.device WHERE c.run_id = r.id) m
  WHERE r.pool = ANY($1::text[]) AND r.state IN ${holdingSql}
  GROUP BY 1, 2, 3, 4, 5, 6, 7
) h JOIN "user" u ON u.id = h.user_id LEFT JOIN team t ON t.id = h.team_id`

export interface ScopeInUse extends ScopeLimit {
  jobsInUse: number
  gpusInUse: number
}

export interface LimitsInUse extends Limits {
  pool: string
  version: number
  scopes: ScopeInUse[]
}

/** Without pools that do not exist, and without scopes that the viewer may not see. */
export async function readLimitsInUse(
  { db: { sql }, singleUser }: Domain,
  viewer: Viewer,
  pools: readonly string[],
): Promise<ReadonlyMap<string, LimitsInUse>> {
  demandToRead(viewer, 'job.view.own')
  const [limits, versions, scopes] = await Promise.all([
    readLimits(sql, pools, singleUser),
    readLimitsVersions(sql, pools),
    readScopeLimits(sql, pools),
  ])
  const limited = new Set(scopes.map(({ pool }) => pool))
  const holdings = limited.size > 0 ? await readHoldings(sql, [...limited]) : []
  const visible = Map.groupBy(await filterVisible(sql, viewer, scopes), ({ pool }) => pool)
  const inUse = [...limits].map(([pool, own]) => {
    const rules = listLimitRules(
      own,
      scopes.filter((each) => each.pool === pool),
    )
    const tally = tallyHoldings(
      rules,
      holdings.filter((each) => each.pool === pool),
    )
    const shown = (visible.get(pool) ?? []).map((limit) => addUse(limit, tally))
    return { pool, ...own, version: versions.get(pool) ?? 1, scopes: shown }
  })
  return new Map(inUse.map((each) => [each.pool, each]))
}

function addUse(limit: ScopeLimit, tally: Tally): ScopeInUse {
  const { counted, gpuModel } = limit
  const used = tally.get(counted === null || gpuModel === '' ? (counted ?? '') : modelKey(counted, gpuModel))
  return { ...limit, jobsInUse: used?.jobs ?? 0, gpusInUse: used?.gpus ?? 0 }
}

/** Removes the limits of other users, teams and projects unless the viewer may see all jobs. */
async function filterVisible<Limit extends ScopeLimit>(
  sql: Sql,
  viewer: Viewer,
  all: readonly Limit[],
): Promise<readonly Limit[]> {
  if (seesAll(viewer) || viewer.granted.has('limits.write') || all.length === 0) return all
  const own = await sql.query<{ scope: string; name: string }>(ownScopesSql, [viewer.userId])
  const known = new Set(own.map(({ scope, name }) => `${scope} ${name}`))
  return all.filter(({ scope, name }) => scope === 'QUEUE' || known.has(`${scope} ${name}`))
}

const ownScopesSql = `
SELECT 'USER' AS scope, name FROM "user" WHERE id = $1
UNION ALL SELECT 'TEAM', t.name FROM team_member m JOIN team t ON t.id = m.team_id WHERE m.user_id = $1
UNION SELECT 'PROJECT', project FROM job WHERE user_id = $1 AND NOT log_closed AND project IS NOT NULL`
