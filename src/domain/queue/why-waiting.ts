import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { dependencyMetSql } from '../jobs/dependencies.ts'
import { interactiveBand } from '../lanes.ts'
import { isLedSql } from '../leadership.ts'
import { type Ceilings, type Counted, limitReached, readCeilings } from '../limits/in-use.ts'
import { blockedBy, limitedBy, makeReason, noCapacity, type Reason } from '../reason.ts'
import { inWords, type Shape } from '../shape.ts'
import { computeFits, type Fit } from './fit.ts'
import { closedReasons, type Gate, type GateFacts, listGates, windowSql } from './gates.ts'

/**
 * Explains why a job waits: by its closed gates, else by the last finding of the leader about its lane or about the
 * head of its class, which also applies to the jobs behind. For jobs that no leader has considered yet, the reason is
 * computed from the tables.
 */

export interface WaitingFacts {
  /** The first reason is the one that counts. */
  reasons: Reason[]
  gates: Gate[]
  holdId: string | null
  lastConsideredAt: Date | null
}

interface WaitingRow extends Counted, GateFacts {
  id: string
  pool: string
  shape: Shape
  interactive: boolean
  seen: boolean
  laneReason: Reason | null
  laneAt: Date | null
  blockedBy: string | null
  classReason: Reason | null
  classAt: Date | null
  hold: { id: string; kind: 'PREEMPTION' | 'DRAIN'; expectedAt: string | null } | null
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
  const judged = unknown.length > 0 ? await judge(domain, unknown) : new Map<string, Reason>()
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
  const at = row.laneReason || !row.classAt ? row.laneAt : row.classAt
  return { gates: listGates(row), holdId: row.hold?.id ?? null, lastConsideredAt: row.seen ? at : null }
}

/** Empty: a leader has not considered the job yet. */
function reasonsOf(row: WaitingRow): Reason[] {
  const closed = closedReasons(listGates(row))
  // Without a leader the last findings may be outdated, such as a limit, a node or the job ahead.
  if (!row.led) return closed
  const own = [
    ...(row.hold?.kind === 'PREEMPTION' ? [waitsForVictims] : []),
    ...(row.laneReason ? [row.laneReason] : []),
  ]
  if (closed.length > 0 || own.length > 0) return [...closed, ...own]
  // A job behind another may be unable to run at all, which the finding about the head does not show.
  return row.seen && row.blockedBy === row.id && row.classReason ? [row.classReason] : []
}

const waitsForVictims = makeReason(
  'WAITING_FOR_PREEMPTION',
  'Waiting for preempted jobs to end; their resources are held for this job',
)

async function judge(domain: Domain, rows: readonly WaitingRow[]): Promise<ReadonlyMap<string, Reason>> {
  const { db, singleUser } = domain
  const pools = [...new Set(rows.map(({ pool }) => pool))]
  const [fits, heads, ...ceilings] = await Promise.all([
    computeFits(
      domain,
      rows.map(({ id }) => id),
    ),
    firstAhead(db.sql, rows),
    ...pools.map((pool) => readCeilings(db.sql, pool, singleUser)),
  ])
  const byPool = new Map(ceilings.map((each) => [each.pool, each]))
  return new Map(rows.map((row) => [row.id, judgeOne(row, fits.get(row.id), byPool.get(row.pool), heads.get(row.id))]))
}

function judgeOne(row: WaitingRow, fit?: Fit, ceilings?: Ceilings, ahead?: string): Reason {
  const asks = inWords(row.shape)
  if (fit?.never?.code === 'UNSATISFIABLE') return fit.never
  const held = ceilings && limitReached(ceilings, row)
  if (!held && fit?.never) return fit.never
  if (!row.led) return held ? limitedBy(held) : makeReason('NO_CAPACITY', `Pool ${row.pool} has no scheduler right now`)
  if (row.seen && row.blockedBy && row.blockedBy !== row.id) return blockedBy(row.blockedBy)
  if (held) return limitedBy(held)
  if (row.blockedBy && row.blockedBy !== row.id && !row.interactive) return blockedBy(row.blockedBy)
  if (ahead) return blockedBy(ahead)
  if (!fit?.freeNow) return noCapacity(asks)
  return makeReason('NO_CAPACITY', 'Waiting for the next scheduling pass')
}

