import type { Sql } from '../../platform/tx.ts'
import { listAgedSteps, sqlTime } from '../ageing.ts'
import { frontsSql, gatesSql, makeAfterKeySql } from './lane-fronts.ts'
import { beginning, type InLine, type LineMoment, readLineMoment, type Stretch, shareSql, toLead } from './line.ts'
import { chunkSize, readTally, type TallyChunk } from './tally.ts'

/**
 * Reads the jobs of one person in the queue of a pool, of which there may be a million. Only the first entries
 * of every lane are read (lane-fronts.ts). Lanes whose entries age are read by steps of ageing; the tally bounds the
 * sequences of a step.
 */

export async function readUserLine(
  sql: Sql,
  { pool, userId }: { pool: string; userId: string },
  { after, limit }: Stretch,
): Promise<InLine[]> {
  const key = after ?? beginning
  // Sends all queries at once, because on a busy machine a round trip costs more than an unnecessary read.
  const [line, found, kinds, chunks] = await Promise.all([
    readLineMoment(sql, pool),
    sql.query<InLine>(wholeLanesSql, [pool, userId, limit, ...key], 'own_whole_lanes'),
    sql.query<Kind>(kindsSql, [pool, userId], 'own_kinds'),
    readTally(sql, pool),
  ])
  if (line?.policy !== 'PRIORITY') return found
  const steps = kinds.flatMap((kind) => stepsOf(kind, chunks, line)).toSorted((a, b) => a.lead - b.lead)
  for (const [lead, alike] of Map.groupBy(steps, ({ lead }) => lead)) {
    if (lead < key[0] || found.length >= limit) continue
    const from = lead === key[0] ? key[2] + 1 : 0
    const rows = JSON.stringify(alike.map((step) => ({ ...step, first: Math.max(step.first, from) })))
    found.push(...(await sql.query<InLine>(stepsSql, [pool, userId, limit - found.length, rows], 'own_steps')))
  }
  return found
}

export async function readOwnLines(sql: Sql, userId: string, limit: number): Promise<InLine[][]> {
  const pools = await sql.query<{ pool: string }>(poolsSql, [userId], 'own_pools')
  return Promise.all(pools.map(({ pool }) => readUserLine(sql, { pool, userId }, { after: null, limit })))
}

const poolsSql = 'SELECT DISTINCT pool FROM lane WHERE user_id = $1 ORDER BY pool'

/** Interactive lanes by bid and, under FAIR_SHARE, all other lanes by share. */
const wholeLanesSql = frontsSql({
  limit: '$3',
  lanes: `SELECT w.id AS lane_id, gate.open, s.lead FROM lane w JOIN pool p ON p.name = w.pool
    LEFT JOIN account_view v ON v.pool = w.pool AND v.account = w.account
    CROSS JOIN LATERAL (SELECT CASE WHEN w.interactive THEN 0 ELSE (${shareSql})::bigint END AS lead) s
    CROSS JOIN ${gatesSql} gate
    WHERE w.pool = $1 AND w.user_id = $2 AND s.lead >= $4::bigint AND (w.interactive OR p.policy = 'FAIR_SHARE')`,
  entries: makeAfterKeySql('$4', '$5', '$6'),
})

interface Kind {
  band: number
  overridden: boolean
}

const kindsSql = `
SELECT DISTINCT priority AS band, overridden FROM lane WHERE pool = $1 AND user_id = $2 AND NOT interactive`

/**
 * Entries of lanes of one kind that have the sort key `lead` now: they began to wait after `since`, and at `until` at
 * the latest.
 */
interface Step extends Kind {
  lead: number
  open: boolean
  since: string
  until: string
  /** Range of the sequences of the entries, excluding `before`. */
  first: number
  before: number
}

function stepsOf(kind: Kind, chunks: readonly TallyChunk[], moment: LineMoment): Step[] {
  const { band } = kind
  const ofBand = chunks.filter((chunk) => chunk.band === band)
  const step = (lead: number, open: boolean, [since, until]: readonly [number, number]): Step[] => {
    const places = ofBand
      .filter((c) => c.open === open && (c.sinceMinMs ?? -Infinity) <= until && (c.sinceMaxMs ?? Infinity) > since)
      .map(({ chunk }) => chunk * chunkSize)
    if (places.length === 0) return []
    const bounds = { first: Math.min(...places), before: Math.max(...places) + chunkSize }
    return [{ ...kind, lead, open, since: sqlTime(since), until: sqlTime(until), ...bounds }]
  }
  const open = listAgedSteps(kind, moment).flatMap(({ priority, afterMs, untilMs }) =>
    step(toLead(priority), true, [afterMs, untilMs]),
  )
  return [...open, ...step(toLead(band), false, [-Infinity, Infinity])]
}

const stepsSql = frontsSql({
  limit: '$3',
  lanes: `SELECT w.id AS lane_id, s.* FROM jsonb_to_recordset($4::text::jsonb) AS s(band int, overridden boolean, lead int,
      open boolean, since timestamptz, until timestamptz, first bigint, before bigint)
    JOIN lane w ON w.pool = $1 AND w.user_id = $2 AND NOT w.interactive
      AND w.priority = s.band AND w.overridden = s.overridden`,
  entries: `(-q.bid) = 0 AND q.sequence >= w.first AND q.sequence < w.before
    AND q.eligible_at > w.since AND q.eligible_at <= w.until`,
})
