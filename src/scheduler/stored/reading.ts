import type { Policy } from '../../domain/lanes.ts'
import { readLimitRules } from '../../domain/limits/in-use.ts'
import { readLimits } from '../../domain/limits/limits.ts'
import type { ResourceAmounts } from '../../domain/machines/amounts.ts'
import type { Placement } from '../../domain/machines/placement.ts'
import { readPoolReservations } from '../../domain/machines/reservations.ts'
import { mergeSettings, type StoredSettings } from '../../domain/scheduling.ts'
import { holdingSql } from '../../domain/state.ts'
import type { Sql } from '../../platform/tx.ts'
import { windowSize } from '../plan/lane-window.ts'
import type { Hold, LaneState, PastPreemption, PoolSettings, Running, Served, Waiting } from '../plan/model.ts'

const laneJson = `jsonb_build_object('id', l.id, 'pool', l.pool, 'userId', l.user_id, 'teamId', l.team_id, 'account', l.account,
  'project', l.project, 'queue', l.queue, 'executor', l.executor, 'priority', l.priority, 'overridden', l.overridden,
  'interactive', l.interactive, 'preemptable', l.preemptable, 'restartable', l.restartable,
  'reservationId', l.reservation_id, 'runSeconds', l.run_seconds, 'shape', l.shape)`
const namesJoined = 'JOIN "user" u ON u.id = l.user_id LEFT JOIN team t ON t.id = l.team_id'
const ms = (moment: string) => `(extract(epoch FROM ${moment}) * 1000)::float8`

// ── lanes ──

type Entry = [jobId: string, runId: string, run: number, bid: number, sequence: number, sinceMs: number]

const firstOf = (lane: string, limit: number | string = windowSize) => `
(SELECT json_agg(json_build_array(q.job_id, q.run_id, q.run, q.bid, q.sequence, ${ms('q.eligible_at')}) ORDER BY -q.bid, q.sequence)
 FROM (SELECT * FROM queue_entry e WHERE e.lane_id = ${lane} AND e.open ORDER BY -e.bid, e.sequence LIMIT ${limit}) q)`

const waitingOf = (laneId: string, entries: readonly Entry[] | null): Waiting[] =>
  (entries ?? []).map(([jobId, runId, run, bid, sequence, sinceMs]) => {
    return { jobId, laneId, runId, run, bid, sequence, sinceMs }
  })

type LaneRow = Omit<LaneState, 'first'> & { first: Entry[] | null }

export async function readLanes(sql: Sql, pool: string): Promise<LaneState[]> {
  const rows = await sql.query<LaneRow>(
    `WITH counted AS MATERIALIZED (SELECT lane_id, count(*) AS waiting FROM queue_entry WHERE pool = $1 AND open GROUP BY lane_id)
     SELECT ${laneJson} AS lane, u.name AS "userName", t.name AS team, c.waiting, ${firstOf('c.lane_id')} AS first
     FROM counted c JOIN lane l ON l.id = c.lane_id ${namesJoined}`,
    [pool],
  )
  return rows.map((row) => ({ ...row, first: waitingOf(row.lane.id, row.first) }))
}

export async function readNewLanes(
  sql: Sql,
  laneIds: readonly string[],
): Promise<Omit<LaneState, 'waiting' | 'first'>[]> {
  if (laneIds.length === 0) return []
  return sql.query(
    `SELECT ${laneJson} AS lane, u.name AS "userName", t.name AS team FROM lane l ${namesJoined} WHERE l.id = ANY($1::uuid[])`,
    [laneIds],
    'new_lanes',
  )
}

export async function readFirst(
  sql: Sql,
  laneIds: readonly string[],
  limit = windowSize,
): Promise<ReadonlyMap<string, readonly Waiting[]>> {
  const rows = await sql.query<{ id: string; first: Entry[] | null }>(
    `SELECT l.id, ${firstOf('l.id', '$2::int')} AS first FROM unnest($1::uuid[]) AS l(id)`,
    [laneIds, limit],
    'first_of_lanes',
  )
  return new Map(rows.map(({ id, first }) => [id, waitingOf(id, first)]))
}

// ── runs ──

interface RunRow extends Omit<Running, 'placements'> {
  gpuIds: Record<string, number[]>
  /** `gpuSlots` is set only on delegated nodes. */
  placements: (Omit<Placement, 'gpuIds' | 'provisional'> & { gpuSlots: number[]; provisional: boolean })[]
}

