import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { dependencyMetSql } from '../jobs/dependencies.ts'
import { isLedSql } from '../leadership.ts'
import { readCeilings } from '../limits/in-use.ts'
import { type Ceilings, type Counted, findLimitReached } from '../limits/limit-reached.ts'
import { makeLimitReason, makeNoCapacityReason, makeReason, type Reason } from '../reason.ts'
import { describeShape, type Shape } from '../shape.ts'
import { computeFits, type Fit } from './fit.ts'
import { type Gate, type GateFacts, listClosedReasons, listGates, windowSql } from './gates.ts'

/**
 * Explains why a job waits: by its closed gates, else by the last finding of the leader about its lane. For jobs that no
 * leader has considered yet, the reason is computed from the tables.
 */

export interface WaitingFacts {
  /** The first reason is the main one. */
  reasons: Reason[]
  gates: Gate[]
  holdId: string | null
  lastConsideredAt: Date | null
}

interface WaitingRow extends Counted, GateFacts {
  id: string
  pool: string
  shape: Shape
  laneReason: Reason | null
  laneAt: Date | null
  hold: { id: string; kind: 'PREEMPTION' | 'PLANNED' } | null
  led: boolean
}

export async function explainWaiting(
  domain: Domain,
  jobIds: readonly string[],
): Promise<ReadonlyMap<string, WaitingFacts>> {
  const { sql } = domain.db
  const rows = await sql.query<WaitingRow>(waitingSql, [jobIds], 'waiting_of')
  const blocked = rows.length < jobIds.length ? await readBlocked(sql, jobIds) : []
  const known = new Map(rows.map((row) => [row.id, reasonsOf(row)]))
  const unknown = rows.filter(({ id }) => known.get(id)?.length === 0)
  const judged = unknown.length > 0 ? await computeReasons(domain, unknown) : new Map<string, Reason>()
  return new Map([
    ...blocked,
    ...rows.map((row) => {
      const reasons = known.get(row.id) ?? []
      const own = judged.get(row.id)
      return [row.id, { ...standing(row), reasons: own ? [own] : reasons }] as const
    }),
  ])
}

async function readBlocked(sql: Sql, jobIds: readonly string[]): Promise<(readonly [string, WaitingFacts])[]> {
  const rows = await sql.query<{ id: string; info: string | null }>(
    `SELECT id, state_info AS info FROM job WHERE id = ANY($1::text[]) AND state = 'BLOCKED'`,
    [jobIds],
    'blocked_among',
  )
  return rows.map(({ id, info }) => {
    const gate = { code: 'APPROVAL', open: false, detail: info, opensAt: null } as const
    const reason = makeReason('APPROVAL_PENDING', info ?? 'Waiting for approval')
    return [id, { reasons: [reason], gates: [gate], holdId: null, lastConsideredAt: null }]
  })
}

function standing(row: WaitingRow): Omit<WaitingFacts, 'reasons'> {
  return { gates: listGates(row), holdId: row.hold?.id ?? null, lastConsideredAt: row.laneAt }
}

/** Returns stored reasons; empty: a leader has not considered the job yet. */
function reasonsOf(row: WaitingRow): Reason[] {
  const closed = listClosedReasons(listGates(row))
  // Without a leader, its last findings may be outdated.
  if (!row.led) return closed
  return [
    ...closed,
    ...(row.hold?.kind === 'PREEMPTION' ? [waitsForVictims] : []),
    ...(row.laneReason ? [row.laneReason] : []),
  ]
}

const waitsForVictims = makeReason(
  'WAITING_FOR_PREEMPTION',
  'Waiting for preempted jobs to end; their resources are held for this job',
)

async function computeReasons(domain: Domain, rows: readonly WaitingRow[]): Promise<ReadonlyMap<string, Reason>> {
  const { db, singleUser } = domain
  const pools = [...new Set(rows.map(({ pool }) => pool))]
  const [fits, ...ceilings] = await Promise.all([
    computeFits(
      domain,
      rows.map(({ id }) => id),
    ),
    ...pools.map((pool) => readCeilings(db.sql, pool, singleUser)),
  ])
  const byPool = new Map(ceilings.map((each) => [each.pool, each]))
  return new Map(rows.map((row) => [row.id, computeReason(row, fits.get(row.id), byPool.get(row.pool))]))
}

function computeReason(row: WaitingRow, fit?: Fit, ceilings?: Ceilings): Reason {
  const asks = describeShape(row.shape)
  if (fit?.never?.code === 'UNSATISFIABLE') return fit.never
  const held = ceilings && findLimitReached(ceilings, row)
  if (!held && fit?.never) return fit.never
  if (!row.led)
    return held ? makeLimitReason(held) : makeReason('NO_CAPACITY', `Pool ${row.pool} has no scheduler right now`)
  if (held) return makeLimitReason(held)
  if (!fit?.freeNow) return makeNoCapacityReason(asks)
  return makeReason('NO_CAPACITY', 'Waiting for the next scheduling pass')
}

const waitingSql = `
SELECT j.id, j.pool, l.shape, q.eligible_at AS "eligibleAt", j.not_before AS "notBefore", berth_now() AS now,
  CASE WHEN j.state = 'QUEUED' THEN j.state_info END AS "lastInfo",
  j.user_id AS "userId", u.name AS "userName", j.team_id AS "teamId", t.name AS team, j.queue, j.project, j.gpu,
  (SELECT a.decided_at FROM approval a WHERE a.job_id = j.id AND a.status = 'APPROVED') AS "approvedAt",
  j.spec->'dependsOn' <> '[]' AS depends,
  (SELECT o.id FROM dependency d JOIN job o ON o.id = d.on_job_id WHERE d.job_id = j.id AND NOT ${dependencyMetSql}
    ORDER BY d.position LIMIT 1) AS "openDependency",
  ${windowSql('l.reservation_id')} AS reservation,
  v.reason AS "laneReason", nullif(v.considered_at, to_timestamp(0)) AS "laneAt",
  (SELECT jsonb_build_object('id', h.id, 'kind', h.kind) FROM hold h WHERE h.job_id = j.id) AS hold,
  ${isLedSql('j.pool')} AS led
FROM queue_entry q JOIN job j ON j.id = q.job_id JOIN lane l ON l.id = q.lane_id JOIN "user" u ON u.id = j.user_id
LEFT JOIN team t ON t.id = j.team_id LEFT JOIN lane_view v ON v.lane_id = q.lane_id
WHERE q.job_id = ANY($1::text[])`
