import type { Sql } from '../../platform/tx.ts'
import { singleUserKey } from '../applied.ts'
import { type LaneOf, makeLane } from '../lanes.ts'
import { readCeilings } from '../limits/in-use.ts'
import { type Ceilings, countUsed, type LimitRule } from '../limits/limit-reached.ts'
import { holdingSql } from '../state.ts'

export interface Finding {
  rule: string
  objectId: string
  message: string
}

const poolsMax = 100

/**
 * Finds starts that exceeded a limit. Lowering a limit does not end runs, so more runs than allowed are an error only
 * if a counted run started after the last change of the limits. The order of the two is known from the pool's revision,
 * which starts and changes store under the lock of the pool.
 */
export async function findExceededLimits(sql: Sql): Promise<Finding[]> {
  const broken: { pool: LimitedPool; excess: Excess }[] = []
  for (const pool of await readLimitedPools(sql)) {
    const ceilings = await readCeilings(sql, pool.name, pool.singleUser)
    for (const excess of listExcesses(ceilings))
      if (await hasStartedSince(sql, pool.name, excess)) broken.push({ pool, excess })
  }
  if (broken.length === 0) return []
  // Omits pools whose settings changed during the check.
  const revisions = new Map((await readLimitedPools(sql)).map(({ name, revision }) => [name, revision]))
  const same = broken.filter(({ pool }) => revisions.get(pool.name) === pool.revision)
  return same.map(({ pool, excess }) => toFinding(pool.name, excess))
}

interface LimitedPool {
  name: string
  revision: number
  singleUser: boolean
}

const readLimitedPools = (sql: Sql): Promise<LimitedPool[]> =>
  sql.query<LimitedPool>(
    `SELECT name, revision, coalesce((SELECT value::boolean FROM applied_setting WHERE key = $2), true) AS "singleUser"
     FROM pool ORDER BY name LIMIT $1`,
    [poolsMax, singleUserKey],
  )

interface Excess {
  scope: string
  rule: LimitRule
  used: number
}

function listExcesses(ceilings: Ceilings): Excess[] {
  return ceilings.rules.flatMap((rule) => {
    const scopes = rule.each ? [...ceilings.tally.keys()].filter((key) => key.startsWith(rule.on)) : [rule.on]
    return scopes
      .map((scope) => ({ scope, rule, used: countUsed(ceilings, rule, scope) }))
      .filter(({ used }) => used > rule.max)
  })
}

async function hasStartedSince(sql: Sql, pool: string, { scope, rule }: Excess): Promise<boolean> {
  const [row] = await sql.query<{ since: boolean }>(sinceSql, [pool, scope, rule.counts, rule.model])
  return row?.since ?? false
}

const holdsGpusSql = '(j.gpu > 0 OR EXISTS (SELECT FROM held_device h WHERE h.run_id = r.id))'

const sinceSql = `
SELECT coalesce(bool_or(r.pool_revision >= p.limits_revision), false) AS since
FROM run r JOIN pool p ON p.name = r.pool JOIN job j ON j.id = r.job_id
WHERE r.pool = $1 AND r.state IN ${holdingSql} AND ($3 = 'jobs' OR ${holdsGpusSql})
  AND CASE $2 WHEN 'pool' THEN true WHEN 'gpu' THEN ${holdsGpusSql}
    ELSE $2 IN ('user:' || j.user_id, 'team:' || j.team_id, 'queue:' || j.queue, 'project:' || j.project) END
  AND ($4::text IS NULL OR EXISTS (SELECT FROM device_claim c JOIN device d ON d.node_id = c.node_id AND d.device = c.device
    WHERE c.run_id = r.id AND strpos(lower(d.model), $4) > 0))`

const toFinding = (pool: string, { scope, rule, used }: Excess): Finding => ({
  rule: 'no start exceeds a limit',
  objectId: `pool_${pool}`,
  message: `${rule.code} of ${scope}: ${used} ${rule.counts} of ${rule.max}${rule.model === null ? '' : ` with the model ${rule.model}`}`,
})

const lanesMax = 2_000

/** Checks the newest waiting jobs. */
export async function findWrongLanes(sql: Sql): Promise<Finding[]> {
  const rows = await sql.query<LaneOf & { id: string; laneId: string }>(lanesSql, [lanesMax])
  return rows.flatMap(({ id, laneId, ...job }) => {
    const right = makeLane(job).id
    const message = `in lane ${laneId}, not ${right}`
    return right === laneId ? [] : [{ rule: 'a waiting job is in the lane of its properties', objectId: id, message }]
  })
}

/** A deleted team stays part of the lane. */
const lanesSql = `
SELECT j.id, j.lane_id AS "laneId", j.pool, j.user_id AS "userId", coalesce(j.team_id, l.team_id) AS "teamId",
  coalesce(l.account, j.account) AS account, j.spec,
  j.base_priority AS "basePriority", j.priority_override AS override
FROM job j LEFT JOIN lane l ON l.id = j.lane_id
WHERE j.state IN ('QUEUED', 'BLOCKED') ORDER BY j.created_at DESC, j.id DESC LIMIT $1`