const runningSql = (runs: string, condition: string) => `
SELECT r.id AS "runId", r.job_id AS "jobId", r.number AS run, ${laneJson} AS lane, r.state, ${ms('r.scheduled_at')} AS "sinceMs",
  ${ms('r.started_at')} AS "startedMs", r.preempt_requested_at IS NOT NULL AS leaving, r.backfilled_on AS "backfilledOn",
  r.won_tier AS "wonTier",
  (SELECT coalesce(sum(o.lost_seconds), 0) * 1000 FROM run o WHERE o.job_id = r.job_id AND o.number < r.number) AS "lostMs",
  (SELECT jsonb_agg(jsonb_build_object('nodeId', a.node_id, 'node', n.name, 'replica', a.replica, 'cpuMillis', a.cpu_millis,
    'memoryBytes', a.memory_bytes, 'infiniband', a.infiniband, 'provisional', a.provisional, 'gpuSlots', a.gpu_slots,
      'interactive', r.interactive_user_id IS NOT NULL) ORDER BY a.replica)
   FROM allocation a JOIN node n ON n.id = a.node_id WHERE a.run_id = r.id) AS placements,
  (SELECT coalesce(jsonb_object_agg(c.node_id, c.devices), '{}') FROM (
    SELECT node_id, jsonb_agg(device ORDER BY device) AS devices FROM device_claim WHERE run_id = r.id GROUP BY node_id) c) AS "gpuIds"
FROM ${runs} r JOIN job j ON j.id = r.job_id JOIN lane l ON l.id = j.lane_id
WHERE r.state IN ${holdingSql} AND ${condition}`

export async function readRunning(sql: Sql, pool: string): Promise<Running[]> {
  return readRunRows(
    sql,
    { runs: 'run', condition: 'r.pool = $1 ORDER BY r.scheduled_at, r.id', name: 'runs_of_pool' },
    pool,
  )
}

/**
 * Reads by primary key, because the index of runs that hold resources may have many dead entries. Passing the list as a
 * subquery makes PostgreSQL use one plan for all lengths.
 */
const heardRuns =
  '(SELECT run.* FROM unnest((SELECT $1::text[])) AS heard(id) CROSS JOIN LATERAL (SELECT * FROM run WHERE run.id = heard.id OFFSET 0) run)'

export async function readRuns(sql: Sql, runIds: readonly string[]): Promise<ReadonlyMap<string, Running>> {
  if (runIds.length === 0) return new Map()
  const runs = await readRunRows(sql, { runs: heardRuns, condition: 'true', name: 'runs_heard' }, runIds)
  return new Map(runs.map((run) => [run.runId, run]))
}

export async function readEvicted(sql: Sql, runIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (runIds.length === 0) return new Set()
  const rows = await sql.query<{ runId: string }>(
    'SELECT victim_run_id AS "runId" FROM preemption WHERE victim_run_id = ANY($1)',
    [runIds],
    'runs_evicted',
  )
  return new Set(rows.map(({ runId }) => runId))
}

async function readRunRows(
  sql: Sql,
  { runs, condition, name }: { runs: string; condition: string; name: string },
  of: unknown,
): Promise<Running[]> {
  return (await sql.query<RunRow>(runningSql(runs, condition), [of], name)).map(runningOf)
}

/** Divides claimed devices evenly between copies on one node; an exclusive copy has all of them. */
function runningOf({ gpuIds, placements, ...run }: RunRow): Running {
  const next = new Map<string, number>()
  const { gpu, exclusive } = run.lane.shape
  const each = exclusive ? Number.POSITIVE_INFINITY : gpu
  return {
    ...run,
    placements: (placements ?? []).map(({ gpuSlots, provisional, ...placement }) => {
      const from = next.get(placement.nodeId) ?? 0
      next.set(placement.nodeId, from + each)
      const claimed = (gpuIds[placement.nodeId] ?? []).slice(from, from + each)
      return { ...placement, gpuIds: [...gpuSlots, ...claimed], ...(provisional && { provisional: true }) }
    }),
  }
}

// ── past use of accounts and people ──

/** SQL of `toLeaf` (plan/share-tree.ts). */
const leafSql = `l.account || '/' || l.user_id`

/** Maximum number of starts to read. People without one of these starts count as never served. */
const servedMax = 10_000

const requested = (amount: string) => `(l.shape->>'copies')::float8 * (l.shape->>'${amount}')::float8`

/** Reads the latest starts with their requested amounts, oldest first. */
export async function readServed(sql: Sql, pool: string): Promise<Served[]> {
  const rows = await sql.query<ResourceAmounts & { leaf: string }>(
    `SELECT ${leafSql} AS leaf, ${requested('cpuMillis')} AS cpu, ${requested('memoryBytes')} AS memory, ${requested('gpu')} AS gpu FROM (
       SELECT job_id, scheduled_at FROM run WHERE pool = $1 AND scheduled_at IS NOT NULL
       ORDER BY scheduled_at DESC LIMIT ${servedMax}) r
     JOIN job j ON j.id = r.job_id JOIN lane l ON l.id = j.lane_id ORDER BY r.scheduled_at`,
    [pool],
  )
  return rows.map(({ leaf, ...amounts }) => ({ leaf, amounts }))
}