/** The first job ahead that has open gates and no known reason of its own to wait. */
async function firstAhead(sql: Sql, rows: readonly WaitingRow[]): Promise<ReadonlyMap<string, string>> {
  const batch = rows.filter(({ interactive, reservation }) => !interactive && !reservation)
  if (batch.length === 0) return new Map()
  const found = await sql.query<{ id: string; ahead: string }>(aheadSql, [batch.map(({ id }) => id), lookMax])
  return new Map(found.map(({ id, ahead }) => [id, ahead]))
}

const lookMax = 200

const aheadSql = `
SELECT q.job_id AS id, a.job_id AS ahead FROM queue_entry q CROSS JOIN LATERAL (
  SELECT f.job_id FROM (
    SELECT e.job_id, e.lane_id, e.band, e.bid, e.sequence FROM queue_entry e
    WHERE e.pool = q.pool AND e.band < ${interactiveBand} AND e.open
    ORDER BY e.band DESC, e.bid DESC, e.sequence LIMIT $2
  ) f LEFT JOIN lane_view v ON v.lane_id = f.lane_id
  WHERE v.reason IS NULL AND (f.band > q.band OR (f.band = q.band AND (f.bid > q.bid OR (f.bid = q.bid AND f.sequence < q.sequence))))
  ORDER BY f.band DESC, f.bid DESC, f.sequence LIMIT 1
) a WHERE q.job_id = ANY($1::text[])`

const waitingSql = `
SELECT j.id, j.pool, l.shape, l.interactive, q.eligible_at AS "eligibleAt", j.not_before AS "notBefore", berth_now() AS now,
  CASE WHEN j.state = 'QUEUED' THEN j.state_info END AS "lastInfo",
  j.user_id AS "userId", u.name AS "userName", j.team_id AS "teamId", t.name AS team, j.queue, j.project, j.gpu,
  (SELECT a.decided_at FROM approval a WHERE a.job_id = j.id AND a.status = 'APPROVED') AS "approvedAt",
  j.spec->'dependsOn' <> '[]' AS depends,
  (SELECT o.id FROM dependency d JOIN job o ON o.id = d.on_job_id WHERE d.job_id = j.id AND NOT ${dependencyMetSql}
    ORDER BY d.position LIMIT 1) AS "openDependency",
  ${windowSql('l.reservation_id')} AS reservation,
  v.lane_id IS NOT NULL AS seen, v.reason AS "laneReason", v.considered_at AS "laneAt",
  c.blocked_by AS "blockedBy", c.reason AS "classReason", c.considered_at AS "classAt",
  (SELECT jsonb_build_object('id', h.id, 'kind', h.kind, 'expectedAt', h.expected_at) FROM hold h WHERE h.job_id = j.id) AS hold,
  ${isLedSql('j.pool')} AS led
FROM queue_entry q JOIN job j ON j.id = q.job_id JOIN lane l ON l.id = q.lane_id JOIN "user" u ON u.id = j.user_id
LEFT JOIN team t ON t.id = j.team_id LEFT JOIN lane_view v ON v.lane_id = q.lane_id
LEFT JOIN class_view c ON c.pool = q.pool AND l.reservation_id IS NULL AND c.class = CASE WHEN l.interactive THEN 'INTERACTIVE'
  ELSE CASE j.gpu WHEN 0 THEN 'CPU' WHEN 1 THEN 'GPU1' ELSE 'GPUN' END || CASE WHEN l.preemptable THEN '_PREEMPTABLE' ELSE '' END END
WHERE q.job_id = ANY($1::text[])`
