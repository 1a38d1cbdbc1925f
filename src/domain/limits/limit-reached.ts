import type { LimitCode } from '../reason.ts'
import type { Limits, ScopeLimit } from './limits.ts'

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

/** Jobs and GPUs in use by scope, and by scope and model filter (`modelKey`). */
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

export function tallyHoldings(rules: readonly LimitRule[], holdings: readonly Holding[]): Tally {
  const tally = new Map<string, Amount>()
  for (const holding of holdings) addHolding(tally, rules, holding)
  return tally
}

/** Adds `jobs` jobs to the usage; a negative number removes jobs. Returns the scopes in which they count. */
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
export const modelKey = (scope: string, filter: string) => `${filter.length}/${filter}/${scope}`

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

/** Finds the first limit that stops the job whatever devices it gets; null: none. */
export function findLimitReached(ceilings: Ceilings, job: Counted): LimitReached | null {
  const scopes = listScopes(job)
  for (const rule of ceilings.rules) {
    const key = rule.model === null ? scopeUnder(rule, scopes) : undefined
    const limit = key === undefined ? null : checkLimit(ceilings, rule, { key, job, gpus: job.gpu })
    if (limit) return limit
  }
  return null
}

/** Finds the first limit of a GPU model that the job would exceed with devices of these models. */
export const findModelLimitReached = (
  ceilings: Ceilings,
  job: Counted,
  models: readonly string[],
): ModelLimitReached | null => listModelsOver(ceilings, job, (model) => matching(models, model))[0] ?? null

/** Lists the limits of GPU models that the job would exceed with `gpus` GPUs of the model. */
export const listModelsAtLimit = (ceilings: Ceilings, job: Counted, gpus: number): ModelLimitReached[] =>
  listModelsOver(ceilings, job, () => gpus)

/**
 * Lists the number of GPUs of each model filter that the limits still allow for the job. The empty filter matches any
 * model.
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

/** true: the job is exclusive, and the limit counts all GPUs of its nodes, even if it requests no GPU. */
const isOfWholeNodes = ({ on, counts }: LimitRule, { exclusive }: Counted): boolean =>
  exclusive === true && (counts === 'gpus' || on === 'gpu')

export const hasModelLimits = ({ rules }: Pick<Ceilings, 'rules'>): boolean => rules.some(({ model }) => model !== null)

interface ModelLimitReached {
  limit: LimitReached
  model: string
}

const listModelsOver = (ceilings: Ceilings, job: Counted, gpusOf: (model: string) => number): ModelLimitReached[] =>
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

export const clearUsage = (ceilings: Ceilings): Ceilings => ({ ...ceilings, tally: new Map() })
