import type { Sql } from '../../platform/tx.ts'
import { demandToRead, seesAll, type Viewer } from '../access.ts'
import type { Domain } from '../domain.ts'
import { holdingSql } from '../state.ts'
import {
  type Ceilings,
  type Holding,
  type LimitRule,
  listLimitRules,
  modelKey,
  type Tally,
  tallyHoldings,
} from './limit-reached.ts'
import { type Limits, readLimits, readLimitsVersions, readScopeLimits, type ScopeLimit } from './limits.ts'

/** Reads the limits of the pool and their usage. The usage of a pool without limits is not read. */
export async function readCeilings(sql: Sql, pool: string, singleUser: boolean): Promise<Ceilings> {
  const limits = (await readLimits(sql, [pool], singleUser)).get(pool)
  const rules = limits ? await readLimitRules(sql, { pool, limits, singleUser }) : []
  return { pool, rules, tally: rules.length > 0 ? tallyHoldings(rules, await readHoldings(sql, [pool])) : new Map() }
}

export async function readLimitRules(
  sql: Sql,
  { pool, limits, singleUser }: { pool: string; limits: Limits; singleUser: boolean },
): Promise<LimitRule[]> {
  const disabled = singleUser ? [] : await readDisabledUserIds(sql, pool)
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

/** Reads the ids of disabled users who have waiting jobs in the pool, or jobs that may wait again. */
async function readDisabledUserIds(sql: Sql, pool: string): Promise<string[]> {
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

/** Omits pools that do not exist, and scopes that the viewer may not see. */
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