/** Older use is ignored, because less than a thousandth of it counts. */
const halfLivesMax = 10
/** Maximum number of runs to read; older runs have the smallest weight. */
const usedMax = 1_000_000

/** Computes the decayed use from the latest runs, as plan/decayed-use.ts defines it. */
export async function readDecayedUse(
  sql: Sql,
  pool: string,
  halfLifeMs: number | null,
): Promise<ReadonlyMap<string, ResourceAmounts>> {
  if (halfLifeMs === null) return new Map()
  const weightAt = (moment: string) => `exp(ln(2) * (${ms(moment)} - ${ms('clock.now')}) / $2)`
  const sum = (amount: string) => `sum(${requested(amount)} * greatest(r.until - r.since, 0))`
  const rows = await sql.query<ResourceAmounts & { leaf: string }>(
    `WITH clock AS MATERIALIZED (SELECT berth_now() AS now),
     used AS (
       SELECT run.job_id, ${weightAt('run.scheduled_at')} AS since,
         ${weightAt('coalesce(run.finished_at, clock.now)')} AS until
       FROM clock CROSS JOIN run WHERE run.pool = $1
         AND run.scheduled_at > clock.now - ${halfLivesMax} * $2::float8 * interval '1 millisecond'
       ORDER BY run.scheduled_at DESC LIMIT ${usedMax}
     )
     SELECT ${leafSql} AS leaf, ${sum('cpuMillis')} AS cpu, ${sum('memoryBytes')} AS memory, ${sum('gpu')} AS gpu
     FROM used r JOIN job j ON j.id = r.job_id JOIN lane l ON l.id = j.lane_id GROUP BY 1`,
    [pool, halfLifeMs],
  )
  return new Map(rows.map(({ leaf, ...use }) => [leaf, use]))
}

// ── settings, holds, past preemptions ──

interface PoolRow {
  policy: Policy
  scheduling: StoredSettings
  weights: Record<string, number>
  revision: number
}

/**
 * Reads the revision before the limits: if both change in between, the plan is refused as stale instead of using old
 * limits.
 */
export async function readSettings(sql: Sql, pool: string, singleUser: boolean): Promise<PoolSettings> {
  const [row] = await sql.query<PoolRow>('SELECT policy, scheduling, weights, revision FROM pool WHERE name = $1', [
    pool,
  ])
  const limits = (await readLimits(sql, [pool], singleUser)).get(pool)
  if (!row || !limits) throw new Error(`The pool ${pool} was removed`)
  const { policy, scheduling, weights, revision } = row
  return {
    ...mergeSettings(policy, scheduling),
    pool,
    policy,
    revision,
    starvationThresholdMs: (limits.starvationThresholdSeconds ?? 0) * 1_000,
    rules: await readLimitRules(sql, { pool, limits, singleUser }),
    weights: new Map(Object.entries(weights)),
    reservations: await readPoolReservations(sql, pool, null),
  }
}

export const readHolds = (sql: Sql, pool: string): Promise<Hold[]> =>
  sql.query<Hold>(
    `SELECT id, job_id AS "jobId", placements, ${ms('since')} AS "sinceMs", backfilled_on AS "backfilledOn"
     FROM hold WHERE pool = $1 AND kind = 'PREEMPTION' ORDER BY since, id`,
    [pool],
  )

/** Minimum age up to which preemptions are read: the period of the maximum per minute. */
const rememberedMsMin = 60_000

export const readPreemptions = (sql: Sql, pool: string, quantumMs: number): Promise<PastPreemption[]> =>
  sql.query<PastPreemption>(
    `SELECT ${ms('p.at')} AS "atMs", p.tier, p.claimant_job_id AS "claimantJobId", p.victim_job_id AS "victimJobId",
       concat(p.claimant, '/', c.user_id) AS claimant, concat(p.victim, '/', v.user_id) AS victim
     FROM preemption p LEFT JOIN job c ON c.id = p.claimant_job_id LEFT JOIN job v ON v.id = p.victim_job_id
     WHERE p.pool = $1 AND p.at > (SELECT berth_now()) - $2 * interval '1 millisecond' ORDER BY p.at, p.id`,
    [pool, Math.max(quantumMs, rememberedMsMin)],
  )
